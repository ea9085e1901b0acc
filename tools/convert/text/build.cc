// Chooses the reader for a directory's tokenizer files.
#include "tools/convert/text/build.h"

#include <algorithm>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/convert/text/beside_tokenizer_json.h"
#include "tools/convert/text/language_codes.h"
#include "tools/convert/text/published_tokens.h"
#include "tools/convert/text/readers.h"
#include "tools/convert/text/template_by_config.h"
#include "tools/convert/text/tokenizer_class.h"
#include "tools/convert/text/tokenizer_settings.h"

namespace fovea::tools {
namespace {

using std::filesystem::path;

TextModel ReadFileOfType(const path& file, const std::string& type, const JsonView& description) {
  if (type == "tokenizer.json") {
    const TokenizerFile read = ReadTokenizerFile(file.string());
    return ReadTokenizerJson({read.json, file.string()}, read.lists);
  }
  if (type == "sentencepiece") return ReadSentencePiece(ReadFile(file.string()));
  if (type == "wordpiece") return ReadVocabTxt(ReadFile(file.string()), description);
  if (type != "characters" && type != "unigram" && type != "pieces")
    Fail("tokenizer type \"{}\" is not supported", type);
  const Json json = ReadJson(file.string());
  const JsonView view(json, file.string());
  if (type == "pieces") return ReadListedPieces(view);
  return type == "characters" ? ReadCharacters(view, description) : ReadScoredPieces(view, description);
}

// Empty if there is none.
path SentencePieceFile(const path& model_dir) {
  for (const char* name :
       {"sentencepiece.bpe.model", "spiece.model", "sentencepiece.model", "tokenizer.model", "spm.model"}) {
    if (std::filesystem::exists(model_dir / name)) return model_dir / name;
  }
  return {};
}

// The files of a directory with the settings needed to read them.
struct Directory {
  explicit Directory(const path& folder)
      : model_dir(folder),
        json(std::filesystem::exists(folder / kConfig) ? ReadJson((folder / kConfig).string()) : Json::object()),
        type(TokenizerClassOf(folder, {json, (folder / kConfig).string()})) {
    if (!json.is_object()) Fail("{} must be an object", (folder / kConfig).string());
    if (IsBaseClass(type.name) && !Has("tokenizer.json")) type = ClassByType(folder);
    if (!type.name.empty()) json["tokenizer_class"] = type.name;
  }

  bool Has(const char* name) const { return std::filesystem::exists(model_dir / name); }
  std::string Where(const char* name) const { return (model_dir / name).string(); }
  JsonView config() const { return {json, Where(kConfig)}; }
  // The class and the file that names it, for messages.
  std::string Named() const {
    return type.name.empty() ? "no file names the tokenizer's class"
                             : fmt::format("class {} ({})", type.name, type.where);
  }

