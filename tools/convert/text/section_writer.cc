// Writes a TextModel as the bytes of a text section.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <optional>
#include <string_view>

#include "runtime/text/models.h"
#include "runtime/text/normalizer.h"
#include "runtime/text/tokenizer.h"
#include "tools/base/fail.h"
#include "tools/base/workers.h"
#include "tools/convert/text/merge_lists.h"
#include "tools/convert/text/model.h"
#include "tools/convert/text/trie_builder.h"
#include "tools/convert/text/unicode.h"

namespace fovea::tools {
namespace {

using text::StepKind;

// Bytes of one table.
using Content = std::vector<uint8_t>;

template <typename T>
void Append(const T& value, Content* content) {
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(&value);
  content->insert(content->end(), bytes, bytes + sizeof(T));
}

template <typename T>
void AppendAll(const std::vector<T>& values, Content* content) {
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(values.data());
  content->insert(content->end(), bytes, bytes + values.size() * sizeof(T));
}

bool Has(const std::vector<TextStep>& steps, StepKind kind) {
  return std::any_of(steps.begin(), steps.end(), [&](const TextStep& s) { return s.kind == kind; });
}

// The texts of the characters that a map changes; null for all other characters.
class ChangedCharacters {
 public:
  // In ascending order.
  void Add(uint32_t code, std::string&& to) {
    texts_.push_back(std::move(to));
    places_[code] = static_cast<uint32_t>(texts_.size());
  }
  const std::string* operator[](uint32_t code) const {
    return places_[code] == 0 ? nullptr : &texts_[places_[code] - 1];
  }

 private:
  std::vector<uint32_t> places_ = std::vector<uint32_t>(kCodePoints);  // 1 more than the index of the text; 0: none
  std::vector<std::string> texts_;
};

class SectionWriter {
 public:
  explicit SectionWriter(const TextModel& model) : model_(model) {}

  std::vector<uint8_t> Run() {
    if (model_.tokens.empty()) Fail("the tokenizer has no tokens");
    for (const std::vector<TextStep>* steps : {&model_.normalizer, &model_.pre_tokenizer, &model_.decoder_steps}) {
      if (steps->size() > text::kMaxSteps) Fail("{} text steps exceed the limit of {}", steps->size(), text::kMaxSteps);
    }
    WriteHeader();
    WriteCharsmap();
    WritePatterns();
    for (const TextStep& step : model_.normalizer) WriteStep(step, text::kNormalizer);
    for (const TextStep& step : model_.pre_tokenizer) WriteStep(step, text::kPreTokenizer);
    for (const TextStep& step : model_.decoder_steps) WriteStep(step, text::kDecoderSteps);
    WriteClasses();
    WriteTokens();
    if (model_.kind == text::ModelKind::kBpe) WriteMerges();
    for (uint32_t id : model_.byte_ids) Append(id, &tables_[text::kByteIds]);
    tables_[text::kSuffix].assign(model_.suffix.begin(), model_.suffix.end());
    for (const text::TemplateItem& item : model_.single) Append(item, &tables_[text::kTemplateSingle]);
    for (const text::TemplateItem& item : model_.pair) Append(item, &tables_[text::kTemplatePair]);
    // The normalizer is complete: run it to measure how texts grow, and to normalize added tokens.
    header_.expansion = text::kMaxExpansion;
    header_.expansion = MeasureExpansion();
    if (model_.kind == text::ModelKind::kBpe) MarkWhole();
    WriteAdded();
    return Assemble();
  }

 private:
  void WriteHeader() {
    header_.magic = text::kMagic;
    header_.version = text::kVersion;
    header_.vocabulary = static_cast<uint32_t>(model_.tokens.size());
    header_.model = static_cast<uint32_t>(model_.kind);
    header_.model_flags = model_.flags;
    header_.unknown_id = model_.unknown_id;
    header_.pad_id = model_.pad_id;
    header_.max_word_chars = model_.max_word_chars;
    header_.prefix_offset = Pool(model_.continuation);
    header_.prefix_size = static_cast<uint32_t>(model_.continuation.size());
    header_.max_length = model_.max_length;
    header_.decoder = static_cast<uint32_t>(model_.decoder);
    header_.decoder_flags = model_.decoder_flags;
    header_.unknown_score = model_.unknown_score;
  }

