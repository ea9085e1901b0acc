// A damaged text section gives an error or a harmless result: every byte changed, every length, and random tables.
#include <gtest/gtest.h>

#include <random>

#include "tests/support/fewer_cases.h"
#include "tests/text/fixtures.h"
#include "tests/text/text_fixture.h"

namespace fovea::test {
namespace {

const std::string kTexts[] = {"The CAFÉ <L> word, 中文 don't ab\xcc\x81\xcc\xa3 unaffable[MASK]",
                              "a b  abc xyz \xea\xb0\x80\xe1\x84\x80\xe1\x85\xa1 \xef\xb7\xba e\xcc\xa3\xcc\x81",
                              "hello  hellohello lll \xc3\xa9 <mask>", "hello\t\thello's 12121\n\n \xe4\xb8\xad  ", ""};

// Opens the bytes in memory of exactly their size and, if that works, uses everything.
bool Try(const std::vector<uint8_t>& bytes) {
  const TextSection section(bytes);
  if (!section.ok()) return false;
  for (const std::string& text : kTexts) {
    section.Encode(text, &kTexts[0], {}, 256);
    const Encoded e = section.Encode(text, nullptr, {}, 256);
    if (!e.status.ok()) continue;
    for (int id : e.ids) EXPECT_LT(static_cast<uint32_t>(id), section.tokenizer().size());
    std::vector<uint8_t> out(4096);
    uint64_t size = 0;
    Reporter reporter(nullptr);
    const std::vector<int32_t> ids(e.ids.begin(), e.ids.end());
    const Status status = text::Decode(section.tokenizer(), ids.data(), ids.size(), {false, true}, reporter, out.data(),
                                       out.size(), &size);
    (void)status;
    text::DecodeState state = {};
    for (size_t i = 0; i <= ids.size(); ++i) {
      const Status next =
          text::DecodeNext(section.tokenizer(), ids.data() + std::min(i, ids.size() - 1), i < ids.size() ? 1 : 0, true,
                           i == ids.size(), &state, reporter, out.data(), out.size(), &size);
      (void)next;
    }
  }
  return true;
}

class Hostile : public testing::TestWithParam<nlohmann::json (*)()> {};

TEST_P(Hostile, EveryByteChanged) {
  const std::vector<uint8_t> good = SectionOf(GetParam()());
  ASSERT_TRUE(Try(good));
  std::mt19937 random(1);
  size_t opened = 0;
  // All of the header and steps; of the long tables of Unicode data a sample.
  for (size_t i = 0; i < good.size(); ++i) {
    if (i > 2048 && random() % (FewerCases() ? 64 : 16) != 0) continue;
    for (int flip : {0x01, 0x80, 0xff}) {
      std::vector<uint8_t> bad = good;
      bad[i] = static_cast<uint8_t>(bad[i] ^ flip);
      opened += Try(bad) ? 1 : 0;
    }
  }
  EXPECT_GT(opened, 0u);
}

TEST_P(Hostile, EveryTruncation) {
  const std::vector<uint8_t> good = SectionOf(GetParam()());
  for (size_t size = 0; size < good.size(); size += size < 1024 ? 1 : 61) {
    std::vector<uint8_t> bad(good.begin(), good.begin() + static_cast<long>(size));
    EXPECT_FALSE(Try(bad)) << size;
    // Also when the header agrees with the shorter size.
    if (size < sizeof(text::Header)) continue;
    const uint32_t shorter = static_cast<uint32_t>(size);
    std::memcpy(bad.data() + offsetof(text::Header, size), &shorter, 4);
    Try(bad);
  }
}

TEST_P(Hostile, RandomTables) {
  const std::vector<uint8_t> good = SectionOf(GetParam()());
  text::Header header;
  std::memcpy(&header, good.data(), sizeof(header));
  std::mt19937 random(2);
  for (const text::TableRef& table : header.tables) {
    for (int repeat = 0; repeat < 8 && table.size != 0; ++repeat) {
      std::vector<uint8_t> bad = good;
      for (uint32_t i = 0; i < table.size; ++i) bad[table.offset + i] = static_cast<uint8_t>(random());
      Try(bad);
    }
  }
}

// Byte-pair encoding of the first version had other tables.
TEST(HostileText, OlderVersions) {
  for (const nlohmann::json& json : {BytePairJson(), CharacterPairsJson()}) {
    std::vector<uint8_t> bytes = SectionOf(json);
    bytes[offsetof(text::Header, version)] = 1;
    Tokenizer tokenizer;
    fovea_error error = {};
    Reporter reporter(&error);
    std::vector<uint64_t> words((bytes.size() + 7) / 8);
    std::memcpy(words.data(), bytes.data(), bytes.size());
    const auto* data = reinterpret_cast<const uint8_t*>(words.data());
    EXPECT_EQ(Tokenizer::Open(data, bytes.size(), 0, reporter, &tokenizer).code, FOVEA_E_VERSION);
  }
  std::vector<uint8_t> bytes = SectionOf(WordPieceJson());
  bytes[offsetof(text::Header, version)] = 1;
  EXPECT_TRUE(TextSection(bytes).ok());
  bytes[offsetof(text::Header, version)] = 3;
  EXPECT_FALSE(TextSection(bytes).ok());
}

INSTANTIATE_TEST_SUITE_P(Text, Hostile,
                         testing::Values(&WordPieceJson, &UnigramJson, &BytePairJson, &CharacterPairsJson));

}  // namespace
}  // namespace fovea::test
