// Vocabularies of single characters, as descriptions name them, against a table walked character by character; and
// vocab.txt without the tokens that a text does not need.
#include "tests/support/characters.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "tests/text/text_fixture.h"
#include "tools/base/fail.h"
#include "tools/base/json.h"
#include "tools/convert/text/build.h"

namespace fovea::test {
namespace {

using Ids = std::vector<int>;
using tools::Json;

// A folder with one file, and the section that a description makes of it.
std::vector<uint8_t> Bytes(const std::string& name, const std::string& content, const Json& description) {
  const std::filesystem::path folder = testing::TempDir() + "/characters-" + std::to_string(getpid());
  std::filesystem::create_directories(folder);
  std::ofstream(folder / name) << content;
  const auto remove = [&](const std::vector<uint8_t>& bytes) {
    std::filesystem::remove_all(folder);
    return bytes;
  };
  try {
    return remove(tools::BuildTextSection(folder, description));
  } catch (const tools::Failure&) {
    remove({});
    throw;
  }
}

Json Description(Json more = Json::object()) {
  Json description = {{"type", "characters"}, {"file", "characters.json"}};
  description.update(more);
  return description;
}

std::vector<uint8_t> CharacterBytes(const Json& table, const Json& more = Json::object()) {
  return Bytes("characters.json", table.dump(), Description(more));
}

std::string Refusal(const Json& table, const Json& more) {
  try {
    CharacterBytes(table, more);
  } catch (const tools::Failure& failure) {
    return failure.what();
  }
  return "nothing was refused";
}

// A plain table, without entries for unknown characters.
struct Plain {
  std::map<std::string, int> ids;
  int unknown = -1;  // -1: they are left out
  bool each = false;
  Ids before = {}, after = {};