  uint32_t Pool(const std::string& string) {
    Content& pool = tables_[text::kPool];
    const auto found = std::search(pool.begin(), pool.end(), string.begin(), string.end());
    const uint32_t offset = static_cast<uint32_t>(found - pool.begin());
    if (found == pool.end()) pool.insert(pool.end(), string.begin(), string.end());
    return offset;
  }

  void WriteStep(const TextStep& from, text::TableIndex table) {
    text::Step step = {static_cast<uint32_t>(from.kind), from.flags, 0, 0, 0, 0};
    if (from.kind == StepKind::kMap) {
      step.a = static_cast<uint32_t>(tables_[text::kRanges].size() / sizeof(text::MapRange));
      WriteMap(from);
      step.b = static_cast<uint32_t>(tables_[text::kRanges].size() / sizeof(text::MapRange)) - step.a;
    } else if (from.kind == StepKind::kCharsmapGraphemes || from.kind == StepKind::kCharsmapSentencePiece) {
      for (const std::string& key : charsmap_keys_) step.a = std::max(step.a, static_cast<uint32_t>(key.size()));
    } else if (from.pattern != nullptr) {
      const PatternTables::Place& place = patterns_.places[next_pattern_++];
      step.a = place.first;
      step.b = place.states;
      step.c = patterns_.class_count;
      if (from.kind == StepKind::kReplaceMatches) {
        step.d = Pool(from.second);
        step.flags = static_cast<uint32_t>(from.second.size());
      }
    } else {
      step.a = Pool(from.first);
      step.b = static_cast<uint32_t>(from.first.size());
      step.c = from.kind == StepKind::kDecodeStrip ? from.count : Pool(from.second);
      step.d = static_cast<uint32_t>(from.second.size());
    }
    Append(step, &tables_[table]);
  }

  // Patterns of all steps, in the order in which they are written.
  void WritePatterns() {
    std::vector<const PatternNode*> patterns;
    for (const std::vector<TextStep>* steps : {&model_.normalizer, &model_.pre_tokenizer}) {
      for (const TextStep& step : *steps) {
        if (step.pattern != nullptr) patterns.push_back(step.pattern.get());
      }
    }
    if (patterns.empty()) return;
    patterns_ = CompilePatterns(patterns);
    AppendAll(patterns_.classes, &tables_[text::kCutClasses]);
    AppendAll(patterns_.transitions, &tables_[text::kCutTransitions]);
  }

  // Writes the map as runs: removals, constant differences, alternating ones, and single strings.
  void WriteMap(const TextStep& step) {
    ChangedCharacters map;
    for (uint32_t code = 0; code < kCodePoints; ++code) {
      if ((code >= 0xd800 && code < 0xe000) ||
          ((step.flags & text::kMapHangul) != 0 && code >= 0xac00 && code <= 0xd7a3)) {
        continue;
      }
      std::string to = step.map(code);
      if (to != Utf8(code)) map.Add(code, std::move(to));
    }
    const auto delta = [&](uint32_t code) -> std::optional<int32_t> {
      if (code >= kCodePoints || !map[code]) return std::nullopt;
      const std::vector<uint32_t> to = CodePoints(*map[code]);
      if (to.size() != 1) return std::nullopt;
      return static_cast<int32_t>(to[0]) - static_cast<int32_t>(code);
    };
    for (uint32_t code = 0; code < kCodePoints;) {
      if (!map[code]) {
        ++code;
        continue;
      }
      uint32_t count = 1;
      text::MapKind kind = text::MapKind::kString;
      uint32_t value = 0;
      if (map[code]->empty()) {
        kind = text::MapKind::kRemove;
        while (count < text::kMapRangeCount && code + count < kCodePoints && map[code + count] &&
               map[code + count]->empty()) {
          ++count;
        }
      } else if (const std::optional<int32_t> first = delta(code)) {
        value = static_cast<uint32_t>(*first) & 0x3fffffff;
        kind = text::MapKind::kDelta;
        while (count < text::kMapRangeCount && delta(code + count) == first) ++count;
        if (count == 1) {
          kind = text::MapKind::kDeltaEven;
          while (count + 2 <= text::kMapRangeCount && code + count + 1 < kCodePoints && !map[code + count] &&
                 delta(code + count + 1) == first) {
            count += 2;
          }
        }
      } else {
        const std::string& to = *map[code];
        if (to.size() > text::kMapStringBytes) Fail("U+{:04X} maps to a string that is too long", code);
        value = Pool(to) << 6 | static_cast<uint32_t>(to.size());
      }
      Append(text::MapRange{code | (count - 1) << 21, static_cast<uint32_t>(kind) << 30 | value},
             &tables_[text::kRanges]);
      code += count;
    }
  }

