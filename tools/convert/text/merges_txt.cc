// Reads vocab.json with merges.txt: byte-level byte-pair encoding of the classes of GPT-2, RoBERTa, CLIP, Qwen 2 and
// Whisper, converted to the form of tokenizer.json as convert_slow_tokenizer.py does it.
#include <algorithm>
#include <iterator>

#include "tools/base/fail.h"
#include "tools/convert/text/readers.h"
#include "tools/text/speech_languages.h"

namespace fovea::tools {
namespace {

enum class Kind { kGpt2, kRoberta, kDeberta, kBlenderbot, kHerbert, kClip, kQwen2, kWhisper };
struct Class {
  const char* name;
  Kind kind;
};
constexpr Class kClasses[] = {
    {"GPT2Tokenizer", Kind::kGpt2},
    {"CodeGenTokenizer", Kind::kGpt2},
    {"RobertaTokenizer", Kind::kRoberta},
    {"BartTokenizer", Kind::kRoberta},
    {"LEDTokenizer", Kind::kRoberta},
    {"LongformerTokenizer", Kind::kRoberta},
    {"CLIPTokenizer", Kind::kClip},
    {"Qwen2Tokenizer", Kind::kQwen2},
    {"WhisperTokenizer", Kind::kWhisper},
    {"MvpTokenizer", Kind::kRoberta},
    {"LayoutLMv3Tokenizer", Kind::kRoberta},
    {"DebertaTokenizer", Kind::kDeberta},
    {"BlenderbotTokenizer", Kind::kBlenderbot},
    {"HerbertTokenizer", Kind::kHerbert},
};

constexpr char kEnd[] = "<|endoftext|>", kStart[] = "<|startoftext|>";
constexpr char kClipWords[] = "'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+";
constexpr char kQwen2Words[] =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|"
    "\\s+(?!\\S)|\\s+";

Kind KindOf(const JsonView& config) {
  std::string type = config["tokenizer_class"].Text("GPT2Tokenizer");
  if (type.size() > 4 && type.compare(type.size() - 4, 4, "Fast") == 0) type.resize(type.size() - 4);
  const auto named = [&](const Class& entry) { return type == entry.name; };
  const auto found = std::find_if(std::begin(kClasses), std::end(kClasses), named);
  if (found == std::end(kClasses)) {
    Fail("tokenizer class \"{}\" with vocab.json and merges.txt alone is not supported: add tokenizer.json", type);
  }
  return found->kind;
}

std::vector<DefaultToken> NamesOf(Kind kind) {
  switch (kind) {
    case Kind::kHerbert:
      return {{"unk_token", "<unk>"},
              {"sep_token", "</s>"},
              {"pad_token", "<pad>"},
              {"cls_token", "<s>"},
              {"mask_token", "<mask>"}};
    case Kind::kDeberta:
      return {{"bos_token", "[CLS]"},
              {"eos_token", "[SEP]"},
              {"unk_token", "[UNK]"},
              {"sep_token", "[SEP]"},
              {"pad_token", "[PAD]"},
              {"cls_token", "[CLS]"},
              {"mask_token", "[MASK]", text::kAddedLstrip}};
    case Kind::kBlenderbot:
    case Kind::kRoberta:
      return {{"bos_token", "<s>"},
              {"eos_token", "</s>"},
              {"unk_token", "<unk>"},
              {"sep_token", "</s>"},
              {"pad_token", "<pad>"},
              {"cls_token", "<s>"},
              {"mask_token", "<mask>", text::kAddedLstrip}};
    case Kind::kClip:
      return {{"bos_token", kStart}, {"eos_token", kEnd}, {"unk_token", kEnd}, {"pad_token", kEnd}};
    case Kind::kQwen2:
      return {{"eos_token", kEnd}, {"unk_token", kEnd}, {"pad_token", kEnd}};
    default:
      return {{"bos_token", kEnd}, {"eos_token", kEnd}, {"unk_token", kEnd}};
  }
}

Json Split(const char* words, const char* behavior, bool invert) {
  return {{"type", "Split"}, {"pattern", {{"Regex", words}}}, {"behavior", behavior}, {"invert", invert}};
}

void AddMerges(const std::string& lines, ModelLists* lists) {
  lists->has_merges = true;
  for (const std::string& line : LinesOf(lines, "merges.txt")) {
    if (line.empty() || line.rfind("#version", 0) == 0) continue;
    const std::string_view both = lists->Keep(line);
    const size_t space = both.find(' ');
    if (space == std::string_view::npos) Fail("merge \"{}\" is not a pair", both);
    lists->merges.push_back({both.substr(0, space), both.substr(space + 1)});
  }
}

// The file without its lists.
Json FileOf(Kind kind, const JsonView& config) {
  const bool prefix = config["add_prefix_space"].Flag(config["tokenizer_class"].Text("") == "LayoutLMv3Tokenizer");
  const Json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", prefix}, {"trim_offsets", kind == Kind::kRoberta}};
  Json file = {{"model", {{"type", "BPE"}}},
               {"pre_tokenizer", byte_level},
               {"post_processor", byte_level},
               {"decoder", {{"type", "ByteLevel"}}}};
  if (kind == Kind::kClip) {
    // Lower-cased words with an end-of-word suffix.
    file["model"].update({{"end_of_word_suffix", "</w>"}, {"unk_token", kEnd}});
    const Json one_space = {{"type", "Replace"}, {"pattern", {{"Regex", "\\s+"}}}, {"content", " "}};
    file["normalizer"] = {{"type", "Sequence"},
                          {"normalizers", {{{"type", "NFC"}}, one_space, {{"type", "Lowercase"}}}}};
    file["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {Split(kClipWords, "Removed", true), byte_level}}};
  } else if (kind == Kind::kHerbert) {
    // Characters of words as BERT splits them, in either case.
    file["model"].update({{"end_of_word_suffix", "</w>"}, {"unk_token", "<unk>"}});
    file["normalizer"] = {{"type", "BertNormalizer"},
                          {"clean_text", true},
                          {"handle_chinese_chars", true},
                          {"strip_accents", false},
                          {"lowercase", false}};
    file["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
    file["post_processor"] = nullptr;
    file["decoder"] = {{"type", "BPEDecoder"}, {"suffix", "</w>"}};
  } else if (kind == Kind::kQwen2) {
    Json bytes = byte_level;
    bytes["use_regex"] = false;
    file["normalizer"] = {{"type", "NFC"}};
    file["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {Split(kQwen2Words, "Isolated", false), bytes}}};
    file["post_processor"] = bytes;
  }
  return file;
}

// The prompt of Whisper's texts, which WhisperTokenizer.prefix_tokens takes from its configuration.
std::string WhisperPrefix(const JsonView& config) {
  std::string prefix = "<|startoftranscript|> ";
  for (const char* key : {"language", "task"}) {
    std::string value = config[key].Text("");
    const std::string code = key == std::string("language") ? LanguageCodeOf(value) : "";
    if (!code.empty()) value = code;
    if (!value.empty()) prefix += "<|" + value + "|> ";
  }
  return prefix + (config["predict_timestamps"].Flag(false) ? "" : "<|notimestamps|> ");
}

}  // namespace

TextModel ReadMergesTxt(ModelLists lists, const std::string& file, const std::string& lines,
                        const PublishedTokens& tokens, const JsonView& config) {
  const Kind kind = KindOf(config);
  AddMerges(lines, &lists);
  const Json parts = FileOf(kind, config);
  TextModel model = ReadTokenizerJson({parts, file + ", merges.txt"}, lists);
  const std::vector<DefaultToken> names = NamesOf(kind);
  tokens.AddTo(names, &model);
  const auto named = [&](const char* key, const char* otherwise) { return tokens.Named(key, otherwise); };
  if (kind == Kind::kRoberta || kind == Kind::kClip) {
    const bool roberta = kind == Kind::kRoberta;
    const std::string open = roberta ? named("cls_token", "<s>") : named("bos_token", kStart),
                      close = roberta ? named("sep_token", "</s>") : named("eos_token", kEnd);
    SetTemplate(open + " $A " + close, open + " $A " + close + " " + close + " $B " + close, &model);
  } else if (kind == Kind::kDeberta || kind == Kind::kHerbert) {
    const bool herbert = kind == Kind::kHerbert;
    const std::string open = named("cls_token", herbert ? "<s>" : "[CLS]"),
                      close = named("sep_token", herbert ? "</s>" : "[SEP]"), type = herbert ? ":1" : "";
    const std::string one = open + " $A " + close;
    SetTemplate(one, one + " $B" + type + " " + close + type, &model);
  } else if (kind == Kind::kBlenderbot) {
    SetTemplate("$A " + named("eos_token", "</s>"), "$A $B:1", &model);
  } else if (kind == Kind::kWhisper) {
    const std::string open = WhisperPrefix(config), close = named("eos_token", kEnd);
    SetTemplate(open + "$A " + close, open + "$A $B:1 " + close + ":1", &model);
  } else if (kind == Kind::kGpt2 && config["add_bos_token"].Flag(false)) {
    const std::string open = named("bos_token", kEnd);
    SetTemplate(open + " $A", open + " $A $B:1", &model);
  }
  return model;
}

}  // namespace fovea::tools
