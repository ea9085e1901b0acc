// Encoding and decoding with small tokenizers whose results can be worked out by hand.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/text/fixtures.h"
#include "tests/text/text_fixture.h"
#include "tools/base/fail.h"
#include "tools/convert/text/build.h"

namespace fovea::test {
namespace {

using Ids = std::vector<int>;
using Ranges = std::vector<std::pair<uint32_t, uint32_t>>;

class WordPieceText : public testing::Test {
 protected:
  WordPieceText() { EXPECT_TRUE(section_.ok()) << section_.error(); }
  Ids Plain(const std::string& text) { return section_.Encode(text, false).ids; }
  static const TextSection& Section() {
    static const TextSection section(SectionOf(WordPieceJson()));
    return section;
  }
  const TextSection& section_ = Section();
};

TEST_F(WordPieceText, LongestPiecesFromTheLeft) {
  EXPECT_EQ(Plain("unaffable"), (Ids{6, 7, 8}));
  EXPECT_EQ(Plain("the cafes"), (Ids{5, 9, 10}));
  EXPECT_EQ(Plain("abb"), (Ids{22, 17}));
  EXPECT_EQ(Plain("unknown the"), (Ids{1, 5}));  // no pieces: the whole word is unknown
  EXPECT_EQ(Plain("abbbbbbbbb"), (Ids{22, 17, 17, 17, 17, 17, 17, 17, 17}));
  EXPECT_EQ(Plain("abbbbbbbbbb"), (Ids{1}));  // longer than ten characters
  EXPECT_EQ(section_.Encode("the").ids, (Ids{2, 5, 3}));
}

TEST_F(WordPieceText, Normalization) {
  EXPECT_EQ(Plain("THE CAFÉ"), (Ids{5, 9}));
  EXPECT_EQ(Plain("cafe\xcc\x81"), (Ids{9}));  // combining acute
  EXPECT_EQ(Plain("中文"), (Ids{18, 19}));     // ideographs are words
  EXPECT_EQ(Plain("don't,the."), (Ids{20, 13, 14, 11, 5, 12}));
  EXPECT_EQ(Plain(std::string("t\0h\x01"
                              "e",
                              5)),
            Plain("the"));
  EXPECT_EQ(Plain("\t\n\xc2\xa0\xe2\x80\xa8 "), Ids{});
  EXPECT_EQ(Plain(""), Ids{});
}

TEST_F(WordPieceText, RangesAreBytesOfTheText) {
  const Encoded e = section_.Encode("CAFÉs 中 <L>.", true);
  EXPECT_EQ(e.ids, (Ids{2, 9, 10, 18, 24, 12, 3}));
  EXPECT_EQ(e.ranges, (Ranges{{0, 0}, {0, 5}, {5, 6}, {7, 10}, {10, 14}, {14, 15}, {0, 0}}));
  EXPECT_EQ(e.special, (Ids{1, 0, 0, 0, 0, 0, 1}));
}

TEST_F(WordPieceText, AddedTokens) {
  EXPECT_EQ(Plain("a[MASK]b"), (Ids{15, 4, 16}));
  EXPECT_EQ(Plain("a <R>  b"), (Ids{15, 25, 16}));
  EXPECT_EQ(Plain("word"), (Ids{26}));
  EXPECT_EQ(Plain("a word."), (Ids{15, 26, 12}));
  EXPECT_EQ(Plain("swords"), (Ids{1}));                // not a whole word
  EXPECT_EQ(Plain("élan ELAN a"), (Ids{27, 27, 15}));  // found after normalization
}

// As encode_special_tokens of the tokenizers library: special tokens are cut like other text, further tokens are not.
TEST_F(WordPieceText, SpecialTokensAsText) {
  text::EncodeOptions options;
  const auto encode = [&](const std::string& text) { return section_.Encode(text, nullptr, options).ids; };
  EXPECT_EQ(encode("a[SEP]b <R> word élan"), (Ids{2, 15, 3, 16, 25, 26, 27, 3}));
  options.literal = true;
  EXPECT_EQ(encode("a[SEP]b <R> word élan"), (Ids{2, 15, 1, 1, 1, 16, 25, 26, 27, 3}));
  EXPECT_EQ(encode("<L>"), (Ids{2, 1, 1, 1, 3}));  // <, L and > are no pieces
  const std::string first = "a", second = "[SEP]";
  EXPECT_EQ(section_.Encode(first, &second, options).ids, (Ids{2, 15, 3, 1, 1, 1, 3}));
}

TEST_F(WordPieceText, PairsAndTruncation) {
  const std::string a = "a b a b a", b = "the the";
  Encoded e = section_.Encode(a, &b, {});
  EXPECT_EQ(e.ids, (Ids{2, 15, 16, 15, 16, 15, 3, 5, 5, 3}));
  EXPECT_EQ(e.types, (Ids{0, 0, 0, 0, 0, 0, 0, 1, 1, 1}));
  text::EncodeOptions options;
  options.max_length = 7;
  e = section_.Encode(a, &b, options);
  EXPECT_EQ(e.ids, (Ids{2, 15, 16, 3, 5, 5, 3}));
  EXPECT_EQ(e.result.tokens[0], 5u);
  EXPECT_EQ(e.result.tokens[1], 2u);
  options.from_left = true;
  EXPECT_EQ(section_.Encode(a, &b, options).ids, (Ids{2, 16, 15, 3, 5, 5, 3}));
  options.truncation = text::Truncation::kOnlySecond;
  EXPECT_EQ(section_.Encode(a, &b, options).status.code, FOVEA_E_LENGTH);
  options.max_length = 2;
  EXPECT_EQ(section_.Encode(a, &b, options).status.code, FOVEA_E_OPTION);

  text::EncodeOptions windows;
  windows.max_length = 4;
  windows.stride = 1;
  Ids all;
  for (windows.window = 0; windows.window < 4; ++windows.window) {
    e = section_.Encode("a b the a b", nullptr, windows);
    EXPECT_EQ(e.result.windows, 4u);
    all.insert(all.end(), e.ids.begin(), e.ids.end());
  }
  EXPECT_EQ(all, (Ids{2, 15, 16, 3, 2, 16, 5, 3, 2, 5, 15, 3, 2, 15, 16, 3}));
  EXPECT_EQ(section_.Encode("a b the a b", nullptr, windows).status.code, FOVEA_E_INDEX);
  windows.stride = 2;
  EXPECT_EQ(section_.Encode("a b the a b", nullptr, windows).status.code, FOVEA_E_OPTION);
  windows.stride = windows.window = 0;
  windows.max_length = 2;
  EXPECT_EQ(section_.Encode("a b", nullptr, windows).ids, (Ids{2, 3}));
}

TEST_F(WordPieceText, CapacityAndErrors) {
  const std::string text = "the cafes";
  Encoded e = section_.Encode(text, nullptr, {}, 4);
  EXPECT_EQ(e.status.code, FOVEA_E_CAPACITY);
  EXPECT_EQ(e.error.expected, 5u);
  EXPECT_TRUE(section_.Encode(text, nullptr, {}, 5).status.ok());
  e = section_.Encode("ab\xff the");
  EXPECT_EQ(e.status.code, FOVEA_E_UTF8);
  EXPECT_EQ(e.error.index, 2u);
  for (const char* bad : {"a\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80"}) {
    EXPECT_EQ(section_.Encode(bad).status.code, FOVEA_E_UTF8) << bad;
  }
  // U+FFFD itself is valid.
  EXPECT_TRUE(section_.Encode("\xef\xbf\xbd").status.ok());

  const uint64_t needed = text::ScratchSize(section_.tokenizer(), 3);
  std::vector<uint8_t> memory(needed + 128);
  uint8_t* const aligned = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64);
  fovea_error error;
  Reporter reporter(&error);
  text::TokenArrays arrays;
  text::EncodeResult result;
  const text::TextInput input{reinterpret_cast<const uint8_t*>("the"), 3};
  const auto encode = [&](uint8_t* scratch, uint64_t size) {
    const text::EncodeRequest request = {section_.tokenizer(), {input, {}}, 1, {}, scratch, size};
    return text::Encode(request, reporter, &arrays, &result);
  };
  EXPECT_EQ(encode(aligned, needed - 1).code, FOVEA_E_TOO_SMALL);
  EXPECT_EQ(error.expected, needed);
  EXPECT_EQ(encode(aligned + 1, needed).code, FOVEA_E_MISALIGNED);
  EXPECT_EQ(text::ScratchSize(section_.tokenizer(), UINT64_MAX), UINT64_MAX);
}

TEST_F(WordPieceText, Decode) {
  EXPECT_EQ(section_.Decode({2, 6, 7, 8, 11, 5, 12, 3}), "unaffable, the.");
  EXPECT_EQ(section_.Decode({2, 5, 3}, false), "[CLS] the [SEP]");
  EXPECT_EQ(section_.Decode({10, 10}), "##ss");
  EXPECT_EQ(section_.Decode({20, 13, 14}), "don ' t");
  EXPECT_EQ(section_.Decode({20, 13, 14}, true, true), "don't");
  fovea_error error;
  Reporter reporter(&error);
  const int32_t bad[] = {5, 28};
  uint64_t size = 0;
  uint8_t out[3];
  EXPECT_EQ(text::Decode(section_.tokenizer(), bad, 2, {}, reporter, out, 3, &size).code, FOVEA_E_ID);
  EXPECT_EQ(error.index, 1u);
  EXPECT_EQ(text::Decode(section_.tokenizer(), bad, 1, {}, reporter, out, 2, &size).code, FOVEA_E_CAPACITY);
  EXPECT_EQ(error.expected, 3u);
  EXPECT_TRUE(text::Decode(section_.tokenizer(), bad, 1, {}, reporter, out, 3, &size).ok());
}

class UnigramText : public testing::Test {
 protected:
  UnigramText() { EXPECT_TRUE(section_.ok()) << section_.error(); }
  Ids Plain(const std::string& text) { return section_.Encode(text, false).ids; }
  static const TextSection& Section() {
    static const TextSection section(SectionOf(UnigramJson()));
    return section;
  }
  const TextSection& section_ = Section();
};

TEST_F(UnigramText, BestPath) {
  EXPECT_EQ(Plain("a"), (Ids{7}));
  EXPECT_EQ(Plain("ab"), (Ids{3, 6}));    // -2 - 4 ties with -2.5 - 3.5: the longer last piece comes first
  EXPECT_EQ(Plain("abc"), (Ids{7, 10}));  // -2.5 - 4
  EXPECT_EQ(Plain("a a"), (Ids{7, 7}));
  EXPECT_EQ(Plain("a   b"), (Ids{7, 3, 5}));  // runs of spaces shrink
  EXPECT_EQ(Plain("xyz"), (Ids{3, 2}));       // a run of unknown characters is one token
  EXPECT_EQ(Plain("axb"), (Ids{7, 2, 5}));
  EXPECT_EQ(section_.Encode("a").ids, (Ids{7, 1}));
  EXPECT_EQ(Plain("a<pad>b"), (Ids{7, 0, 3, 5}));
}

TEST_F(UnigramText, CompositionAndCompatibility) {
  EXPECT_EQ(Plain("e\xcc\x81"), (Ids{3, 11}));                // e + acute composes
  EXPECT_EQ(Plain("\xc3\x89"), (Ids{3, 11}));                 // É
  EXPECT_EQ(Plain("\xef\xbc\xa1\xe2\x91\xa1"), (Ids{7, 2}));  // full-width A, circled 2
  // Marks of two classes in either order.
  EXPECT_EQ(Plain("e\xcc\x81\xcc\xa3"), Plain("e\xcc\xa3\xcc\x81"));
  EXPECT_EQ(Plain("\xe1\x84\x80\xe1\x85\xa1"), Plain("\xea\xb0\x80"));  // Hangul
  const Encoded e = section_.Encode("ab e\xcc\x81", false);
  EXPECT_EQ(e.ids, (Ids{3, 6, 3, 11}));
  EXPECT_EQ(e.ranges, (Ranges{{0, 1}, {0, 2}, {2, 3}, {3, 4}}));
}

TEST_F(UnigramText, Decode) {
  EXPECT_EQ(section_.Decode({7, 7, 6, 1}), "a aab");
  EXPECT_EQ(section_.Decode({7, 1}, false), "a</s>");
}

TEST(BytePairText, Merges) {
  const TextSection section(SectionOf(BytePairJson()));
  ASSERT_TRUE(section.ok()) << section.error();
  const auto plain = [&](const std::string& text) { return section.Encode(text, false).ids; };
  EXPECT_EQ(plain("hello"), (Ids{9}));
  EXPECT_EQ(plain(" hello hello"), (Ids{9, 9}));
  EXPECT_EQ(plain("hell"), (Ids{4, 7}));
  EXPECT_EQ(plain("lll"), (Ids{4, 6, 2}));  // the leftmost of equal merges first
  EXPECT_EQ(plain("h\xc3\xa9l"), (Ids{4, 0, 12, 13, 2}));
  EXPECT_EQ(plain("hzl"), (Ids{4, 0, 2}));
  EXPECT_EQ(plain(""), Ids{});
  EXPECT_EQ(plain("  hello"), (Ids{4, 9}));  // the last space belongs to the word
  const Encoded e = section.Encode("hello hello <mask>");
  EXPECT_EQ(e.ids, (Ids{10, 9, 9, 14, 11}));
  EXPECT_EQ(e.ranges, (Ranges{{0, 0}, {0, 5}, {6, 11}, {12, 18}, {0, 0}}));
  const std::string b = "h";
  EXPECT_EQ(section.Encode("l", &b, {}).ids, (Ids{10, 4, 2, 11, 11, 4, 0, 11}));
  EXPECT_EQ(section.Decode({9, 12, 13, 12, 0, 10}), " hello\xc3\xa9\xef\xbf\xbdh");
}

TEST(CharacterPairText, MergesPatternsAndBytes) {
  const TextSection section(SectionOf(CharacterPairsJson()));
  ASSERT_TRUE(section.ok()) << section.error();
  const auto plain = [&](const std::string& text) { return section.Encode(text, false).ids; };
  EXPECT_EQ(plain("hello"), (Ids{16}));
  EXPECT_EQ(plain("hello hello"), (Ids{16, 16}));
  EXPECT_EQ(plain("lllo"), (Ids{3, 13, 17}));
  EXPECT_EQ(plain("1212's"), (Ids{3, 20, 10, 11, 19}));
  EXPECT_EQ(plain("\xc3\xa9"), (Ids{3, 21 + 0xc3, 21 + 0xa9}));
  EXPECT_EQ(plain("h\t\th"), (Ids{3, 4, 21 + '\n', 4}));
  EXPECT_EQ(plain("h\n\nh"), (Ids{3, 4, 2, 3, 4}));  // each stretch begins with a mark
  const Encoded e = section.Encode("hello \xc3\xa9", true);
  EXPECT_EQ(e.ids, (Ids{1, 16, 3, 21 + 0xc3, 21 + 0xa9}));
  EXPECT_EQ(e.ranges, (Ranges{{0, 0}, {0, 5}, {5, 6}, {6, 8}, {6, 8}}));
  EXPECT_EQ(section.Decode(e.ids), "hello \xc3\xa9");
  EXPECT_EQ(section.Decode({3, 3, 4}), " h");
}

// Bytes that are not valid UTF-8 become one U+FFFD each; the bytes before and after stay.
TEST(CharacterPairText, BytesThatAreNoText) {
  const TextSection section(SectionOf(CharacterPairsJson()));
  const auto byte = [](int value) { return 21 + value; };
  const std::string lost = "\xef\xbf\xbd";
  const std::pair<Ids, std::string> cases[] = {
      {{byte(0xe4), byte(0xb8), byte(0xad)}, "\xe4\xb8\xad"},
      {{byte(0xe4), byte(0xb8), 4}, lost + lost + "h"},
      {{byte(0xe4), byte(0xb8), byte('a')}, lost + lost + "a"},
      {{byte(0xff), byte(0xc3), byte(0xa9)}, lost + "\xc3\xa9"},
      {{byte(0xf0), byte(0x9f), byte(0x98)}, lost + lost + lost},
      {{byte(0xe4), 1, byte(0xb8), byte(0xad)}, "\xe4\xb8\xad"},  // what is not written is not there
  };
  for (const auto& [ids, text] : cases) {
    EXPECT_EQ(section.Decode(ids), text);
    for (size_t count = 1; count < 4; ++count) EXPECT_EQ(section.DecodeInParts(ids, count), text);
  }
}

// Different ways to make one piece share a record where they are equal, and have a record each where not.
TEST(CharacterPairText, MergesAreShort) {
  const auto records = [](const nlohmann::json& json) {
    const std::vector<uint8_t> section = SectionOf(json);
    text::Header header;
    std::memcpy(&header, section.data(), sizeof(header));
    return header.tables[text::kMerges].size / sizeof(text::Merge);
  };
  nlohmann::json json = CharacterPairsJson();
  EXPECT_EQ(json["model"]["merges"].size(), 11u);
  EXPECT_EQ(records(json), 10u);  // "he llo" and "hell o" are one, "ll o" and "l lo" are not: the larger id comes first
  json["model"]["merges"] = {"h e", "l l", "l o", "l lo", "ll o", "he ll"};
  EXPECT_EQ(records(json), 5u);
  json["model"]["merges"] = {"h e", "l l", "l o", "l lo", "he ll", "ll o"};
  EXPECT_EQ(records(json), 6u);  // another one comes between
}

// The mask token is found by its usual names, or by the name in the tokenizer's configuration.
TEST(ReadTokenizer, MaskToken) {
  EXPECT_EQ(TextSection(SectionOf(WordPieceJson())).tokenizer().mask_id, 4u);
  EXPECT_EQ(TextSection(SectionOf(BytePairJson())).tokenizer().mask_id, 14u);
  EXPECT_EQ(TextSection(SectionOf(UnigramJson())).tokenizer().mask_id, text::kNoId);
  const std::filesystem::path folder = testing::TempDir() + "fovea_mask_token";
  const auto write = [&](const char* file, const std::string& text) { std::ofstream(folder / file) << text; };
  std::filesystem::create_directories(folder);
  write("tokenizer.json", WordPieceJson().dump());
  for (const char* config : {R"({"mask_token": "<L>"})", R"({"mask_token": {"content": "<L>"}})"}) {
    write("tokenizer_config.json", config);
    EXPECT_EQ(TextSection(tools::BuildTextSection(folder, {}, 0)).tokenizer().mask_id, 24u) << config;
  }
  std::filesystem::remove(folder / "tokenizer.json");
  write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\n[MASK]\n");
  write("tokenizer_config.json", "{}");
  EXPECT_EQ(TextSection(tools::BuildTextSection(folder, {}, 0)).tokenizer().mask_id, 5u);
  std::filesystem::remove_all(folder);
}

TEST(ReadTokenizer, RefusesByName) {
  const auto message = [](const nlohmann::json& json) -> std::string {
    try {
      SectionOf(json);
    } catch (const tools::Failure& failure) {
      return failure.what();
    }
    return "";
  };
  EXPECT_EQ(message(WordPieceJson()), "");
  nlohmann::json json = WordPieceJson();
  json["normalizer"] = {{"type", "ByteLevel"}};
  EXPECT_NE(message(json).find("\"ByteLevel\""), std::string::npos);
  json = WordPieceJson();
  json["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {{{"type", "UnicodeScripts"}}}}};
  EXPECT_NE(message(json).find("\"UnicodeScripts\""), std::string::npos);
  json = WordPieceJson();
  json["model"]["type"] = "WordCount";
  EXPECT_NE(message(json).find("\"WordCount\""), std::string::npos);
  json = WordPieceJson();
  json["decoder"] = {{"type", "CTC"}};
  EXPECT_NE(message(json).find("\"CTC\""), std::string::npos);
  json = WordPieceJson();
  json["model"]["unk_token"] = "<nothing>";
  EXPECT_NE(message(json).find("<nothing>"), std::string::npos);
  json = CharacterPairsJson();
  json["decoder"]["decoders"][3]["stop"] = 1;
  EXPECT_NE(message(json).find("decoder.decoders[3] at the end of a text"), std::string::npos) << message(json);
  json["decoder"] = {{"type", "Sequence"}, {"decoders", {{{"type", "ByteLevel"}}, {{"type", "Fuse"}}}}};
  EXPECT_NE(message(json).find("\"ByteLevel\""), std::string::npos) << message(json);
  json = CharacterPairsJson();
  json["model"]["merges"].push_back("h nothing");
  EXPECT_NE(message(json).find("\"nothing\""), std::string::npos);
  json = CharacterPairsJson();
  json["pre_tokenizer"]["behavior"] = "Doubled";
  EXPECT_NE(message(json).find("\"Doubled\""), std::string::npos);
  json = CharacterPairsJson();
  json["post_processor"] = {{"type", "Sequence"}, {"processors", {json["post_processor"], json["post_processor"]}}};
  EXPECT_NE(message(json).find("two templates"), std::string::npos);
  json = BytePairJson();
  json["decoder"] = {{"type", "Fuse"}};
  EXPECT_NE(message(json).find("needs the decoder ByteLevel"), std::string::npos);
  json = UnigramJson();
  json["normalizer"] = {{"type", "Replace"}, {"pattern", {{"Regex", "(a)\\1"}}}, {"content", ""}};
  EXPECT_NE(message(json).find("(a)\\1"), std::string::npos);
}

}  // namespace
}  // namespace fovea::test
