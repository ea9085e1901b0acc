// Reads the tokenizer in a GGUF file's metadata.
#include <algorithm>
#include <optional>

#include "tools/base/fail.h"
#include "tools/convert/gguf/cutting.h"
#include "tools/convert/gguf/parts.h"
#include "tools/convert/text/readers.h"
#include "tools/convert/text/sentence_pieces.h"
#include "tools/convert/text/unicode.h"

namespace fovea::tools {
namespace {

using Type = SentencePiece::Type;

constexpr const char* kSpace = "\xe2\x96\x81";  // U+2581

struct Token {
  std::string text;
  Type type = SentencePiece::kNormal;
};

class Reader {
 public:
  explicit Reader(const GgufMetadata& metadata) : metadata_(metadata) {}

  TextModel Run(const std::string& model) {
    ReadTokens(model);
    TextModel read;
    if (model == "gpt2") {
      read = BytePairs();
    } else if (model == "llama" || model == "t5") {
      read = Pieces(model == "llama");
    } else if (model == "bert") {
      read = Words();
    } else {
      Fail("{} {} is not supported; these are: gpt2, llama, t5, bert", Get("model").name(), model);
    }
    if (const auto id = Id("padding")) read.pad_id = *id;
    if (const auto id = Id("mask")) read.mask_id = *id;
    return read;
  }

 private:
  JsonView Get(const std::string& key) const { return metadata_.Get("tokenizer.ggml." + key); }

  void ReadTokens(const std::string& model) {
    const JsonView list = Get("tokens"), types = Get("token_type");
    bool unknown = false;
    for (size_t i = 0; i < list.List().size(); ++i) {
      Token token;
      token.text = list.At(i).Bytes();
      if (!IsUtf8(token.text)) Fail("{}[{}] is not UTF-8", list.name(), i);
      // 0 is written for tokens of no known type.
      if (!types.IsNull()) token.type = static_cast<Type>(std::max(types.At(i).Number({0, 6}), 1u));
      unknown = unknown || token.type == SentencePiece::kUnknown;
      tokens_.push_back(std::move(token));
    }
    if (tokens_.empty()) Fail("{} has no elements", list.name());
    if (!types.IsNull() && types.List().size() < tokens_.size()) {
      Fail("{} must have {} elements", types.name(), tokens_.size());
    }
    // Files of early converters have no types.
    const auto id = Id("unknown");
    if (!unknown && (model == "llama" || model == "t5") && id) tokens_[*id].type = SentencePiece::kUnknown;
  }

  std::optional<uint32_t> Id(const std::string& name) const { return metadata_.Token(name); }

  std::optional<uint32_t> FirstOf(std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      if (const auto id = Id(name)) return id;
    }
    return std::nullopt;
  }

  bool IsWord(const Token& token) const { return token.type == SentencePiece::kNormal; }

  // Sets the tokens around texts. In a pair, each text has them; to an encoder the second begins as RoBERTa's does.
  // A token that the file does not have is left out, as by llama.cpp.
  void Wrap(bool begins, bool ends, TextModel* model) const {
    begins = Get("add_bos_token").Flag(begins), ends = Get("add_eos_token").Flag(ends);
    const bool separates = Get("add_sep_token").Flag(false);
    const std::optional<uint32_t> open = begins ? FirstOf({"bos", "cls"}) : std::nullopt;
    std::optional<uint32_t> close = ends ? Id("eos") : std::nullopt;
    if (separates || (ends && !close)) close = FirstOf({"seperator", "separator", "eos"});
    if (!open && !close) return;
    const uint32_t first = open.value_or(text::kNoId), last = close.value_or(text::kNoId);
    const std::string& architecture = metadata_.architecture();
    if (architecture == "modern-bert") return model->Wrap(first, last, false, 0);
    if (architecture.find("bert") != std::string::npos) return model->Wrap(first, last, true, 0);
    const auto second = TextModel::Around(first, text::TemplateKind::kTextB, last, 1);
    model->single = model->pair = TextModel::Around(first, text::TemplateKind::kTextA, last, 0);
    model->pair.insert(model->pair.end(), second.begin(), second.end());
  }