  void WriteCharsmap() {
    const std::string& map = model_.charsmap;
    if (map.empty()) return;
    uint32_t trie_size = 0;
    if (map.size() >= 4) std::memcpy(&trie_size, map.data(), 4);
    if (map.size() < 4 || trie_size > map.size() - 4 || trie_size % 4 != 0 || trie_size == 0) {
      Fail("precompiled_charsmap is damaged");
    }
    tables_[text::kCharsmapTrie].assign(map.begin() + 4, map.begin() + 4 + trie_size);
    tables_[text::kCharsmapStrings].assign(map.begin() + 4 + trie_size, map.end());
    std::vector<uint32_t> units(trie_size / 4);
    std::memcpy(units.data(), map.data() + 4, trie_size);
    text::Trie trie;
    trie.units = units.data();
    trie.count = static_cast<uint32_t>(units.size());
    charsmap_keys_ = ListTrie(trie, text::kMaxCharsmapKey);
  }

  void WriteClasses() {
    const bool punctuation = Has(model_.pre_tokenizer, StepKind::kSplitBert);
    const bool cjk = std::any_of(model_.normalizer.begin(), model_.normalizer.end(), [](const TextStep& s) {
      return s.kind == StepKind::kMap && (s.flags & text::kMapSpaceCjk) != 0;
    });
    const bool word = std::any_of(model_.added.begin(), model_.added.end(),
                                  [](const AddedToken& a) { return (a.flags & text::kAddedSingleWord) != 0; });
    const bool graphemes = Has(model_.normalizer, StepKind::kCharsmapGraphemes);
    WritePacked(text::kClasses, [&](uint32_t code) {
      uint32_t bits = 0;
      if (IsWhitespace(code)) bits |= text::kClassWhitespace;
      if (punctuation && IsBertPunctuation(code)) bits |= text::kClassPunctuation;
      if (word && IsWordCharacter(code)) bits |= text::kClassWord;
      if (cjk && IsCjkIdeograph(code)) bits |= text::kClassCjk;
      if (graphemes) bits |= GraphemeBreak(code) << text::kClassGraphemeShift;
      return bits;
    });
    if (!Has(model_.normalizer, StepKind::kOrder)) return;
    WritePacked(text::kCombining, CombiningClass);
    for (const auto& [pair, composed] : Compositions()) {
      Append(text::Composition{pair.first, pair.second, composed}, &tables_[text::kCompositions]);
    }
  }

  template <typename F>
  void WritePacked(text::TableIndex table, const F& bits) {
    uint32_t last = 0;
    for (uint32_t code = 0; code < kCodePoints; ++code) {
      const uint32_t now = bits(code);
      if (now != last) Append(code << 11 | now, &tables_[table]);
      last = now;
    }
  }

