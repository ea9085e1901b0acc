// Reads SentencePiece model files as the classes of the original library do: each moves ids, cleans texts and adds
// special tokens differently. Converts to the form of tokenizer.json as convert_slow_tokenizer.py does it.
#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "tools/base/fail.h"
#include "tools/convert/text/language_codes.h"
#include "tools/convert/text/published_tokens.h"
#include "tools/convert/text/readers.h"
#include "tools/convert/text/sentence_pieces.h"
#include "tools/convert/text/string_index.h"
#include "tools/convert/text/trie_builder.h"
#include "tools/convert/text/unicode.h"

namespace fovea::tools {
namespace {

constexpr const char* kSpace = "\xe2\x96\x81";  // U+2581

enum class Ids { kOwn, kExtra, kFairseq, kXglm, kCamembert, kPegasus, kLlama, kGemma };
enum class Cleaning { kPlain, kAlbert, kFnet, kXlnet, kRembert, kDeberta, kLlama, kGemma };

struct Rule {
  const char* name;
  Ids ids;
  Cleaning cleaning;
  const char* single;  // format of SetTemplate
  const char* pair;
  std::vector<DefaultToken> tokens;
};

constexpr char kBert[] = "[CLS] $A [SEP]", kBertPair[] = "[CLS] $A [SEP] $B:1 [SEP]:1";
constexpr char kRoberta[] = "<s> $A </s>", kRobertaPair[] = "<s> $A </s> </s> $B </s>";

std::vector<DefaultToken> Bracketed(const char* bos, const char* eos) {
  return {{"bos_token", bos},
          {"eos_token", eos},
          {"unk_token", "<unk>"},
          {"sep_token", "[SEP]"},
          {"pad_token", "<pad>"},
          {"cls_token", "[CLS]"},
          {"mask_token", "[MASK]", text::kAddedLstrip}};
}

std::vector<DefaultToken> Angled() {
  return {{"bos_token", "<s>"},
          {"eos_token", "</s>"},
          {"unk_token", "<unk>"},
          {"sep_token", "</s>"},
          {"pad_token", "<pad>"},
          {"cls_token", "<s>"},
          {"mask_token", "<mask>", text::kAddedLstrip}};
}

const std::vector<Rule>& Rules() {
  static const std::vector<DefaultToken> kT5 = {{"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}};
  static const std::vector<DefaultToken> kDeberta = {
      {"bos_token", "[CLS]"}, {"eos_token", "[SEP]"}, {"unk_token", "[UNK]"},  {"sep_token", "[SEP]"},
      {"pad_token", "[PAD]"}, {"cls_token", "[CLS]"}, {"mask_token", "[MASK]"}};
  static const std::vector<DefaultToken> kLlama = {{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"unk_token", "<unk>"}};
  static const std::vector<Rule> kRules = {
      {"AlbertTokenizer", Ids::kOwn, Cleaning::kAlbert, kBert, kBertPair, Bracketed("[CLS]", "[SEP]")},
      {"BarthezTokenizer", Ids::kOwn, Cleaning::kPlain, kRoberta, kRobertaPair, Angled()},
      {"BigBirdTokenizer", Ids::kOwn, Cleaning::kPlain, kBert, kBertPair, Bracketed("<s>", "</s>")},
      {"CamembertTokenizer", Ids::kCamembert, Cleaning::kPlain, kRoberta, kRobertaPair, Angled()},
      {"CodeLlamaTokenizer", Ids::kLlama, Cleaning::kLlama, "$A", "$A $B:1", kLlama},
      {"DebertaV2Tokenizer", Ids::kOwn, Cleaning::kDeberta, kBert, kBertPair, kDeberta},
      {"FNetTokenizer",
       Ids::kOwn,
       Cleaning::kFnet,
       kBert,
       kBertPair,
       {{"unk_token", "<unk>"},
        {"sep_token", "[SEP]"},
        {"pad_token", "<pad>"},
        {"cls_token", "[CLS]"},
        {"mask_token", "[MASK]", text::kAddedLstrip}}},
      {"GemmaTokenizer",
       Ids::kGemma,
       Cleaning::kGemma,
       "$A",
       "$A $B:1",
       {{"bos_token", "<bos>"}, {"eos_token", "<eos>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}}},
      {"LlamaTokenizer", Ids::kLlama, Cleaning::kLlama, "$A", "$A $B:1", kLlama},
      {"MBart50Tokenizer", Ids::kFairseq, Cleaning::kPlain, "", "", Angled()},
      {"MBartTokenizer", Ids::kFairseq, Cleaning::kPlain, "", "", Angled()},
      {"MT5Tokenizer", Ids::kExtra, Cleaning::kPlain, "$A </s>", "$A </s> $B </s>", kT5},
      {"NllbTokenizer", Ids::kFairseq, Cleaning::kPlain, "", "", Angled()},
      {"PegasusTokenizer",
       Ids::kPegasus,
       Cleaning::kPlain,
       "$A </s>",
       "$A $B </s>",
       {{"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}, {"mask_token", "<mask_2>"}}},
      {"ReformerTokenizer",
       Ids::kOwn,
       Cleaning::kPlain,
       "$A",
       "$A $B:1",
       {{"eos_token", "</s>"}, {"unk_token", "<unk>"}}},
      {"RemBertTokenizer", Ids::kOwn, Cleaning::kRembert, kBert, kBertPair, Bracketed("[CLS]", "[SEP]")},
      {"T5Tokenizer", Ids::kExtra, Cleaning::kPlain, "$A </s>", "$A </s> $B </s>", kT5},
      {"XGLMTokenizer",
       Ids::kXglm,
       Cleaning::kPlain,
       "</s> $A",
       "</s> $A </s> </s> $B",
       {{"bos_token", "<s>"},
        {"eos_token", "</s>"},
        {"unk_token", "<unk>"},
        {"sep_token", "</s>"},
        {"pad_token", "<pad>"},
        {"cls_token", "<s>"}}},
      {"XLMRobertaTokenizer", Ids::kFairseq, Cleaning::kPlain, kRoberta, kRobertaPair, Angled()},
      {"XLNetTokenizer",
       Ids::kOwn,
       Cleaning::kXlnet,
       "$A <sep> <cls>:2",
       "$A <sep> $B:1 <sep>:1 <cls>:2",
       {{"bos_token", "<s>"},
        {"eos_token", "</s>"},
        {"unk_token", "<unk>"},
        {"sep_token", "<sep>"},
        {"pad_token", "<pad>"},
        {"cls_token", "<cls>"},
        {"mask_token", "<mask>", text::kAddedLstrip}}},
  };
  return kRules;
}

std::string Base64(const std::string& bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < count ? static_cast<uint8_t>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k) text += k <= count ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

Json Replace(const char* what, const char* with) {
  return {{"type", "Replace"}, {"pattern", {{"String", what}}}, {"content", with}};
}
Json ReplaceRuns(const char* with) {
  return {{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", with}};
}
Json Sequence(const char* of, Json parts) { return {{"type", "Sequence"}, {of, std::move(parts)}}; }

class Builder {
 public:
  Builder(const Rule& rule, const SentencePieces& read, const PublishedTokens& tokens, const JsonView& config,
          std::string file)
      : rule_(rule), read_(read), tokens_(tokens), config_(config), file_(std::move(file)) {}

  TextModel Run() {
    SetVocabulary();
    ids_.emplace(vocabulary_.size(), TextOfPlace{this});
    for (uint32_t id = 0; id < vocabulary_.size(); ++id) ids_->Add(id);
    for (const std::string& piece : special_) {
      added_.push_back({{"id", (*ids_)[piece]}, {"content", piece}, {"special", true}, {"normalized", false}});
    }
    for (const SentencePiece& piece : read_.pieces) {
      const bool control = piece.type == SentencePiece::kControl;
      if (!control && piece.type != SentencePiece::kUserDefined) continue;
      const uint32_t id = (*ids_)[piece.piece];
      if (id == Index::kNone) continue;
      added_.push_back({{"id", id}, {"content", piece.piece}, {"special", control}, {"normalized", false}});
    }
    const ModelLists lists = MakeLists();
    const Json json = {{"model", Model()},
                       {"added_tokens", added_},
                       {"normalizer", Normalizer()},
                       {"pre_tokenizer", PreTokenizer()},
                       {"decoder", Decoder()}};
    TextModel model = ReadTokenizerJson({json, file_}, lists);
    tokens_.AddTo(rule_.tokens, &model);
    if (!SetLanguageTemplate(rule_.name, config_, tokens_, &model)) SetTemplate(rule_.single, rule_.pair, &model);
    return model;
  }

 private:
  struct TextOfPlace {
    const Builder* builder;
    std::string_view operator()(uint32_t id) const { return builder->vocabulary_[id].first; }
  };
  using Index = StringIndex<TextOfPlace>;

  bool bytes() const { return rule_.ids == Ids::kLlama || rule_.ids == Ids::kGemma; }
  bool legacy() const { return config_["legacy"].Flag(true); }
  bool prefix() const { return config_["add_prefix_space"].Flag(true); }

  void Add(const std::string& piece, double score) { vocabulary_.emplace_back(piece, score); }
  void AddSpecial(const std::string& piece, double score = 0) {
    special_.push_back(piece);
    Add(piece, score);
  }
  void AddPieces(size_t first) {
    if (read_.pieces.size() < first) Fail("{}: has only {} pieces", file_, read_.pieces.size());
    for (size_t i = first; i < read_.pieces.size(); ++i) Add(NameOf(read_.pieces[i]), ScoreOf(read_.pieces[i]));
  }
  // Gemma has a tab as a piece, not as a byte.
  std::string NameOf(const SentencePiece& piece) const {
    return rule_.ids == Ids::kGemma && piece.piece == "<0x09>" ? "\t" : piece.piece;
  }
  bool albert() const {
    return rule_.cleaning == Cleaning::kAlbert || rule_.cleaning == Cleaning::kFnet ||
           rule_.cleaning == Cleaning::kXlnet;
  }
  // Albert and its relatives never take a piece that ends in a digit and a comma.
  double ScoreOf(const SentencePiece& piece) const {
    const std::string& text = piece.piece;
    const bool comma = albert() && text.size() > 1 && text.back() == ',' && text[text.size() - 2] >= '0' &&
                       text[text.size() - 2] <= '9';
    return piece.score - (comma ? 100 : 0);
  }

  void SetVocabulary() {
    vocabulary_.reserve(read_.pieces.size() + 1024);
    const auto is_unknown = [](const SentencePiece& piece) { return piece.type == SentencePiece::kUnknown; };
    const auto found = std::find_if(read_.pieces.begin(), read_.pieces.end(), is_unknown);
    if (found == read_.pieces.end()) Fail("{}: the SentencePiece model has no unknown token", file_);
    unknown_ = static_cast<uint32_t>(found - read_.pieces.begin());
    switch (rule_.ids) {
      case Ids::kOwn:
        return AddPieces(0);
      case Ids::kExtra: {
        AddPieces(0);
        // T5's last id is <extra_id_0>.
        for (uint32_t i = config_["extra_ids"].Number({0, 10000}, 100); i > 0; --i) {
          AddSpecial(fmt::format("<extra_id_{}>", i - 1));
        }
        return;
      }
      case Ids::kFairseq:
        AddFairseq();
        for (const std::string& code : LanguageCodes(rule_.name)) AddSpecial(code);
        return Add("<mask>", 0);
      case Ids::kXglm:
        AddFairseq();
        for (int i = 0; i < 7; ++i) AddSpecial(fmt::format("<madeupword{}>", i));
        return;
      case Ids::kCamembert:
        for (const char* piece : {"<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>"}) Add(piece, 0);
        Add("<unk>NOTUSED", -100);
        unknown_ = 3;
        AddPieces(1);
        return Add("<mask>", 0);
      case Ids::kPegasus:
        return SetPegasus();
      case Ids::kLlama:
        return SetNamed({{"unk_token", "<unk>"}, {"bos_token", "<s>"}, {"eos_token", "</s>"}}, 0);
      case Ids::kGemma:
        return SetNamed({{"pad_token", "<pad>"}, {"eos_token", "<eos>"}, {"bos_token", "<bos>"}}, 3);
    }
  }

  // fairseq's first four tokens, and the pieces behind the model file's first three.
  void AddFairseq() {
    for (const char* piece : {"<s>", "<pad>", "</s>", "<unk>"}) Add(piece, 0);
    unknown_ = 3;
    AddPieces(3);
  }

  void SetNamed(const std::vector<DefaultToken>& first, uint32_t unknown) {
    for (const DefaultToken& token : first) Add(tokens_.Named(token.key, token.content), 0);
    unknown_ = unknown;
    AddPieces(first.size());
  }

  // Ids are the file's plus `offset`; its first two pieces are the padding and the end.
  void SetPegasus() {
    const uint32_t offset = config_["offset"].Number({0, 10000}, 103);
    AddSpecial(tokens_.Named("pad_token", "<pad>"));
    AddSpecial(tokens_.Named("eos_token", "</s>"));
    const std::string sentence = tokens_.Named("mask_token_sent", "<mask_1>");
    if (!sentence.empty()) AddSpecial(sentence);
    if (offset > 0) AddSpecial(tokens_.Named("mask_token", "<mask_2>"));
    for (uint32_t i = 2; i < offset; ++i) {
      AddSpecial(fmt::format("<unk_{}>", i), -100);
    }
    unknown_ += offset;
    AddPieces(2);
  }

  Json Model() const {
    if (!read_.byte_pairs) return {{"type", "Unigram"}, {"unk_id", unknown_}, {"byte_fallback", bytes()}};
    return {
        {"type", "BPE"}, {"fuse_unk", true}, {"byte_fallback", bytes()}, {"unk_token", vocabulary_.at(unknown_).first}};
  }

  ModelLists MakeLists() const {
    ModelLists lists;
    lists.vocabulary = read_.byte_pairs ? ModelLists::kIds : ModelLists::kScores;
    lists.pieces.reserve(vocabulary_.size());
    for (uint32_t id = 0; id < vocabulary_.size(); ++id) {
      const auto& [piece, score] = vocabulary_[id];
      if (!read_.byte_pairs || (*ids_)[piece] == id) lists.pieces.push_back({piece, id, score});
    }
    if (read_.byte_pairs) AddMerges(&lists);
    return lists;
  }

  // All pairs of pieces whose concatenation is a piece, the best score first (generate_merges).
  void AddMerges(ModelLists* lists) const {
    struct Merge {
      double score;
      uint32_t left, right, place;
    };
    std::vector<TrieKey> keys;
    std::vector<uint32_t> next(vocabulary_.size(), Index::kNone);  // another id with the same piece
    for (auto id = static_cast<uint32_t>(vocabulary_.size()); id-- > 0;) {
      const std::string_view piece = vocabulary_[id].first;
      const uint32_t first = (*ids_)[piece];
      if (first == id) {
        if (!piece.empty()) keys.push_back({piece, id});
      } else {
        next[id] = std::exchange(next[first], id);
      }
    }
    SortKeys(&keys);
    std::vector<Merge> merges;
    ForEachKey(keys, [&](const TrieKey& piece, const std::vector<TrieKey>& prefixes) {
      for (const TrieKey& left : prefixes) {
        const uint32_t right = (*ids_)[piece.text.substr(left.text.size())];
        for (uint32_t id = right == Index::kNone ? right : piece.value; id != Index::kNone; id = next[id]) {
          merges.push_back({vocabulary_[id].second, left.value, right, id});
        }
      }
    });
    std::sort(merges.begin(), merges.end(), [](const Merge& a, const Merge& b) {
      return std::tie(b.score, a.place, a.left, a.right) < std::tie(a.score, b.place, b.left, b.right);
    });
    lists->has_merges = true;
    lists->resolved.reserve(merges.size());
    for (const Merge& merge : merges) {
      const auto rank = static_cast<uint32_t>(lists->resolved.size());
      lists->resolved.push_back({merge.left, merge.right, rank, (*ids_)[vocabulary_[merge.place].first]});
    }
  }

  Json Normalizer() const {
    Json parts = Json::array();
    const auto charsmap = [&] {
      if (!read_.charsmap.empty()) {
        parts.push_back({{"type", "Precompiled"}, {"precompiled_charsmap", Base64(read_.charsmap)}});
      }
    };
    const bool lower = config_["do_lower_case"].Flag(rule_.cleaning == Cleaning::kAlbert);
    switch (rule_.cleaning) {
      case Cleaning::kPlain:
        charsmap();
        parts.push_back({{"type", "Strip"}, {"strip_left", false}, {"strip_right", true}});
        parts.push_back(ReplaceRuns(kSpace));
        break;
      case Cleaning::kAlbert:
      case Cleaning::kFnet:
      case Cleaning::kXlnet:
      case Cleaning::kRembert: {
        const bool strips = rule_.cleaning == Cleaning::kAlbert || rule_.cleaning == Cleaning::kXlnet;
        parts = {Replace("``", "\""), Replace("''", "\"")};
        if (!albert()) parts.push_back(ReplaceRuns(" "));
        if (!config_["keep_accents"].Flag(!strips)) {
          parts.push_back({{"type", "NFKD"}});
          parts.push_back({{"type", "StripAccents"}});
        }
        if (lower) parts.push_back({{"type", "Lowercase"}});
        charsmap();
        if (albert()) parts.push_back(ReplaceRuns(" "));
        break;
      }
      case Cleaning::kDeberta:
        if (lower) parts.push_back({{"type", "Lowercase"}});
        parts.push_back({{"type", "Strip"}});
        charsmap();
        parts.push_back(ReplaceRuns(" "));
        break;
      case Cleaning::kLlama:
        if (!legacy()) return nullptr;
        if (prefix()) parts.push_back({{"type", "Prepend"}, {"prepend", kSpace}});
        parts.push_back(Replace(" ", kSpace));
        break;
      case Cleaning::kGemma:
        return Replace(" ", kSpace);
    }
    return Sequence("normalizers", parts);
  }

  Json Metaspace() const {
    const char* scheme = !prefix() ? "never" : legacy() ? "always" : "first";
    return {{"type", "Metaspace"},
            {"replacement", kSpace},
            {"prepend_scheme", scheme},
            {"split", rule_.cleaning != Cleaning::kLlama}};
  }

  Json PreTokenizer() const {
    if (rule_.cleaning == Cleaning::kLlama) return legacy() ? Json() : Metaspace();
    if (rule_.cleaning == Cleaning::kGemma) {
      return {{"type", "Split"}, {"pattern", {{"String", " "}}}, {"behavior", "MergedWithPrevious"}, {"invert", false}};
    }
    Json parts = Json::array();
    if (rule_.ids == Ids::kPegasus) parts.push_back({{"type", "WhitespaceSplit"}});
    if (rule_.cleaning == Cleaning::kDeberta && config_["split_by_punct"].Flag(false)) {
      parts.push_back({{"type", "Punctuation"}, {"behavior", "Isolated"}});
    }
    parts.push_back(Metaspace());
    return Sequence("pretokenizers", parts);
  }

  Json Decoder() const {
    if (!bytes()) return Metaspace();
    Json parts = {Replace(kSpace, " "), {{"type", "ByteFallback"}}, {{"type", "Fuse"}}};
    if (rule_.cleaning == Cleaning::kLlama && prefix()) {
      parts.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
    }
    return Sequence("decoders", parts);
  }

  const Rule& rule_;
  const SentencePieces& read_;
  const PublishedTokens& tokens_;
  const JsonView config_;
  const std::string file_;
  std::vector<std::pair<std::string, double>> vocabulary_;  // by id, with scores
  std::optional<Index> ids_;                                // the first id of each piece
  std::vector<std::string> special_;                        // tokens that are added
  Json added_ = Json::array();
  uint32_t unknown_ = 0;
};

}  // namespace

TextModel ReadSentencePieceOfClass(const std::string& type, const SentencePieces& read, const PublishedTokens& tokens,
                                   const JsonView& config, const std::string& file) {
  std::string known;
  for (const Rule& rule : Rules()) {
    if (type == rule.name) return Builder(rule, read, tokens, config, file).Run();
    known += (known.empty() ? "" : ", ") + std::string(rule.name);
  }
  Fail("tokenizer class \"{}\" with {} alone is not supported (these are: {}): add tokenizer.json", type, file, known);
}

}  // namespace fovea::tools
