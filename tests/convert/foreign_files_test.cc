// Untrusted files: numbers out of range, wrong types, and short files that demand much work. Each quickly ends in one
// line that names file and key.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/convert/graph_support.h"
#include "tests/support/paths.h"
#include "tools/base/json.h"
#include "tools/base/mapped_file.h"
#include "tools/convert/convert.h"
#include "tools/convert/text/build.h"
#include "tools/convert/text/readers.h"
#include "tools/convert/text/trie_builder.h"

namespace fovea::tools {
namespace {

void ExpectSaid(const std::string& said, const std::string& part) {
  EXPECT_NE(said.find(part), std::string::npos) << said;
  EXPECT_EQ(said.find('\n'), std::string::npos) << said;
}

TEST(ForeignJson, NumbersHaveARange) {
  const auto whole = [](const char* value) {
    return RefusalOf([&] { WholeNumber(Json::parse(value), "file: key", {1, 9}); });
  };
  EXPECT_EQ(WholeNumber(Json::parse("9"), "file: key", {1, 9}), 9);
  for (const char* bad :
       {"0", "10", "-1", "1.7", "4294967297", "18446744073709551615", "1e300", "\"3\"", "null", "[3]"}) {
    EXPECT_EQ(whole(bad), "file: key must be a whole number from 1 to 9, not " + Json::parse(bad).dump());
  }
  ExpectSaid(RefusalOf([] { RealNumber(Json::parse("1e300"), "file: key"); }), "file: key must be a number from");
  EXPECT_EQ(RefusalOf([] { WholeNumberIn("1x", "key"); }),
            "key must be a whole number from 0 to 4294967295, not \"1x\"");
  EXPECT_EQ(WholeNumberIn("17", "key"), 17);
  for (const char* bad : {"", "-1", " 1", "99999999999999999999999999"}) {
    ExpectSaid(RefusalOf([&] { WholeNumberIn(bad, "key"); }), "key must be a whole number");
  }
}

TEST(ForeignJson, TextIsParsedWithLimits) {
  const auto parse = [](const std::string& text) { return RefusalOf([&] { ParseJson(text, "file"); }); };
  ExpectSaid(parse(std::string(100000, '[')), "file: nested more than 64 deep");
  EXPECT_EQ(parse(R"({"a": {"b": 1, "c": 2, "b": 3}})"), "file: b is listed twice");
  EXPECT_EQ(parse(R"({"a": {"b": 1}, "c": {"b": 3}})"), "nothing was refused");
  ExpectSaid(parse("{\"a\": \"\xff\"}"), "file: not JSON");
  ExpectSaid(parse("1e999"), "file: not JSON");
  ExpectSaid(parse("{\n\n!"), "file: not JSON");
  const std::string long_word = parse("{" + std::string(1 << 20, 'x'));
  EXPECT_LT(long_word.size(), 3000u);
  ExpectSaid(RefusalOf([] { Text(Json::parse(R"("a\u0000b")"), "file: key"); }),
             "file: key \"a\\u0000b\" contains a zero byte");
  EXPECT_EQ(RefusalOf([] { Fail("{}", std::string("a\0b\nc\xff", 6)); }), "a\\x00b\\nc\\xff");
}

TEST(ForeignJson, ViewsNameThePlace) {
  const Json json = Json::parse(R"({"model": {"vocab": [1, "x"], "size": "large"}})");
  const JsonView file(json, "file");
  EXPECT_EQ(file["model"]["vocab"].At(0).Number(), 1u);
  EXPECT_EQ(file["none"].Number({}, 7), 7u);
  ExpectSaid(RefusalOf([&] { file["model"]["vocab"].At(1).Number(); }), "file: model.vocab[1] must be a whole number");
  ExpectSaid(RefusalOf([&] { file["model"]["size"].Flag(); }), "file: model.size must be true or false, not \"large\"");
  ExpectSaid(RefusalOf([&] { file["none"]["x"]; }), "file: none must be an object, not null");
  ExpectSaid(RefusalOf([&] { file["model"]["vocab"].At(2); }), "file: model.vocab must have at least 3 elements");
}

// ---- tokenizers ----

std::string WordPiece(const std::string& id) {
  return R"({"model": {"type": "WordPiece", "unk_token": "a", "vocab": {"a": 0, "b": )" + id + "}}}";
}

std::string TokenizerRefusal(const std::string& text) {
  return RefusalOf([&] {
    const Json json = ParseJson(text, "tokenizer.json");
    WriteTextSection(ReadTokenizerJson({json, "tokenizer.json"}));
  });
}

TEST(ForeignTokenizer, IdsAreThoseOfATable) {
  EXPECT_EQ(TokenizerRefusal(WordPiece("1")), "nothing was refused");
  EXPECT_EQ(TokenizerRefusal(WordPiece("9")), "nothing was refused");  // a gap
  for (const char* id : {"-1", "4294967295", "60000000", "1.7", "4294967297", "\"1\"", "null"}) {
    EXPECT_EQ(
        TokenizerRefusal(WordPiece(id)),
        std::string("tokenizer.json: model.vocab: the id of \"b\" must be a whole number from 0 to 65540, not ") + id);
  }
  ExpectSaid(TokenizerRefusal(WordPiece("0")), "the id of \"b\" is that of \"a\" as well");
  ExpectSaid(TokenizerRefusal(R"({"model": {"type": "WordPiece", "unk_token": "a", "vocab": {"a": 0}},
      "added_tokens": [{"id": 4294967295, "content": "x"}]})"),
             "tokenizer.json: added_tokens[0].id must be a whole number");
  ExpectSaid(TokenizerRefusal(R"({"model": {"type": "Unigram", "unk_id": 7, "vocab": [["a", 0]]}})"),
             "tokenizer.json: model.unk_id must be a whole number from 0 to 0, not 7");
  ExpectSaid(TokenizerRefusal(R"({"model": {"type": "Unigram", "unk_id": 0, "vocab": [["a", 0], ["b"]]}})"),
             "tokenizer.json: model.vocab[1] must be a piece and its score");
  ExpectSaid(TokenizerRefusal(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [["a"]]}})"),
             "tokenizer.json: model.merges[0] must be a pair of pieces");
  ExpectSaid(TokenizerRefusal(R"({"model": 7})"), "tokenizer.json: model must be an object, not 7");
  ExpectSaid(TokenizerRefusal("[]"), "tokenizer.json must be an object");
  ExpectSaid(TokenizerRefusal(R"({"model": {"type": "WordPiece", "unk_token": "a", "vocab": {"a": 0}},
      "post_processor": {"type": "BertProcessing", "cls": ["a", 0], "sep": ["b", 1]}})"),
             "tokenizer.json: post_processor.sep[1] must be a whole number from 0 to 0, not 1");
}