  void WriteTokens() {
    const bool wide = std::any_of(model_.tokens.begin(), model_.tokens.end(), [](const TextToken& t) {
      return static_cast<double>(static_cast<float>(t.score)) != t.score;
    });
    const size_t count = model_.tokens.size();
    const bool unigrams = model_.kind == text::ModelKind::kUnigram;
    uint32_t longest = 0;
    Content &bytes = tables_[text::kPieceText], &flags = tables_[text::kTokenFlags];
    std::vector<uint32_t> offsets = {0};
    std::vector<double> scores;
    offsets.reserve(count + 1);
    flags.reserve(count);
    keys_.reserve(count);
    for (size_t id = 0; id < count; ++id) {
      const TextToken& token = model_.tokens[id];
      bytes.insert(bytes.end(), token.piece.begin(), token.piece.end());
      offsets.push_back(static_cast<uint32_t>(bytes.size()));
      flags.push_back(static_cast<uint8_t>(token.flags | (id == model_.mask_id ? text::kTokenMask : 0)));
      const std::string_view key = KeyOf(static_cast<uint32_t>(id));
      if (!key.empty()) {
        keys_.push_back({key, static_cast<uint32_t>(id)});
        longest = std::max(longest, static_cast<uint32_t>(key.size()));
      }
      if (unigrams) scores.push_back(token.score);
    }
    AppendAll(offsets, &tables_[text::kPieceOffsets]);
    if (wide) {
      AppendAll(scores, &tables_[text::kScores]);
    } else {
      AppendAll(std::vector<float>(scores.begin(), scores.end()), &tables_[text::kScores]);
    }
    if (wide && unigrams) header_.model_flags |= text::kScores64;
    if (longest > text::kMaxPieceBytes) Fail("a piece has {} bytes, the limit is {}", longest, text::kMaxPieceBytes);
    header_.max_piece_bytes = longest;
    SortKeys(&keys_);
    AppendAll(BuildSortedTrie(keys_), &tables_[text::kVocabularyTrie]);
  }

  // The key of a piece in the vocabulary's trie; nothing if texts cannot contain it.
  std::string_view KeyOf(uint32_t id) {
    const TextToken& token = model_.tokens[id];
    if (!token.matches) return {};
    const auto found = model_.found.find(id);
    const std::string& key = found == model_.found.end() ? token.piece : found->second;
    const bool zero = key.find('\0') != std::string::npos;
    if (model_.kind != text::ModelKind::kBpe) return zero ? std::string_view() : key;
    if (key.find('\xff') != std::string::npos) return {};
    if (!zero) return key;
    std::string& changed = zero_keys_.emplace_back(key);
    std::replace(changed.begin(), changed.end(), '\0', '\xff');  // as byte_pair.cc looks it up
    return changed;
  }

  void WriteMerges() {
    const MergeTable merges = MergeLists(model_, keys_);
    AppendAll(merges.offsets, &tables_[text::kMergeOffsets]);
    AppendAll(merges.merges, &tables_[text::kMerges]);
  }

  // Normalizes a string; `*peak` receives the largest intermediate size. The result is valid until the next call.
  std::string_view Normalize(const std::string& string, uint32_t* peak) {
    const size_t capacity = (string.size() + 1) * text::kMaxExpansion;
    text::Buffer buffers[2];
    for (int i = 0; i < 2; ++i) {
      bytes_[i].resize(std::max(bytes_[i].size(), capacity));
      origins_[i].resize(bytes_[i].size());
      buffers[i].bytes = bytes_[i].data();
      buffers[i].origin = origins_[i].data();
      buffers[i].capacity = static_cast<uint32_t>(capacity);
    }
    const text::View in{reinterpret_cast<const uint8_t*>(string.data()), nullptr, 0,
                        static_cast<uint32_t>(string.size())};
    text::View out;
    if (!text::Normalize(tokenizer_, in, buffers, &out, peak)) Fail("the normalizer makes texts too long");
    return {reinterpret_cast<const char*>(out.bytes), out.size};
  }

  void Open() {
    section_ = Assemble();
    fovea_error error;
    Reporter reporter(&error);
    if (!Tokenizer::Open(section_.data(), section_.size(), 0, reporter, &tokenizer_).ok()) {
      Fail("the text section is not valid: {}", error.text);
    }
  }