  static constexpr char kConfig[] = "tokenizer_config.json";
  path model_dir;
  Json json;
  TokenizerClass type;
};

// Reads pieces of a SentencePiece model with their ids in vocab.json.
TextModel ReadPiecesWithIds(const Directory& files, const char* pieces, const PublishedTokens& tokens) {
  const std::string name = files.Where("vocab.json");
  return ReadPiecesByVocabulary(files.type.name, ReadPieces(ReadFile(files.Where(pieces))), ReadIds(name), name, tokens,
                                files.config());
}

TextModel ReadOneSentencePiece(const Directory& files, const path& found, const PublishedTokens& tokens) {
  const std::string file = found.filename().string();
  if (files.type.name.empty()) {
    Fail(
        "{} alone does not specify special tokens around texts, and {}; add tokenizer.json, or tokenizer_config.json "
        "with "
        "tokenizer_class",
        file, files.Named());
  }
  if (files.Has("vocab.json")) {
    // Ids of this class differ from the model file's.
    if (files.type.name == "Speech2TextTokenizer" || files.type.name == "M2M100Tokenizer")
      return ReadPiecesWithIds(files, file.c_str(), tokens);
    Fail("{} with vocab.json, {}, is not supported; add tokenizer.json", file, files.Named());
  }
  TextModel model =
      ReadSentencePieceOfClass(files.type.name, ReadPieces(ReadFile(found.string())), tokens, files.config(), file);
  FollowAddedEnds(files.type.name, files.config(), tokens, &model, nullptr);
  return model;
}

// Reads files other than tokenizer.json; false if there are none.
bool ReadOlderFiles(const Directory& files, const PublishedTokens& tokens, TextModel* model) {
  if (files.type.name == "ByT5Tokenizer") {
    *model = ReadByteTokens(tokens, files.config());
    return true;
  }
  if (files.Has("vocab.txt") && files.type.name == "EsmTokenizer") {
    *model = ReadEsmVocabulary(ReadFile(files.Where("vocab.txt")), tokens);
    return true;
  }
  if (files.Has("vocab.txt")) {
    *model = ReadVocabTxt(ReadFile(files.Where("vocab.txt")), files.config());
    tokens.AddTo({}, model);
    return true;
  }
  if (files.Has("vocab.json") && files.Has("merges.txt")) {
    const std::string name = files.Where("vocab.json");
    *model = ReadMergesTxt(ReadIds(name), name, ReadFile(files.Where("merges.txt")), tokens, files.config());
    return true;
  }
  if (files.Has("source.spm") || files.Has("target.spm")) {
    if (files.type.name != "MarianTokenizer" || !files.Has("source.spm") || !files.Has("vocab.json")) {
      Fail(
          "source.spm and target.spm, {}: only MarianTokenizer with source.spm and vocab.json is supported; add "
          "tokenizer.json",
          files.Named());
    }
    if (files.Has("target_vocab.json")) Fail("target_vocab.json in addition to vocab.json is not supported");
    *model = ReadPiecesWithIds(files, "source.spm", tokens);
    return true;
  }
  if (files.Has("vocab.json")) {
    const Json vocabulary = ReadJson(files.Where("vocab.json"));
    if (vocabulary.is_array() && !vocabulary.empty() && vocabulary[0].contains("piece")) {
      *model = ReadListedPieces({vocabulary, files.Where("vocab.json")});
      return true;
    }
  }
  const path found = SentencePieceFile(files.model_dir);
  if (found.empty()) return false;
  *model = ReadOneSentencePiece(files, found, tokens);
  return true;
}

// Classes with language tokens set the tokens around texts themselves, regardless of tokenizer.json.
void SetLanguages(const Directory& files, const PublishedTokens& tokens, TextModel* model, const TextOptions& options) {
  try {
    SetLanguageTemplate(files.type.name, files.config(), tokens, model);
  } catch (const Failure& failure) {
    if (options.warnings == nullptr) return;
    options.warnings->push_back(
        fmt::format("tokenizer.json: {} ({}); texts get the special tokens of tokenizer.json, so add language tokens "
                    "to the texts yourself",
                    failure.what(), files.Named()));
  }
}

// The files that a directory's texts are read from, for the table of findings.
void ReportFiles(const Directory& files, const TextModel& model, Findings* findings) {
  if (findings == nullptr) return;
  std::string names;
  const bool fast = files.Has("tokenizer.json");
  for (const char* name : {"tokenizer.json", "vocab.txt", "vocab.json", "merges.txt", "source.spm",
                           "sentencepiece.bpe.model", "spiece.model", "sentencepiece.model", "tokenizer.model",
                           "spm.model", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"}) {
    const bool settings = std::string(name).find("token") != std::string::npos && EndsWith(name, ".json");
    if (files.Has(name) && (!fast || settings)) names += (names.empty() ? "" : ", ") + std::string(name);
  }
  findings->push_back({Topic::kFiles, fmt::format("tokenizer: {}{}", names.empty() ? "no file" : names,
                                                  files.type.name.empty() ? "" : ", " + files.Named())});
  findings->push_back({Topic::kSpecialTokens, "around a text: " + EndsOf(model)});
}

bool ReadDirectory(const path& model_dir, const TextOptions& options, TextModel* model) {
  const Directory files(model_dir);
  const JsonView config = files.config();
  const PublishedTokens tokens(model_dir, config);
  if (files.Has("tokenizer.json")) {
    TokenizerFile file = ReadTokenizerFile((model_dir / "tokenizer.json").string());
    ApplyKeysOfClass(files.type.name, config, &file.json, options.findings);
    *model = ReadTokenizerJson({file.json, files.Where("tokenizer.json")}, file.lists);
    tokens.AddBeside(NamesOfClass(files.type.name), model, options.findings);
    SetLanguages(files, tokens, model, options);
    // If the class is known only from model_type, and neither key is set, tokenizer.json is read as it is.
    const bool asked = !config["add_bos_token"].IsNull() || !config["add_eos_token"].IsNull();
    FollowAddedEnds(files.type.named || asked ? files.type.name : "", config, tokens, model, options.warnings);
  } else if (!ReadOlderFiles(files, tokens, model)) {
    return false;
  }
  ReportFiles(files, *model, options.findings);
  // The mask token can have an unusual name.
  const std::string mask = SpecialToken(config, "mask_token", "");
  for (const AddedToken& added : model->added) {
    if (added.content == mask) model->mask_id = added.id;
  }
  ApplySettings(config, options, model);
  return true;
}

// Leaves out tokens around texts that the model has no embedding of: a token that a class or setting names and the
// vocabulary lacks has an id above the vocabulary's. The original library would fail on every text.
void DropEndsBeyond(const TextOptions& options, TextModel* model) {
  std::string dropped;
  for (std::vector<text::TemplateItem>* items : {&model->single, &model->pair}) {
    const auto beyond = [&](const text::TemplateItem& item) {
      return options.rows != 0 && item.kind == static_cast<uint32_t>(text::TemplateKind::kToken) &&
             item.id >= options.rows;
    };
    for (const text::TemplateItem& item : *items) {
      if (items == &model->single && beyond(item)) dropped += fmt::format(" \"{}\"", model->tokens.at(item.id).piece);
    }
    items->erase(std::remove_if(items->begin(), items->end(), beyond), items->end());
  }
  if (dropped.empty() || options.warnings == nullptr) return;
  options.warnings->push_back(
      fmt::format("texts are read without{}: the model has {} embeddings, and none for it", dropped, options.rows));
}

}  // namespace

bool HasTokenizer(const path& model_dir) {
  for (const char* name : {"tokenizer.json", "vocab.txt", "vocab.json"}) {
    if (std::filesystem::exists(model_dir / name)) return true;
  }
  return !SentencePieceFile(model_dir).empty();
}

bool IsDirectoryTokenizer(const Json& description) {
  return description.is_object() && description.value("type", Json()) == "directory";
}

std::vector<uint8_t> BuildTextSection(const path& model_dir, const Json& description, const TextOptions& options) {
  TextModel model;
  const JsonView view(description, "tokenizer");
  if (description.is_null() || IsDirectoryTokenizer(description)) {
    TextOptions own = options;
    own.reports_limit = options.reports_limit && (description.is_null() || view["max_length"].IsNull());
    if (!ReadDirectory(model_dir, own, &model)) return {};
  } else {
    model = ReadFileOfType(model_dir / view["file"].Text(), view["type"].Text(), view);
  }
  if (!description.is_null()) {
    model.max_length = view["max_length"].Number({}, model.max_length);
    if (IsDirectoryTokenizer(description) && view["lower_case"].Flag(false)) {
      model.normalizer.insert(model.normalizer.begin(), LowerCaseStep());
    }
    if (!view["special_tokens"].Flag(true)) model.Wrap(text::kNoId, text::kNoId, false, 0);
  }
  return BuildTextSection(std::move(model), options);
}

std::vector<uint8_t> BuildTextSection(TextModel model, const TextOptions& options) {
  DropEndsBeyond(options, &model);
  const uint32_t most = options.max_length;
  if (most != 0 && (model.max_length == 0 || most < model.max_length)) model.max_length = most;
  return WriteTextSection(model);
}

}  // namespace fovea::tools
