// Tokenizers and texts: eight bytes that choose what is done, four with the length of the section, the section, and
// then the text. Where the ninth bit of the first eight bytes is set, the text is repeated up to 64 KiB.
#include <string.h>

#include <algorithm>
#include <map>
#include <utility>

#include "tests/fuzz/harness.h"
#include "tests/fuzz/text_mutate.h"
#include "tests/fuzz/text_use.h"
#include "tests/support/two_levels.h"
#include "tests/text/fixtures.h"
#include "tools/convert/text/trie_builder.h"

namespace fovea::fuzz {
namespace {

constexpr size_t kLongText = 1 << 16;

struct Parts {
  uint64_t seed = 0;
  std::vector<uint8_t> section;
  std::string text;
};

Parts PartsOf(const uint8_t* data, size_t size) {
  Parts parts;
  uint32_t section = 0;
  if (size < sizeof(parts.seed) + sizeof(section)) return parts;
  memcpy(&parts.seed, data, sizeof(parts.seed));
  memcpy(&section, data + sizeof(parts.seed), sizeof(section));
  data += sizeof(parts.seed) + sizeof(section);
  size -= sizeof(parts.seed) + sizeof(section);
  const size_t bytes = std::min<size_t>(section, size);
  parts.section.assign(data, data + bytes);
  parts.text.assign(data + bytes, data + size);
  return parts;
}

Input Joined(const Parts& parts) {
  const auto section = static_cast<uint32_t>(parts.section.size());
  Input input(sizeof(parts.seed) + sizeof(section) + section + parts.text.size());
  memcpy(input.data(), &parts.seed, sizeof(parts.seed));
  memcpy(input.data() + sizeof(parts.seed), &section, sizeof(section));
  const auto end =
      std::copy(parts.section.begin(), parts.section.end(), input.begin() + sizeof(parts.seed) + sizeof(section));
  std::copy(parts.text.begin(), parts.text.end(), end);
  return input;
}

// A model of documents with this tokenizer.
std::vector<uint8_t> BlobOf(const std::vector<uint8_t>& section) {
  static const tools::BlobContent plain = [] {
    test::ModelBuilder b;
    test::BuildTwoLevels(b, DType::kF32, {8, 1, 8}, 30);
    return b.content();
  }();
  tools::BlobContent content = plain;
  content.text = section;
  return tools::WriteBlob(content);
}

void Use(const uint8_t* data, size_t size) {
  Parts parts = PartsOf(data, size);
  if ((parts.seed >> 8 & 1) != 0 && !parts.text.empty()) {
    const std::string part = parts.text;
    while (parts.text.size() + part.size() <= kLongText) parts.text += part;
  }
  const std::vector<uint8_t> blob = BlobOf(parts.section);
  Transcript::Compare(UseText(blob, parts.text, parts.seed, Filling::kZeros),
                      UseText(blob, parts.text, parts.seed, parts.seed % 2 == 0 ? Filling::kOnes : Filling::kRandom));
  UseSentences(parts.text, parts.seed % 3 == 0 ? uint32_t{FOVEA_TEXT_WRAPPED} : 0u);
}

Input Mutate(const Input& input, Random& random) {
  Parts parts = PartsOf(input.data(), input.size());
  if (random.OneIn(3)) parts.seed = random.Next() & ~(random.OneIn(8) ? uint64_t{0} : uint64_t{256});
  if (!random.OneIn(3)) parts.text = MutateText(parts.text, parts.section, random);
  if (!random.OneIn(4)) parts.section = MutateSection(parts.section, random);
  return Joined(parts);
}

// A tokenizer with a character map, as SentencePiece publishes it.
tools::TextModel WithCharsmap(const std::map<std::string, std::string>& entries, text::StepKind kind) {
  const nlohmann::json json = test::UnigramJson();
  tools::TextModel model = tools::ReadTokenizerJson({json, "tokenizer.json"});
  std::map<std::string, uint32_t> keys;
  std::string strings;
  for (const auto& [key, value] : entries) {
    keys[key] = static_cast<uint32_t>(strings.size());
    strings += value + std::string(1, '\0');
  }
  const std::vector<uint32_t> trie = tools::BuildTrie(keys);
  const auto bytes = static_cast<uint32_t>(trie.size() * sizeof(uint32_t));
  model.charsmap.assign(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
  model.charsmap.append(reinterpret_cast<const char*>(trie.data()), bytes);
  model.charsmap += strings;
  model.normalizer = {{kind, kind == text::StepKind::kCharsmapSentencePiece ? 7u : 0u}};
  return model;
}

constexpr uint64_t kLong = 256;  // the seed that makes texts long

// One of each model. Making them takes a while.
const std::vector<std::vector<uint8_t>>& PlainSections() {
  static const std::vector<std::vector<uint8_t>> sections = {
      test::SectionOf(test::WordPieceJson()), test::SectionOf(test::UnigramJson()),
      test::SectionOf(test::BytePairJson()), test::SectionOf(test::CharacterPairsJson())};
  return sections;
}

// Texts that look as if they were about to match, over and over: time must not be quadratic.
std::vector<Input> HardSeeds() {
  std::vector<Input> seeds;
  for (const uint32_t size : {255u, 30000u}) {  // the longest pattern that is allowed, and one that never was meant
    std::vector<uint8_t> pattern(size, 'a');
    pattern.back() = 'b';
    const text::Step replace = {static_cast<uint32_t>(text::StepKind::kReplace), 0, 0, size, 0, 1};
    const auto* step = reinterpret_cast<const uint8_t*>(&replace);
    std::vector<uint8_t> section = WithTable(PlainSections()[1], text::kPool, pattern);
    section = WithTable(section, text::kNormalizer, {step, step + sizeof(replace)});
    section = WithTable(section, text::kPreTokenizer, {});
    seeds.push_back(Joined({kLong, section, "a"}));
  }
  std::vector<uint8_t> strings(1 << 20, 'x');
  strings.back() = 0;
  for (const text::StepKind kind : {text::StepKind::kCharsmapSentencePiece, text::StepKind::kCharsmapGraphemes}) {
    const std::vector<uint8_t> section = tools::WriteTextSection(WithCharsmap({{"a", "x"}}, kind));
    seeds.push_back(Joined({kLong, WithTable(section, text::kCharsmapStrings, strings), "a"}));
  }
  nlohmann::json spaces = test::WordPieceJson();
  spaces["added_tokens"].push_back(test::AddedJson(28, " ", false, "r"));
  spaces["added_tokens"].push_back(test::AddedJson(29, "\n", false, "lrw"));
  const std::vector<uint8_t> of_spaces = test::SectionOf(spaces);
  for (const char* text : {" ", "\n", "<R> ", " <L>", "word", "\n "}) {
    seeds.push_back(Joined({kLong, of_spaces, text}));
  }
  for (const std::vector<uint8_t>& section : PlainSections()) {
    for (const char* text : {"a", "\xcc\x81", "l", "."}) seeds.push_back(Joined({kLong, section, text}));
  }
  return seeds;
}

std::vector<Input> Seeds() {
  const std::string text =
      "The CAF\xc3\x89 <L> word, \xe4\xb8\xad don't ab\xcc\x81\xcc\xa3 unaffable[MASK]. hello  hello. abc";
  std::vector<Input> seeds;
  for (const std::vector<uint8_t>& section : PlainSections()) seeds.push_back(Joined({seeds.size(), section, text}));
  for (const text::StepKind kind : {text::StepKind::kCharsmapSentencePiece, text::StepKind::kCharsmapGraphemes}) {
    const tools::TextModel model =
        WithCharsmap({{"\xc3\x89", "e"}, {"a", "aa"}, {"\xe4\xb8\xad", " "}, {"b\xcc\x81", ""}}, kind);
    seeds.push_back(Joined({seeds.size(), tools::WriteTextSection(model), text}));
  }
  for (Input& hard : HardSeeds()) seeds.push_back(std::move(hard));
  return seeds;
}

}  // namespace

const Harness kTextHarness = {"text", &Use, &Mutate, &Seeds};

}  // namespace fovea::fuzz