  // Byte-level BPE, converted to the form of tokenizer.json.
  TextModel BytePairs() const {
    const JsonView pre = Get("pre");
    const WordCutting cutting = WordCuttingOf(pre.Text(""), pre.name());
    Json vocabulary = Json::object(), added = Json::array();
    for (size_t id = 0; id < tokens_.size(); ++id) {
      const Token& token = tokens_[id];
      if (token.type == SentencePiece::kUnused || token.text.empty()) continue;
      if (token.type == SentencePiece::kByte)
        Fail("{}[{}]: bytes in byte-level pieces are not supported", Get("token_type").name(), id);
      if (!IsWord(token)) {
        const bool special = token.type != SentencePiece::kUserDefined;
        added.push_back({{"id", id}, {"content", token.text}, {"special", special}, {"normalized", false}});
      } else if (!vocabulary.emplace(token.text, id).second) {
        Fail("{}: \"{}\" occurs twice", Get("tokens").name(), token.text);
      }
    }
    const JsonView merges = Get("merges");
    if (Get("add_space_prefix").Flag(false)) Fail("{} is not supported", Get("add_space_prefix").name());
    const Json file = {
        {"model",
         {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", merges.List()}, {"ignore_merges", cutting.ignore_merges}}},
        {"added_tokens", added},
        {"normalizer", cutting.normalizer},
        {"pre_tokenizer", cutting.pre_tokenizer},
        {"decoder", {{"type", "ByteLevel"}}}};
    TextModel model = ReadTokenizerJson({file, metadata_.path() + ": tokenizer.ggml"});
    Wrap(cutting.begins, false, &model);
    return model;
  }

  // SentencePiece's normalization rules: bytes, as numbers with or without a sign.
  std::string Charsmap() const {
    const JsonView list = Get("precompiled_charsmap");
    std::string bytes;
    for (size_t i = 0; !list.IsNull() && i < list.List().size(); ++i) {
      bytes += static_cast<char>(WholeNumber(list.At(i).json(), list.name(), {-128, 255}));
    }
    return bytes;
  }

  // SentencePiece: byte pairs, or unigrams.
  TextModel Pieces(bool byte_pairs) const {
    SentencePieces read;
    read.byte_pairs = byte_pairs;
    read.dummy_prefix = Get("add_space_prefix").Flag(byte_pairs);
    read.remove_extra_spaces = Get("remove_extra_whitespaces").Flag(false);
    read.charsmap = Charsmap();
    const JsonView scores = Get("scores");
    if (scores.List().size() < tokens_.size()) Fail("{} must have {} elements", scores.name(), tokens_.size());
    for (size_t id = 0; id < tokens_.size(); ++id) {
      const Token& token = tokens_[id];
      // Unused pieces are not found in texts, like control pieces.
      const Type type = byte_pairs && token.type == SentencePiece::kUnused ? SentencePiece::kControl : token.type;
      read.pieces.push_back({token.text, scores.At(id).Real(), type});
    }
    TextModel model = BuildSentencePieces(read);
    // Texts can contain any token with a name literally.
    for (AddedToken& added : model.added) added.normalized = added.spelled = false;
    for (uint32_t id = 0; id < tokens_.size(); ++id) {
      const Type type = tokens_[id].type;
      if (type != SentencePiece::kControl && type != SentencePiece::kUnknown) continue;
      model.added.push_back({tokens_[id].text, id, text::kAddedSpecial, false});
      model.tokens[id].flags |= text::kTokenSpecial;
    }
    Wrap(byte_pairs, !byte_pairs, &model);
    return model;
  }

  // WordPiece. Pieces that begin words have the prefix U+2581; continuations have none.
  TextModel Words() const {
    std::string lines;
    bool capitals = false;
    for (size_t id = 0; id < tokens_.size(); ++id) {
      const Token& token = tokens_[id];
      std::string piece = token.text;
      if (piece.find_first_of("\r\n") != std::string::npos) Fail("{}[{}] has an end of line", Get("tokens").name(), id);
      const bool begins = piece.rfind(kSpace, 0) == 0;
      if (begins) piece.erase(0, 3);
      // Files of early converters mark special tokens only by their brackets.
      const bool named = !IsWord(token) || (piece.size() > 2 && piece.front() == '[' && piece.back() == ']');
      if (!named) {
        capitals = capitals || std::any_of(piece.begin(), piece.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
      }
      lines += (begins || named ? "" : "##") + piece + "\n";
    }
    const auto special = [&](std::initializer_list<const char*> names, const char* otherwise) {
      const auto id = FirstOf(names);
      return id ? tokens_[*id].text : std::string(otherwise);
    };
    // Without capitals in the vocabulary, texts are lower-cased.
    const bool lower = Get("normalizer.lowercase").Flag(!capitals);
    const Json config = {{"cls_token", special({"cls", "bos"}, "[CLS]")},
                         {"sep_token", special({"seperator", "separator", "eos"}, "[SEP]")},
                         {"unk_token", special({"unknown"}, "[UNK]")},
                         {"pad_token", special({"padding"}, "[PAD]")},
                         {"mask_token", special({"mask"}, "[MASK]")},
                         {"do_lower_case", lower},
                         {"strip_accents", Get("normalizer.strip_accents").Flag(lower)}};
    TextModel model = ReadVocabTxt(lines, {config, metadata_.path() + ": tokenizer.ggml"});
    for (uint32_t id = 0; id < tokens_.size(); ++id) {
      const auto same = [&](const AddedToken& added) { return added.id == id; };
      const bool control = tokens_[id].type == SentencePiece::kControl;
      if (!control && tokens_[id].type != SentencePiece::kUserDefined) continue;
      if (std::any_of(model.added.begin(), model.added.end(), same)) continue;
      model.added.push_back({tokens_[id].text, id, control ? text::kAddedSpecial : 0u, false});
      if (control) model.tokens[id].flags |= text::kTokenSpecial;
    }
    return model;
  }

  const GgufMetadata& metadata_;
  std::vector<Token> tokens_;
};

}  // namespace

std::shared_ptr<const TextModel> ReadGgufTokenizer(const GgufMetadata& metadata) {
  const std::string model = metadata.Get("tokenizer.ggml.model").Text("none");
  if (model == "none" || model == "no_vocab") return nullptr;
  return std::make_shared<const TextModel>(Reader(metadata).Run(model));
}

}  // namespace fovea::tools