  // The most bytes that any step makes of one byte of text. Steps process single characters, and the character map also
  // its keys, so these are all cases; steps that depend on neighbours only shorten texts.
  uint32_t MeasureExpansion() {
    Open();
    const bool marks = Has(model_.pre_tokenizer, StepKind::kMetaspace);
    double most = 1;
    // A prefix that is added once per text does not count as growth.
    size_t prefix = 0;
    if (Has(model_.normalizer, StepKind::kPrepend)) {
      uint32_t peak = 0;
      prefix = std::min<size_t>(std::max<size_t>(Normalize("x", &peak).size(), 1) - 1, text::kMaxPrefix);
    }
    const auto measure = [&](const std::string& string) {
      uint32_t peak = 0;
      const std::string_view out = Normalize(string, &peak);
      double size = static_cast<double>(out.size());
      if (marks) size += 2.0 * static_cast<double>(std::count(out.begin(), out.end(), ' '));
      size = std::max(size, static_cast<double>(peak)) - static_cast<double>(prefix);
      most = std::max(most, size / static_cast<double>(string.size()));
    };
    // Without steps texts stay as they are.
    if (!model_.normalizer.empty()) ForEachChanged([&](uint32_t code) { measure(Utf8(code)); });
    for (const std::string& key : charsmap_keys_) measure(key);
    for (const TextStep& step : model_.normalizer) {
      if (step.kind == StepKind::kReplace) measure(step.first);
      if (step.kind == StepKind::kReplaceMatches) most = std::max(most, static_cast<double>(step.second.size()));
    }
    if (marks) most = std::max(most, 3.0);
    if (most > text::kMaxExpansion)
      Fail("the normalizer lengthens texts by a factor of {}, which exceeds the limit", most);
    return static_cast<uint32_t>(std::ceil(most));
  }

  // Calls `use` with the code points that a step may change in another way than their neighbours. Beyond the first two
  // planes these are the ones in tables: no step computes anything from such a code point.
  template <typename Use>
  void ForEachChanged(const Use& use) const {
    constexpr uint32_t kTablesOnly = 0x20000;
    for (uint32_t code = 0; code <= kTablesOnly; ++code) {
      if (code < 0xd800 || code >= 0xe000) use(code);
    }
    const text::Table<text::MapRange>& ranges = tokenizer_.ranges;
    for (uint32_t i = 0; i < ranges.size; ++i) {
      const uint32_t first = ranges[i].range & 0x1fffff;
      for (uint32_t code = std::max(first, kTablesOnly); code <= first + (ranges[i].range >> 21); ++code) use(code);
    }
    for (const text::Table<uint32_t>* classes : {&tokenizer_.classes, &tokenizer_.combining, &tokenizer_.cut_classes}) {
      for (uint32_t i = 0; i < classes->size; ++i) {
        if ((*classes)[i] >> 11 > kTablesOnly) use((*classes)[i] >> 11);
      }
    }
  }

  // Marks pieces whose text, as a word, is the piece without merging.
  void MarkWhole() {
    // First in the order of the trie, whose neighbours are near each other in memory, then what it does not have.
    std::vector<uint32_t> order;
    std::vector<bool> has(model_.tokens.size());
    order.reserve(model_.tokens.size());
    for (const TrieKey& key : keys_) {
      order.push_back(key.value);
      has[key.value] = true;
    }
    for (uint32_t id = 0; id < model_.tokens.size(); ++id) {
      if (!has[id]) order.push_back(id);
    }
    Content& flags = tables_[text::kTokenFlags];
    constexpr size_t kPart = 1 << 13;
    Workers workers(order.size() > kPart ? 0 : 1);
    workers.ForParts(order.size(), kPart, [&](size_t first, size_t end) {
      std::vector<uint32_t> pairs;
      for (size_t i = first; i < end; ++i) {
        if (IsWhole(order[i], &pairs)) flags[order[i]] |= text::kTokenWhole;
      }
    });
  }

  // `pairs`: memory.
  bool IsWhole(uint32_t id, std::vector<uint32_t>* pairs) const {
    const text::Bytes piece = tokenizer_.Piece(id);
    if (piece.size == 0) return false;
    text::Scratch scratch;
    pairs->resize(std::max<size_t>(pairs->size(), text::kPairEntries * size_t{piece.size}));
    scratch.pairs = pairs->data();
    const text::View word{piece.data, nullptr, 0, piece.size};
    int32_t found = -1;
    text::TokenArrays arrays;
    arrays.ids = &found;
    arrays.capacity = 1;
    text::Sink sink(word, 0, UINT64_MAX, 0, 0, &arrays);
    text::BytePair(tokenizer_, word, scratch, &sink);
    return arrays.count == 1 && found == static_cast<int32_t>(id);
  }

