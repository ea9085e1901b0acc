// Every text function takes time linear in the text for a given tokenizer, regardless of their contents. The texts and
// sections here are so large that anything quadratic in one of them, or a product of both, would take minutes to hours.
#include <gtest/gtest.h>

#include "tests/text/fixtures.h"
#include "tests/text/text_fixture.h"
#include "tools/base/fail.h"
#include "tools/convert/text/trie_builder.h"

namespace fovea::test {
namespace {

using text::StepKind;

constexpr size_t kLong = 1 << 18;

std::string Repeat(const std::string& part, size_t size) {
  std::string all;
  while (all.size() < size) all += part;
  return all;
}

// Tokens of a text, which are only counted.
uint64_t Count(const TextSection& section, const std::string& text) {
  text::EncodeOptions options;
  options.special_tokens = false;
  const Encoded e = section.Encode(text, nullptr, options, 1);
  EXPECT_TRUE(e.status.ok() || e.status.code == FOVEA_E_CAPACITY) << e.error.text;
  return e.result.tokens[0];
}

// Word pieces "a" and "b", with the given normalizer.
tools::TextModel PlainModel(const std::vector<tools::TextStep>& normalizer = {}) {
  tools::TextModel model;
  for (const char* piece : {"[UNK]", "a", "##a", "b", "##b"}) model.tokens.push_back({piece, 0, 0, true});
  model.unknown_id = 0;
  model.normalizer = normalizer;
  model.pre_tokenizer = {{StepKind::kSplitWhitespace}};
  return model;
}
text::Header HeaderOf(const std::vector<uint8_t>& section) {
  text::Header header;
  std::memcpy(&header, section.data(), sizeof(header));
  return header;
}
template <typename T>
T* TableOf(std::vector<uint8_t>* section, text::TableIndex index) {
  return reinterpret_cast<T*>(section->data() + HeaderOf(*section).tables[index].offset);
}

// Why a section is refused.
std::string Refused(const tools::TextModel& model) {
  try {
    tools::WriteTextSection(model);
  } catch (const tools::Failure& failure) {
    return failure.what();
  }
  return "";
}

TEST(LinearText, WordPieces) {
  tools::TextModel model = PlainModel();
  model.max_word_chars = UINT32_MAX;
  const TextSection section(tools::WriteTextSection(model));
  EXPECT_EQ(Count(section, Repeat("ab", kLong)), kLong);
  EXPECT_EQ(Count(section, Repeat("ab", kLong) + "c"), 1u);  // found out at the end of the word
}

TEST(LinearText, BytePairs) {
  nlohmann::json json = BytePairJson();
  json["pre_tokenizer"]["add_prefix_space"] = false;
  auto& vocabulary = json["model"]["vocab"];
  auto& merges = json["model"]["merges"];
  // Words of one letter, joined two by two up to 4096 of them.
  for (uint32_t size = 1; size < 4096; size *= 2) {
    const std::string half(size, 'x');
    if (size == 1) vocabulary[half] = 15;
    vocabulary[half + half] = vocabulary.size() + 1;
    merges.push_back(half + " " + half);
  }
  // Merges that form a chain: only the last of many letters starts it, and each merge adds one more letter.
  vocabulary["y"] = vocabulary.size() + 1;
  vocabulary["z"] = vocabulary.size() + 1;
  for (std::string piece = "z"; piece.size() < 60; piece = "y" + piece) {
    vocabulary["y" + piece] = vocabulary.size() + 1;
    merges.push_back("y " + piece);
  }
  const TextSection section(SectionOf(json));
  ASSERT_TRUE(section.ok()) << section.error();
  EXPECT_EQ(Count(section, std::string(kLong, 'x')), kLong / 4096);
  EXPECT_EQ(Count(section, std::string(kLong, 'y') + "z"), kLong - 59 + 1);
  EXPECT_EQ(Count(section, Repeat("h ", kLong)), kLong);
  EXPECT_EQ(Count(section, std::string(kLong, ' ')), kLong);
  EXPECT_EQ(Count(section, std::string(kLong, '\'')), 0u);  // no piece for this byte
}

TEST(LinearText, Unigrams) {
  nlohmann::json json = UnigramJson();
  json["pre_tokenizer"]["prepend_scheme"] = "never";
  json["normalizer"] = nullptr;
  // Each position begins 64 pieces, and one piece that never ends.
  for (uint32_t size = 2; size <= 64; ++size) {
    json["model"]["vocab"].push_back({std::string(size, 'a'), -2.0 - size / 64.0});
  }
  json["model"]["vocab"].push_back({std::string(256, 'a') + "!", -1.0});
  const TextSection section(SectionOf(json));
  ASSERT_TRUE(section.ok()) << section.error();
  EXPECT_EQ(Count(section, std::string(kLong, 'a')), kLong / 64);
  EXPECT_EQ(Count(section, std::string(kLong, '?')), 1u);  // one run of unknown characters
  EXPECT_EQ(Count(section, Repeat("?a", kLong)), kLong);
}

// Tokens that take the spaces around them, in texts of nothing but spaces and such tokens.
TEST(LinearText, AddedTokensTakeSpaces) {
  for (const char* flags : {"", "r", "l", "lr", "w", "rn", "lrn"}) {
    nlohmann::json json = WordPieceJson();
    json["normalizer"] = nullptr;
    json["added_tokens"].push_back(AddedJson(28, " ", true, flags));
    json["added_tokens"].push_back(AddedJson(29, "  !", true, flags));
    const TextSection section(SectionOf(json));
    ASSERT_TRUE(section.ok()) << section.error();
    const std::string spaces(kLong, ' ');
    const bool right = std::string(flags).find('r') != std::string::npos;
    const bool word = std::string(flags) == "w";  // not beside a letter
    EXPECT_EQ(Count(section, spaces), right ? 1u : kLong) << flags;
    EXPECT_EQ(Count(section, spaces + "a" + spaces), right ? 3u : 2 * kLong + (word ? 0 : 2) - 1) << flags;
    Count(section, Repeat("  !", kLong));
  }
}

TEST(LinearText, Replacements) {
  const auto model = [](uint32_t flags, const std::string& pattern) {
    return PlainModel({{StepKind::kReplace, flags, pattern, "b"}});
  };
  const std::string as(kLong, 'a');
  EXPECT_EQ(Count(TextSection(WriteTextSection(model(0, "aa"))), as), 1u);
  // Nearly the pattern, at every place.
  EXPECT_EQ(Count(TextSection(WriteTextSection(model(0, std::string(254, 'a') + "!"))), as), 1u);
  EXPECT_EQ(Count(TextSection(WriteTextSection(model(300, "a"))), Repeat(std::string(299, 'a') + " ", kLong)),
            kLong / 300 + 1);
  EXPECT_NE(Refused(model(0, std::string(256, 'a'))).find("a pattern is too long"), std::string::npos);
}

// The memory is sized for the whole text, but a short stretch of it must not use all of it.
TEST(LinearText, StretchesGrowByTheirOwnSize) {
  constexpr uint32_t kContent = 1 << 22;
  tools::TextModel model = PlainModel({{StepKind::kReplace, 0, "a", std::string(60, 'b')}});
  model.continuation = std::string(kContent, 'c');
  model.added.push_back({"x", 0, 0, false});
  std::vector<uint8_t> bytes = tools::WriteTextSection(model);
  const std::string text = Repeat("ax", kLong / 2);
  EXPECT_EQ(Count(TextSection(bytes), text), kLong / 2);
  text::Step& step = *TableOf<text::Step>(&bytes, text::kNormalizer);
  step.c = HeaderOf(bytes).prefix_offset;
  step.d = kContent;
  const TextSection section(bytes);
  ASSERT_TRUE(section.ok()) << section.error();
  EXPECT_EQ(section.Encode(text).status.code, FOVEA_E_TEXT_DATA);

  EXPECT_EQ(Refused(PlainModel({{StepKind::kPrepend, 0, std::string(60, 'a')}})), "");
  EXPECT_NE(Refused(PlainModel({{StepKind::kPrepend, 0, std::string(65, 'a')}})), "");
}

// Character maps: strings without an end, and clusters without one.
TEST(LinearText, CharacterMaps) {
  for (const StepKind kind : {StepKind::kCharsmapGraphemes, StepKind::kCharsmapSentencePiece}) {
    tools::TextModel model = PlainModel({{kind}});
    const std::vector<uint32_t> trie = tools::BuildTrie({{"a", 0}});
    const uint32_t size = static_cast<uint32_t>(4 * trie.size());
    model.charsmap.assign(reinterpret_cast<const char*>(&size), 4);
    model.charsmap.append(reinterpret_cast<const char*>(trie.data()), size);
    model.charsmap += std::string("b\0", 2) + std::string(1 << 22, 'b');
    std::vector<uint8_t> bytes = tools::WriteTextSection(model);
    EXPECT_EQ(Count(TextSection(bytes), Repeat("a ", kLong)), kLong / 2);
    // A letter with marks that never end.
    std::string marks = "a";
    while (marks.size() < kLong) marks += "\u0301";
    EXPECT_EQ(Count(TextSection(bytes), marks), 1u);
    TableOf<char>(&bytes, text::kCharsmapStrings)[1] = 'b';
    const TextSection section(bytes);
    ASSERT_TRUE(section.ok()) << section.error();
    EXPECT_EQ(section.Encode(Repeat("a ", kLong)).status.code, FOVEA_E_TEXT_DATA);
  }
}

// Marks of hundreds of classes, which no real table has, in one run.
TEST(LinearText, CanonicalOrder) {
  nlohmann::json json = WordPieceJson();
  json["normalizer"] = {{"type", "NFD"}};
  std::vector<uint8_t> bytes = SectionOf(json);
  std::string text = "a";
  while (text.size() < kLong) text += "\u0301\u0316\u0327\u05b0\u0345";
  EXPECT_EQ(Count(TextSection(bytes), text), 1u);
  const uint32_t entries = HeaderOf(bytes).tables[text::kCombining].size / 4;
  for (const uint32_t classes : {254u, 2000u}) {
    std::vector<uint8_t> bad = bytes;
    uint32_t* table = TableOf<uint32_t>(&bad, text::kCombining);
    std::string marks;
    for (uint32_t i = 0; i < entries; ++i) {
      uint8_t mark[4];
      const uint32_t code = table[i] >> 11;
      table[i] = code << 11 | (classes - i % classes);
      const uint32_t size = text::WriteChar(code, mark);
      marks.append(reinterpret_cast<const char*>(mark), size);
    }
    const TextSection section(bad);
    ASSERT_TRUE(section.ok()) << section.error();
    EXPECT_GT(Count(section, Repeat(marks, kLong)), 0u);
  }
}

TEST(LinearText, OneStepOfThePreTokenizerWrites) {
  tools::TextModel model = PlainModel();
  tools::TextStep marks{StepKind::kMetaspace, text::kMetaspacePrependForce | text::kMetaspaceSplit, "_"};
  model.pre_tokenizer = {{StepKind::kSplitWhitespace}, marks};
  EXPECT_EQ(Refused(model), "");
  model.pre_tokenizer.assign(16, marks);  // each doubles the words
  EXPECT_NE(Refused(model).find("more than one step"), std::string::npos);
  model.pre_tokenizer = {marks, {StepKind::kByteLevel, text::kByteLevelPrefixSpace}};
  EXPECT_NE(Refused(model).find("more than one step"), std::string::npos);
}

TEST(LinearText, Decoding) {
  for (nlohmann::json json : {WordPieceJson(), UnigramJson(), BytePairJson()}) {
    const TextSection section(SectionOf(json));
    const std::vector<int32_t> ids(kLong, 5);
    uint64_t size = 0;
    for (const size_t capacity : {size_t{0}, 16 * kLong}) {
      std::vector<uint8_t> out(capacity);
      Reporter reporter(nullptr);
      const Status status = text::Decode(section.tokenizer(), ids.data(), ids.size(), {false, true}, reporter,
                                         out.data(), out.size(), &size);
      EXPECT_EQ(status.code, capacity == 0 ? FOVEA_E_CAPACITY : FOVEA_OK);
      EXPECT_GE(size, kLong);
    }
  }
  // A few ids cannot decode to a text out of all proportion.
  tools::TextModel model = PlainModel();
  model.tokens.push_back({std::string(4096, 'a')});
  EXPECT_EQ(Refused(model), "");
  model.tokens.push_back({std::string(4097, 'a')});
  EXPECT_NE(Refused(model).find("a piece is too long"), std::string::npos);
}

}  // namespace
}  // namespace fovea::test