TEST(ForeignTokenizer, WorkFollowsTheFile) {
  const std::string start = R"({"model": {"type": "WordPiece", "unk_token": "a", "vocab": {"a": 0}}, )";
  std::string steps;
  for (int i = 0; i < 2000; ++i) steps += std::string(i == 0 ? "" : ",") + R"({"type": "Lowercase"})";
  ExpectSaid(TokenizerRefusal(start + R"("normalizer": {"type": "Sequence", "normalizers": [)" + steps + "]}}"),
             "2000 text steps exceed the limit of 16");
  std::string items;
  for (int i = 0; i < 100; ++i) items += std::string(i == 0 ? "" : ",") + R"({"Sequence": {"id": "A"}})";
  ExpectSaid(TokenizerRefusal(start + R"("post_processor": {"type": "TemplateProcessing", "single": [)" + items +
                              R"(], "pair": [], "special_tokens": {}}})"),
             "post_processor.single has more than 64 parts");
}

TEST(ForeignTokenizer, ATrieThatComesBackToItselfIsDamaged) {
  // Every byte leads from the only node to itself.
  std::vector<uint32_t> units(256);
  for (uint32_t i = 0; i < units.size(); ++i) units[i] = i | i << 10;
  text::Trie trie;
  trie.units = units.data();
  trie.count = static_cast<uint32_t>(units.size());
  ExpectSaid(RefusalOf([&] { ListTrie(trie, text::kMaxCharsmapKey); }), "a character map");
}