  void WriteAdded() {
    tokenizer_.header.expansion = header_.expansion;  // all that has changed for the normalizer since Open
    std::map<std::string, uint32_t> raw, normalized;
    for (size_t i = 0; i < model_.added.size(); ++i) {
      const AddedToken& added = model_.added[i];
      Append(text::Added{added.id, added.flags}, &tables_[text::kAdded]);
      std::string content = added.content;
      if (added.normalized && !added.spelled) {
        uint32_t peak = 0;
        content = Normalize(added.content, &peak);
      }
      if (content.empty()) continue;
      (added.normalized ? normalized : raw).emplace(content, static_cast<uint32_t>(i));
    }
    AppendAll(BuildTrie(raw), &tables_[text::kAddedRawTrie]);
    AppendAll(BuildTrie(normalized), &tables_[text::kAddedNormalizedTrie]);
  }

  std::vector<uint8_t> Assemble() {
    size_t size = (sizeof(text::Header) + 7) / 8 * 8;
    for (const Content& table : tables_) size += (table.size() + 7) / 8 * 8;
    std::vector<uint8_t> section;
    section.reserve(size);
    section.resize((sizeof(text::Header) + 7) / 8 * 8);
    for (uint32_t i = 0; i < text::kTableCount; ++i) {
      header_.tables[i] = {static_cast<uint32_t>(section.size()), static_cast<uint32_t>(tables_[i].size())};
      section.insert(section.end(), tables_[i].begin(), tables_[i].end());
      section.resize((section.size() + 7) / 8 * 8);
    }
    if (section.size() > UINT32_MAX / 2) Fail("the text section is too large");
    header_.size = static_cast<uint32_t>(section.size());
    std::memcpy(section.data(), &header_, sizeof(header_));
    return section;
  }

  const TextModel& model_;
  text::Header header_ = {};
  Content tables_[text::kTableCount];
  std::vector<std::string> charsmap_keys_;
  std::vector<TrieKey> keys_;          // keys of the vocabulary's trie, texts of model_ or zero_keys_
  std::deque<std::string> zero_keys_;  // keys with another byte for 0
  PatternTables patterns_;
  size_t next_pattern_ = 0;
  std::vector<uint8_t> section_;  // tokenizer_ reads it
  Tokenizer tokenizer_;
  std::vector<uint8_t> bytes_[2];  // the normalizer's buffers
  std::vector<uint32_t> origins_[2];
};

}  // namespace

uint32_t TextModel::IdOf(const std::string& piece) const {
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (tokens[id].piece == piece) return static_cast<uint32_t>(id);
  }
  Fail("the vocabulary has no token \"{}\"", piece);
}

std::vector<text::TemplateItem> TextModel::Around(uint32_t open, text::TemplateKind which, uint32_t close,
                                                  uint32_t type) {
  constexpr auto kToken = static_cast<uint32_t>(text::TemplateKind::kToken);
  std::vector<text::TemplateItem> items = {{static_cast<uint32_t>(which), 0, type}};
  if (open != text::kNoId) items.insert(items.begin(), {kToken, open, type});
  if (close != text::kNoId) items.push_back({kToken, close, type});
  return items;
}

void TextModel::Wrap(uint32_t open, uint32_t close, bool close_twice, uint32_t second_type) {
  using text::TemplateKind;
  const auto second = Around(close_twice ? close : text::kNoId, TemplateKind::kTextB, close, second_type);
  single = pair = Around(open, TemplateKind::kTextA, close, 0);
  pair.insert(pair.end(), second.begin(), second.end());
}

std::vector<uint8_t> WriteTextSection(const TextModel& model) { return SectionWriter(model).Run(); }

}  // namespace fovea::tools