  Ids operator()(const std::string& text) const {
    Ids made = before;
    bool last_unknown = false;
    for (const std::string& character : Characters(text)) {
      const auto found = ids.find(character);
      const bool known = found != ids.end();
      if (known) made.push_back(found->second);
      if (!known && unknown >= 0 && (each || !last_unknown)) made.push_back(unknown);
      last_unknown = !known;
    }
    made.insert(made.end(), after.begin(), after.end());
    return made;
  }
};

const char* const kTexts[] = {
    "",    "a",     "abba",         "a b",          "axxb",           "xx", "<pad>a[UNK]<s>", "\n\t",
    "ééa", "中x中", "\U0001f600ab", "x\U0001f600x", "</s>bb\xcc\x81", "ba<"};

void ExpectSame(const std::vector<uint8_t>& bytes, const Plain& plain) {
  const TextSection section(bytes);
  ASSERT_TRUE(section.ok()) << section.error();
  for (const char* text : kTexts) EXPECT_EQ(section.Encode(text).ids, plain(text)) << text;
}

TEST(CharacterText, OfAListWithStartAndEnd) {
  const Json list = {"<pad>", "[UNK]", "<s>", "</s>", "a", "b", " ", "é", "中", "\t"};
  const Plain plain = {{{"a", 4}, {"b", 5}, {" ", 6}, {"é", 7}, {"中", 8}, {"\t", 9}}, 1, true, {2}, {3}};
  const Json named = {{"start_token", "<s>"}, {"end_token", "</s>"}, {"unknown", "each"}};
  ExpectSame(CharacterBytes(list, named), plain);
  ExpectSame(CharacterBytes(list, {{"start_id", 2}, {"end_id", 3}, {"unknown", "each"}}), plain);
  Plain runs = plain;
  runs.each = false;
  runs.before = {};
  ExpectSame(CharacterBytes(list, {{"end_token", "</s>"}}), runs);
  const TextSection section(CharacterBytes(list, named));
  EXPECT_EQ(section.tokenizer().header.pad_id, 0u);
  const Encoded encoded = section.Encode("axb");
  EXPECT_EQ(encoded.special, (Ids{1, 0, 0, 0, 1}));
  EXPECT_EQ(section.Decode(encoded.ids), "ab");
  EXPECT_EQ(section.Decode({4, 6, 7, 8}), "a é中");
}

TEST(CharacterText, OfAnObjectWithGaps) {
  const Json object = {{"a", 3}, {"b", 11}, {"é", 2}, {"*", 1}, {"_", 0}, {"?", 7}};
  const Plain plain = {{{"a", 3}, {"b", 11}, {"é", 2}, {"*", 1}, {"?", 7}}, 7, true};
  ExpectSame(CharacterBytes(object, {{"pad_token", "_"}, {"unknown_token", "?"}, {"unknown", "each"}}), plain);
  // Unless another token is named, unknown characters become padding, which no text contains.
  ExpectSame(CharacterBytes(object, {{"pad_id", 0}, {"unknown", "each"}}), {plain.ids, 0, true});
  ExpectSame(CharacterBytes({{"source", object}}, {{"key", "source"}, {"pad_id", 0}}), {plain.ids, 0, false});
  // Unknown characters are dropped; characters of the vocabulary mark the start and the end of a text.
  ExpectSame(CharacterBytes(object, {{"unknown", "none"}, {"start_token", "a"}, {"end_token", "_"}}),
             {{{"b", 11}, {"é", 2}, {"*", 1}, {"?", 7}}, -1, false, {3}, {0}});
  // A token found by name may have any name, and an id without a character can be padding.
  ExpectSame(CharacterBytes({"PAD", "UNK", "a", "b"}, {{"pad_token", "PAD"}, {"unknown_token", "UNK"}}),
             {{{"a", 2}, {"b", 3}}, 1, false});
  ExpectSame(CharacterBytes({{"a", 1}, {"b", 2}}, {{"pad_id", 0}}), {{{"a", 1}, {"b", 2}}, 0, false});
  // An id that is reserved for padding has no name.
  ExpectSame(CharacterBytes({"", "[UNK]", "a", "b"}, {{"pad_id", 0}}), {{{"a", 2}, {"b", 3}}, 1, false});
}

TEST(CharacterText, InLowerCase) {
  const Json list = {"<unk>", "a", "é", "ß", "i", "\xcc\x87", "ы", "σ"};
  const TextSection section(CharacterBytes(list, {{"lower_case", true}, {"unknown", "each"}}));
  ASSERT_TRUE(section.ok()) << section.error();
  EXPECT_EQ(section.Encode("AaÉéẞ").ids, (Ids{1, 1, 2, 2, 3}));
  EXPECT_EQ(section.Encode("ЫΣ!Σ").ids, (Ids{6, 7, 0, 7}));
  EXPECT_EQ(section.Encode("İI").ids, (Ids{4, 5, 4}));
  const TextSection as_it_is(CharacterBytes(list, {{"unknown", "each"}}));
  EXPECT_EQ(as_it_is.Encode("AaÉ").ids, (Ids{0, 1, 0}));
}

TEST(CharacterText, RefusesByName) {
  const Json list = {"<pad>", "a", "b"};
  const auto said = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  };
  said(Refusal(list, {{"end_token", "</s>"}}), "tokenizer: end_token \"</s>\" is not in ");
  said(Refusal(list, {{"pad_id", 0}, {"pad_token", "<pad>"}}), "pad_id and pad_token are one too many");
  said(Refusal(list, {{"start_id", 3}}), "tokenizer: start_id must be a whole number from 0 to 2, not 3");
  said(Refusal(list, {{"unknown", "some"}}), "tokenizer: unknown must be run, each or none, not \"some\"");
  said(Refusal(list, {{"unknown", "none"}, {"unknown_id", 1}}), "goes without unknown_id");
  said(Refusal(list, {{"upper_case", true}}), "tokenizer key \"upper_case\" is not known");
  said(Refusal(list, {{"lower_case", 1}}), "tokenizer: lower_case must be true or false");
  said(Refusal({"a", "b"}, Json::object()), "neither pad_id nor unknown_id");
  said(Refusal({"<pad>", "a", "a"}, Json::object()), "\"a\" is listed twice");
  said(Refusal({"<pad>", "ab"}, Json::object()), "\"ab\" is not one character");
  said(Refusal({"ab", "a"}, {{"pad_id", 0}}), "\"ab\" is not one character");
  said(Refusal({"<pad>", ""}, Json::object()), "\"\" is not one character");
  said(Refusal({{"<pad>", 0}, {"a", 1}, {"b", 1}}, Json::object()), "the id of \"b\" is that of \"a\" as well");
  said(Refusal({{"<pad>", 0}, {"a", -1}}, Json::object()), "the id of \"a\" must be a whole number from 0 to");
  said(Refusal({{"<pad>", 0}, {"a", 1 << 20}}, Json::object()), "the id of \"a\" must be a whole number from 0 to");
  said(Refusal(Json::object(), Json::object()), "has no characters");
  said(Refusal(7, Json::object()), "must be a list");
}

Json WordPiece(Json more = Json::object()) {
  Json description = {{"type", "wordpiece"}, {"file", "vocab.txt"}};
  description.update(more);
  return description;
}

TEST(VocabularyText, NeedsOnlyWhatTextsNeed) {
  const TextSection without_mask(Bytes("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\n##re\n", WordPiece()));
  ASSERT_TRUE(without_mask.ok()) << without_mask.error();
  EXPECT_EQ(without_mask.Encode("the there x").ids, (Ids{2, 4, 4, 5, 1, 3}));
  EXPECT_EQ(without_mask.tokenizer().header.pad_id, 0u);
  const TextSection bare(
      Bytes("vocab.txt", "[UNK]\nthe\n##re\n[SEP]\n", WordPiece({{"cls_token", ""}, {"sep_token", ""}})));
  ASSERT_TRUE(bare.ok()) << bare.error();
  EXPECT_EQ(bare.Encode("the there x").ids, (Ids{1, 1, 2, 0}));
  const TextSection ended(Bytes("vocab.txt", "[UNK]\nthe\n##re\n[SEP]\n", WordPiece({{"cls_token", ""}})));
  EXPECT_EQ(ended.Encode("the there x").ids, (Ids{1, 1, 2, 0, 3}));
  const std::string second = "the";
  EXPECT_EQ(ended.Encode("there", &second, {}).ids, (Ids{1, 2, 3, 1, 3}));

  const auto refusal = [](const std::string& lines, const Json& more) -> std::string {
    try {
      Bytes("vocab.txt", lines, WordPiece(more));
    } catch (const tools::Failure& failure) {
      return failure.what();
    }
    return "nothing was refused";
  };
  EXPECT_EQ(refusal("[UNK]\nthe\n[SEP]\n", Json::object()), "vocab.txt has no \"[CLS]\" (cls_token; \"\": none)");
  EXPECT_EQ(refusal("[CLS]\nthe\n[SEP]\n", Json::object()), "vocab.txt has no \"[UNK]\" (unk_token; \"\": none)");
  EXPECT_EQ(refusal("[UNK]\n[CLS]\n[SEP]\n", {{"mask_token", "<mask>"}}),
            "vocab.txt has no \"<mask>\" (mask_token; \"\": none)");
  EXPECT_EQ(refusal("[UNK]\n[CLS]\n[SEP]\n", {{"unk_token", ""}}),
            "vocab.txt: without unk_token nothing stands for unknown words");
}

}  // namespace
}  // namespace fovea::test