TEST(ForeignTokenizer, LinesAreUtf8) {
  const Json none = Json::object();
  ExpectSaid(RefusalOf([&] { ReadVocabTxt("[PAD]\n\xff\n", {none, "config"}); }), "vocab.txt: line 2 is not UTF-8");
}

// ---- directories ----

class ForeignDirectory : public testing::Test {
 protected:
  void SetUp() override {
    golden_ = test::InData("hf/bert");
    directory_ = std::filesystem::path(testing::TempDir()) / ("foreign-" + std::to_string(getpid()));
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    std::filesystem::copy(golden_ / "model.safetensors", directory_ / "model.safetensors");
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string Refusal(const char* changes) {
    Json config = ReadJson((golden_ / "config.json").string());
    config.merge_patch(Json::parse(changes));
    return RefusalOfConfig(config.dump());
  }
  std::string RefusalOfConfig(const std::string& text) {
    WriteFile((directory_ / "config.json").string(), text.data(), text.size());
    return RefusalOf([&] { Warnings(); });
  }
  std::vector<std::string> Warnings() {
    ConvertOptions options;
    options.input = directory_.string();
    ConvertReport report;
    BuildBlob(Describe(options), options, report);
    return report.warnings;
  }

  std::filesystem::path golden_, directory_;
};

TEST_F(ForeignDirectory, NumbersOfAConfiguration) {
  EXPECT_EQ(Refusal("{}"), "nothing was refused");
  ExpectSaid(Refusal(R"({"num_hidden_layers": 1000000})"),
             "config.json: num_hidden_layers must be a whole number from 0 to 1024, not 1000000");
  // Fewer tensors, but more than the file has: reading ends at the first missing one.
  EXPECT_EQ(Refusal(R"({"num_hidden_layers": 1000})").find("no tensor "), 0u)
      << Refusal(R"({"num_hidden_layers": 1000})");
  for (const char* value : {"0", "-4", "4.5", "4294967297", "\"4\"", "[4]"}) {
    ExpectSaid(Refusal((std::string(R"({"num_attention_heads": )") + value + "}").c_str()),
               "config.json: num_attention_heads must be a whole number from 1 to 4096, not ");
  }
  ExpectSaid(Refusal(R"({"layer_norm_eps": -1})"), "config.json: layer_norm_eps must be a number from 0 to 1, not -1");
  ExpectSaid(Refusal(R"({"model_type": 7})"), "config.json: model_type must be a string, not 7");
  ExpectSaid(RefusalOfConfig("{\"model_type\": \"bert\", \"model_type\": \"bert\"}"), "model_type is listed twice");
  ExpectSaid(RefusalOfConfig("[]"), "not a JSON object");
}

TEST_F(ForeignDirectory, ATokenizerThatCannotBeReadIsAWarning) {
  Refusal("{}");
  const std::string text = WordPiece("-1");
  WriteFile((directory_ / "tokenizer.json").string(), text.data(), text.size());
  const std::vector<std::string> warnings = Warnings();
  ASSERT_EQ(warnings.size(), 1u);
  ExpectSaid(warnings[0], "the id of \"b\" must be a whole number");
}

// The golden's table of words has 120 rows.
TEST_F(ForeignDirectory, ATokenizerOfAnotherSizeIsAnotherModels) {
  const auto write = [&](int pieces, const char* added) {
    Json vocab = {{"[UNK]", 0}};
    for (int i = 1; i < pieces; ++i) vocab["w" + std::to_string(i)] = i;
    const Json file = {{"model", {{"type", "WordPiece"}, {"unk_token", "[UNK]"}, {"vocab", vocab}}},
                       {"added_tokens", Json::parse(added)}};
    const std::string text = file.dump();
    WriteFile((directory_ / "tokenizer.json").string(), text.data(), text.size());
  };
  write(120, "[]");
  EXPECT_EQ(Refusal("{}"), "nothing was refused");
  write(121, "[]");
  ExpectSaid(Refusal("{}"),
             "the tokenizer has ids up to 120, but input_ids are below 120: it belongs to another model");
  write(120, R"([{"id": 120, "content": "<pad>", "special": true}])");
  const std::vector<std::string> warnings = Warnings();
  ASSERT_EQ(warnings.size(), 1u);
  ExpectSaid(warnings[0], "added tokens have ids up to 120, but input_ids are below 120");
}

TEST_F(ForeignDirectory, TensorsWithoutElementsHoldNothing) {
  SafetensorsWriter writer;
  writer.AddFloats("embeddings.word_embeddings.weight", {4294967295, 0}, nullptr);
  writer.Write((directory_ / "model.safetensors").string());
  const Weights none;
  Weights weights;
  weights.AddFile((directory_ / "model.safetensors").string());
  ExpectSaid(RefusalOf([&] { weights.Get("embeddings.word_embeddings.weight"); }), "[4294967295, 0] is empty");
}

// ---- descriptions ----

Json Graph(const char* constants, const char* operations = "[]") {
  Json json = Json::parse(R"({"fovea": 1, "spaces": [{"name": "texts"}],
    "programs": [{"name": "encode", "inputs": [{"name": "x", "space": "texts", "width": 2}], "outputs": ["y"]}]})");
  json["constants"] = Json::parse(constants);
  json["programs"][0]["operations"] = Json::parse(operations);
  return json;
}

TEST(ForeignGraph, LittleTextAsksForLittle) {
  // 2^40 elements in a table, and constants of which each is made of two of the one before.
  ExpectSaid(Refusal(Graph(R"([{"name": "t", "sinusoidal": {"rows": 1048576, "width": 1048576}}])")),
             "constant t: tensor t: [1048576, 1048576]");
  std::string constants = R"([{"name": "c0", "values": [1, 2]})";
  for (int i = 1; i < 60; ++i) {
    constants += fmt::format(R"(, {{"name": "c{0}", "sum": ["c{1}", "c{1}"]}})", i, i - 1);
  }
  ExpectSaid(Refusal(Graph((constants + "]").c_str())), "too large for the stored weights");
  // Empty groups repeated, nested eight deep.
  std::string nested = "[]";
  for (int i = 0; i < 8; ++i) nested = R"([{"repeat": 4096, "operations": )" + nested + "}]";
  ExpectSaid(Refusal(Graph("[]", nested.c_str())), "too many repetitions");
  // A long name, often.
  const std::string name(1 << 20, 'x');
  ExpectSaid(
      Refusal(Graph("[]",
                    fmt::format(R"([{{"repeat": 4096, "operations": [{{"op": "{}", "out": "y"}}]}}])", name).c_str())),
      "too many repetitions");
  Json spaces = Graph("[]");
  for (int i = 0; i < 100; ++i) spaces["spaces"].push_back({{"name", std::to_string(i)}});
  ExpectSaid(Refusal(spaces), "more than 64 spaces");
}

TEST(ForeignGraph, NumbersHaveARange) {
  const Json good = Graph(R"([{"name": "w", "values": [1, 2, 3, 4], "reshape": [2, 2]}])",
                          R"([{"op": "linear", "in": ["x"], "tensors": ["w"], "out": "y"}])");
  EXPECT_EQ(Refusal(good), "nothing was refused");
  ExpectRefused(good, {{"/constants/0/reshape", "[4294967298, 2]", "reshape must be a whole number"},
                       {"/constants/0/values", "[1, 2, 3, 1e300]", "values must be a number from"},
                       {"/constants/0/values", "[1, 2, 3, null]", "values must be a number"},
                       {"/constants/0/rows", "[0, 4294967297]", "rows must be a whole number"},
                       {"/constants/0/transpose", "1", "transpose must be true or false"},
                       {"/programs/0/inputs/0/width", "0", "width must be a whole number from 1"},
                       {"/programs/0/name", "\"a\\u0000b\"", "contains a zero byte"},
                       {"/fovea", "1.5", "fovea must be a whole number"},
                       {"/programs/0/operations/0/activation", "{}", "activation must be one of"}});
  Json positions = good;
  positions["metadata"]["max_positions"] = "many";
  ConvertOptions options;
  ConvertReport report;
  const std::string said = RefusalOf([&] { BuildBlob(ParseGraph(positions.dump(), ".", "graph"), options, report); });
  ExpectSaid(said, "metadata max_positions must be a whole number from 1 to 4294967295, not \"many\"");
}

}  // namespace
}  // namespace fovea::tools
