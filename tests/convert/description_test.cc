// Model descriptions: what can be expressed, and that every mistake is reported with its place.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "tests/convert/graph_support.h"
#include "tests/convert/reference_run.h"
#include "tests/support/paths.h"
#include "tools/base/mapped_file.h"
#include "tools/convert/constants.h"
#include "tools/convert/convert.h"

namespace fovea::tools {
namespace {

// A small classifier; each test changes one thing.
Json Small() {
  return Json::parse(R"({
    "fovea": 1,
    "metadata": {"task": "sequence-classification", "labels": ["no", "yes"]},
    "spaces": [{"name": "texts"}, {"name": "tokens", "parent": "texts"}],
    "constants": [
      {"name": "table", "values": [1, 2, 3, 4, 5, 6, 7, 8], "reshape": [4, 2]},
      {"name": "w", "values": [1, 0, 0, 1], "reshape": [2, 2]},
      {"name": "b", "values": [0.5, -0.5]},
      {"name": "half", "of": "table", "rows": [2, 4], "scale": 0.5}
    ],
    "programs": [{
      "name": "encode",
      "inputs": [{"name": "ids", "space": "tokens", "type": "i32"}],
      "operations": [
        {"op": "embed", "in": ["ids"], "tensors": ["table"], "out": "x.0", "scale": 2},
        {"repeat": 3, "operations": [
          {"op": "linear", "in": ["x.{i}"], "tensors": ["w", "b"], "out": "x.{i+1}", "activation": "relu"}
        ]},
        {"alias": "last", "of": "x.3"},
        {"op": "pool", "in": ["last"], "out": "pooled", "kind": "mean"},
        {"op": "linear", "in": ["pooled"], "tensors": ["half"], "out": "logits"}
      ],
      "outputs": ["logits"]
    }]
  })");
}

TEST(Description, RunsAsWritten) {
  Resolved model = ResolveJson(Small());
  ASSERT_EQ(model.content.tensors.size(), 4u);
  for (size_t i = 0; i < model.content.tensors.size(); ++i)
    EncodeTensor(model.constants[i].load(), model.content.tensors[i]);
  const test::ReadBlob blob = test::SecondReader(WriteBlob(model.content));
  EXPECT_EQ(blob.metadata.at("label.1"), "yes");
  const test::ReferenceRun run = test::RunReference(blob, {{"ids", {0, 3}}}, 2);
  // x0 = [2 4], [14 16]; three times + [.5 -.5]: means 9.5, 8.5; half = [2.5 3], [3.5 4].
  EXPECT_EQ(run.values.at("x.3"), (std::vector<double>{3.5, 2.5, 15.5, 14.5}));
  EXPECT_EQ(run.values.at("logits"), (std::vector<double>{9.5 * 2.5 + 8.5 * 3, 9.5 * 3.5 + 8.5 * 4}));
}

TEST(Description, QuantizesMatricesOnly) {
  Resolved model = ResolveJson(Small());
  for (size_t i = 0; i < model.content.tensors.size(); ++i) {
    EXPECT_EQ(model.shortest[i] != Shortest::kF32, model.content.tensors[i].name != "b")
        << model.content.tensors[i].name;
  }
}

TEST(Description, MistakesAreNamedWithTheirPlace) {
  ExpectRefused(Small(),
                {
                    {"/fovea", "2", "version"},
                    {"/surprise", "1", "surprise is not known"},
                    {"/spaces/1/parent", "\"texs\"", "space tokens: there is no space texs"},
                    {"/spaces/1/name", "\"texts\"", "used twice"},
                    {"/spaces/1/by", "-1", "by must be a whole number"},
                    {"/constants/0/reshape", "[3, 2]", "constant table"},
                    {"/constants/3/of", "\"tabel\"", "constant half: no tensor tabel"},
                    {"/constants/3/rows", "[2, 9]", "rows 2 to 9 are out of range: there are 4"},
                    {"/constants/2/colour", "1", "constant b: colour is not known"},
                    {"/programs/0/inputs/0/type", "\"i64\"", "type must be one of i32, f32, f16, bf16, int8"},
                    {"/programs/0/inputs/0/space", "\"words\"", "program encode, input ids: there is no space words"},
                    {"/programs/0/operations/0/op", "\"embedd\"",
                     "program encode, operation 0 (embedd -> x.0): unknown operation embedd"},
                    {"/programs/0/operations/0/in", "[]", "operation 0 (embed -> x.0): too few inputs"},
                    {"/programs/0/operations/0/in", "[\"idz\"]", "there is no value idz"},
                    {"/programs/0/operations/0/tensors", "[\"tabel\"]", "no tensor tabel"},
                    {"/programs/0/operations/0/scale", "\"2\"", "scale must be a number"},
                    {"/programs/0/operations/0/heads", "2", "embed has no attribute heads"},
                    {"/programs/0/operations/1/repeat", "-1", "repeat must be"},
                    {"/programs/0/operations/1/operations/0/activation", "\"mish\"",
                     "operation 1 (linear -> x.1): activation must be one of"},
                    {"/programs/0/operations/1/operations/0/tensors", "[\"w\", \"w\"]",
                     "tensor w: tensor has the wrong number of rows: expected 1, found 2"},
                    {"/programs/0/operations/1/operations/0/out", "\"x.1\"", "operation 2 (linear -> x.1)"},
                    {"/programs/0/operations/3/kind", "\"median\"",
                     "operation 4 (pool -> pooled): kind must be one of first, last"},
                    {"/programs/0/operations/3/in", "[\"ids\"]", "input must be f32 (ids i32 [tokens, 1])"},
                    {"/programs/0/operations/4/in", "[\"x.3\", \"x.2\"]", "too many inputs: expected 1, found 2"},
                    {"/programs/0/operations/4/tensors", "[null]", "a tensor is missing"},
                    {"/programs/0/outputs", "[\"logit\"]", "program encode, output logit: there is no value"},
                    {"/programs/0/outputs", "[\"ids\"]", "output ids"},
                    {"/programs/0/outputs", "[]", "no outputs"},
                    {"/programs", "[]", "no program"},
                });
  EXPECT_THROW(ParseGraph("{", ".", "graph"), Failure);
}

// Operands by name, or as a list in the order of operand_list.inc.
TEST(Description, OperandsHaveNames) {
  Json json = Small();
  const BlobOperation listed = ResolveJson(json).content.programs[0].operations[1];
  Json& linear = json["programs"][0]["operations"][1]["operations"][0];
  ASSERT_EQ(linear["op"], "linear");
  linear["in"] = {{"x", linear["in"][0]}};
  linear["tensors"] = {{"bias", linear["tensors"][1]}, {"weight", linear["tensors"][0]}};
  const BlobOperation named = ResolveJson(json).content.programs[0].operations[1];
  EXPECT_EQ(named.inputs, listed.inputs);
  EXPECT_EQ(named.tensors, listed.tensors);
  linear["tensors"] = {{"weights", "w"}};
  EXPECT_NE(Refusal(json).find("there is no operand weights; the operation has weight, bias"), std::string::npos)
      << Refusal(json);
  linear["tensors"] = {{"weight", 1}};
  EXPECT_NE(Refusal(json).find("tensors.weight must be the name of a value or tensor"), std::string::npos)
      << Refusal(json);
}

TEST(Description, AttentionMustFit) {
  const auto attention = [](const char* changes) {
    Json json = Small();
    Json op = {{"op", "attention"}, {"in", {"last", "last", "last"}}, {"out", "a"}, {"heads", 2}};
    op.update(Json::parse(changes));
    Json& operations = json["programs"][0]["operations"];
    operations.insert(operations.begin() + 3, op);
    return Refusal(json);
  };
  EXPECT_EQ(attention("{}"), "nothing was refused");
  EXPECT_EQ(attention(R"({"pattern": "window", "left": 3, "right": 0})"), "nothing was refused");
  EXPECT_NE(attention(R"({"heads": 3})").find("kv_heads must divide heads, and heads the width of the queries"),
            std::string::npos);
  EXPECT_NE(attention(R"({"kv_heads": 3})")
                .find("kv_heads must divide heads, and heads the width of the queries: expected 2, found 3"),
            std::string::npos);
  EXPECT_NE(attention(R"({"centers": 1})").find("one of none, positions, fractions, not 1"), std::string::npos);
  EXPECT_NE(attention(R"({"causal": 1})").find("must be true or false, not 1"), std::string::npos);
  EXPECT_NE(attention(R"({"left": 3})").find("left and right require the window pattern"), std::string::npos);
  EXPECT_NE(attention(R"({"tensors": ["w"]})").find("distance bias must have an odd width"), std::string::npos);
  EXPECT_NE(attention(R"({"in": ["last", "last"]})").find("too few inputs"), std::string::npos);
}

TEST(Description, HeadsOfNormsMustFit) {
  const auto norm = [](const char* changes) {
    Json json = Small();
    Json op = {{"op", "norm"}, {"in", {"last"}}, {"out", "n"}, {"kind", "rms"}, {"epsilon", 1e-6}};
    op.update(Json::parse(changes));
    Json& operations = json["programs"][0]["operations"];
    operations.insert(operations.begin() + 3, op);
    return Refusal(json);
  };
  EXPECT_EQ(norm(R"({"tensors": ["b"]})"), "nothing was refused");
  EXPECT_EQ(norm(R"({"heads": 2})"), "nothing was refused");
  EXPECT_NE(norm(R"({"heads": 2, "tensors": ["b"]})").find("tensor b: tensor has the wrong width: expected 1, found 2"),
            std::string::npos);
  EXPECT_NE(norm(R"({"heads": 3})").find("heads do not divide the width: expected 2, found 3"), std::string::npos);
  EXPECT_NE(norm(R"({"heads": 0})").find("heads do not divide the width"), std::string::npos);
}

TEST(Constants, Tables) {
  SinusoidalSpec spec;
  spec.rows = 3;
  spec.width = 4;
  spec.inclusive = true;
  const std::vector<float> halves = Sinusoidal(spec).load();
  EXPECT_FLOAT_EQ(halves[4], std::sin(1.0f));
  EXPECT_FLOAT_EQ(halves[5], 1e-4f);
  EXPECT_FLOAT_EQ(halves[6], std::cos(1.0f));
  spec.interleaved = true;
  spec.inclusive = false;
  const std::vector<float> pairs = Sinusoidal(spec).load();
  EXPECT_FLOAT_EQ(pairs[4], std::sin(1.0f));
  EXPECT_FLOAT_EQ(pairs[5], std::cos(1.0f));
  EXPECT_FLOAT_EQ(pairs[6], std::sin(0.01f));

  const Constant rotary = Rotary({4, 6, 1000, 2});
  const std::vector<float> angles = rotary.load();
  ASSERT_EQ(angles.size(), 24u);
  for (const int p : {0, 1, 3}) {
    for (const int i : {0, 1, 2}) {  // 1000^(-2i / 6) / 2
      EXPECT_NEAR(angles[p * 6 + i], std::cos(p * std::pow(10.0, -i) / 2), 1e-6);
      EXPECT_NEAR(angles[p * 6 + 3 + i], std::sin(p * std::pow(10.0, -i) / 2), 1e-6);
    }
  }
  Json json = Small();
  json["constants"].push_back(
      {{"name", "turn"}, {"rotary", {{"rows", 4}, {"dims", 6}, {"theta", 1000}, {"factor", 2}}}});
  const Description description = ParseGraph(json.dump(), ".", "graph");
  EXPECT_EQ(description.weights.Get("turn").load(), angles);
  EXPECT_THROW(Rotary({4, 5, 1000, 1}), Failure);
  EXPECT_THROW(Rotary({4, 6, 1000, 0}), Failure);

  const Constant matrix = Literal(2, 3, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(Transpose(matrix).load(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(Slice(matrix, {}, {1, 3}).load(), (std::vector<float>{2, 3, 5, 6}));
  EXPECT_EQ(Sum({matrix, Literal(1, 3, {10, 20, 30})}).load(), (std::vector<float>{11, 22, 33, 14, 25, 36}));
  EXPECT_EQ(Concatenate({matrix, matrix}).rows, 4u);
  EXPECT_THROW(Sum({matrix, Literal(1, 2, {1, 2})}), Failure);
  EXPECT_THROW(Reshape(matrix, 4, 2), Failure);
}

TEST(Constants, TensorsInAnotherOrder) {
  std::vector<float> values(2 * 3 * 4);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Constant matrix = Literal(2, 12, values);
  const std::vector<std::vector<uint32_t>> orders = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  const uint32_t shape[] = {2, 3, 4};
  for (const std::vector<uint32_t>& order : orders) {
    const Constant permuted = Permute(matrix, {2, 3, 4}, order);
    EXPECT_EQ(permuted.rows, shape[order[0]]);
    const std::vector<float> found = permuted.load();
    ASSERT_EQ(found.size(), values.size());
    for (uint32_t at[] = {0, 0, 0}; at[0] < shape[order[0]]; ++at[0]) {
      for (at[1] = 0; at[1] < shape[order[1]]; ++at[1]) {
        for (at[2] = 0; at[2] < shape[order[2]]; ++at[2]) {
          uint32_t from[3];
          for (size_t i = 0; i < 3; ++i) from[order[i]] = at[i];
          EXPECT_EQ(found[(at[0] * shape[order[1]] + at[1]) * shape[order[2]] + at[2]],
                    static_cast<float>((from[0] * 3 + from[1]) * 4 + from[2]));
        }
      }
    }
  }
  EXPECT_EQ(Permute(matrix, {2, 12}, {1, 0}).load(), Transpose(matrix).load());
  for (const auto& order : {std::vector<uint32_t>{0, 1}, {0, 0, 1}, {0, 1, 3}}) {
    EXPECT_THROW(Permute(matrix, {2, 3, 4}, order), Failure);
  }
  EXPECT_THROW(Permute(matrix, {2, 3, 5}, {0, 1, 2}), Failure);
}

TEST(Constants, LayersOfConstants) {
  const Constant x = Literal(2, 3, {1, 2, 3, 4, 5, 6}), weight = Literal(2, 3, {1, 0, -1, 2, 2, 2});
  EXPECT_EQ(Product(x, weight).load(), (std::vector<float>{-2, 12, -2, 30}));
  EXPECT_EQ(Product(x, weight, Literal(1, 2, {0.5, -1})).load(), (std::vector<float>{-1.5, 11, -1.5, 29}));
  EXPECT_THROW(Product(x, Literal(1, 2, {1, 2})), Failure);
  EXPECT_THROW(Product(x, weight, Literal(1, 3, {1, 2, 3})), Failure);
  const std::vector<float> normed = LayerNorm(x, Literal(1, 3, {1, 2, 3}), Literal(1, 3, {0, 1, 10}), 1.0 / 3).load();
  // Both rows are one less, equal and one more than their mean: the variance is 2/3.
  const std::vector<float> expected = {-1, 1, 13, -1, 1, 13};
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(normed[i], expected[i], 1e-6);
  EXPECT_THROW(LayerNorm(x, Literal(1, 2, {1, 2}), Literal(1, 3, {1, 2, 3}), 0), Failure);
}

TEST(Constants, BucketsOfDistances) {
  // Single distances up to the span, beyond it everything: bucket 3 is distance 0, the last one three keys before.
  const Constant plain = DistanceBuckets({3, 0, 0});
  EXPECT_TRUE(plain.indices);
  EXPECT_EQ(plain.load(), (std::vector<float>{5, 5, 4, 3, 2, 1, 0}));
  // 4 exact ones, then 4 + ceil(3 ln(x / 4) / ln(63 / 4)): 5 up to 10, 6 up to 25, 7 up to 63, then 8.
  const Constant grows = DistanceBuckets({8, 4, 64});
  const std::vector<float> table = grows.load();
  ASSERT_EQ(grows.width, 2u * 64 + 1);
  for (int distance = 0; distance <= 64; ++distance) {
    const int edges[] = {0, 1, 2, 3, 4, 10, 25, 63, 64};
    int bucket = 0;
    while (edges[bucket] < distance) ++bucket;
    EXPECT_EQ(table[static_cast<size_t>(64 + distance)], static_cast<float>(8 - bucket)) << distance;
    EXPECT_EQ(table[static_cast<size_t>(64 - distance)], static_cast<float>(std::min(8 + bucket, 15))) << distance;
  }
  EXPECT_THROW(DistanceBuckets({0, 0, 0}), Failure);
  EXPECT_THROW(DistanceBuckets({4, 1, 64}), Failure);
  EXPECT_THROW(DistanceBuckets({8, 4, 5}), Failure);
  EXPECT_THROW(DistanceBuckets({1u << 13, 0, 0}), Failure);  // more than attention takes
}

// A directory of sentence-transformers around a published encoder.
class SentenceTransformer : public testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path encoder = test::InData("hf/bert");
    directory_ = std::filesystem::path(testing::TempDir()) / fmt::format("sentence_transformer_{}", getpid());
    std::filesystem::remove_all(directory_);
    for (const char* module : {"1_Pooling", "2_Dense"}) std::filesystem::create_directories(directory_ / module);
    for (const char* file : {"config.json", "model.safetensors"})
      std::filesystem::copy(encoder / file, directory_ / file);
    Write("modules.json", R"([
      {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
      {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
      {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"},
      {"idx": 3, "name": "3", "path": "3_Normalize", "type": "sentence_transformers.models.Normalize"}])");
    Write("sentence_bert_config.json", R"({"max_seq_length": 24, "do_lower_case": false})");
    Write("1_Pooling/config.json",
          R"({"word_embedding_dimension": 32, "pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true})");
    Write("2_Dense/config.json", R"({"in_features": 32, "out_features": 2, "bias": true, )"
                                 R"("activation_function": "torch.nn.modules.activation.Tanh"})");
    SafetensorsWriter dense;
    const std::vector<float> weight(64, 0.25f), bias = {1, 2};
    dense.AddFloats("linear.weight", {2, 32}, weight.data());
    dense.AddFloats("linear.bias", {2}, bias.data());
    dense.Write(directory_ / "2_Dense/model.safetensors");
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void Write(const std::string& name, const std::string& text) {
    WriteFile(directory_ / name, text.data(), text.size());
  }
  std::string Refusal() const {
    return RefusalOf([&] { Describe(Options()); });
  }
  ConvertOptions Options() const {
    ConvertOptions options;
    options.input = directory_.string();
    return options;
  }

  std::filesystem::path directory_;
};

TEST_F(SentenceTransformer, Converts) {
  const Description description = Describe(Options());
  EXPECT_EQ(description.tokenizer["max_length"], 24u);  // replaces the tokenizer's value
  ConvertReport report;
  const test::ReadBlob blob = test::SecondReader(BuildBlob(description, Options(), report));
  EXPECT_EQ(report.unused, (std::vector<std::string>{"pooler.dense.bias", "pooler.dense.weight"}));
  const test::ReferenceRun run = test::RunReference(blob, {{"input_ids", {5, 6, 7}}, {"token_type_ids", {0, 0, 0}}}, 3);
  const std::vector<double>& states = run.values.at("hidden_states.3");
  double sum = 0;
  for (double state : states) sum += state / 3 * 0.25;
  const double a = std::tanh(sum + 1), b = std::tanh(sum + 2), norm = std::sqrt(a * a + b * b);
  ASSERT_EQ(run.values.at("sentence_embedding").size(), 2u);
  EXPECT_NEAR(run.values.at("sentence_embedding")[0], a / norm, 1e-6);
  EXPECT_NEAR(run.values.at("sentence_embedding")[1], b / norm, 1e-6);
}

TEST_F(SentenceTransformer, RefusesByName) {
  Write("modules.json", R"([{"path": "", "type": "sentence_transformers.models.Router"}])");
  EXPECT_NE(Refusal().find("Router"), std::string::npos) << Refusal();
  Write("modules.json", R"([{"path": "", "type": "sentence_transformers.models.Transformer"}])");
  EXPECT_NE(Refusal().find("a Pooling module is missing"), std::string::npos) << Refusal();
}

TEST_F(SentenceTransformer, ConfigurationsAreRefusedByName) {
  const Json config = Json::parse(ReadFile(directory_ / "config.json"));
  std::filesystem::remove(directory_ / "modules.json");
  const struct {
    const char* key;
    Json value;
    const char* message;
  } cases[] = {
      {"position_embedding_type", "relative_key", "position_embedding_type \"relative_key\""},
      {"hidden_act", "mish", "hidden_act mish"},
      {"is_decoder", true, "is_decoder true"},
      {"model_type", "convbert", "model_type convbert"},
      {"architectures", {"BertForRegions"}, "BertForRegions"},
      {"num_attention_heads", "4", "num_attention_heads must be a whole number"},
      {"num_attention_heads", nullptr, "num_attention_heads must be a whole number"},
      {"quantization_config", {{"bits", 4}}, "quantization_config"},
  };
  for (const auto& c : cases) {
    Json changed = config;
    changed[c.key] = c.value;
    Write("config.json", changed.dump());
    EXPECT_NE(Refusal().find(c.message), std::string::npos) << Refusal();
  }
  // A layer that the configuration does not count must not get lost.
  Json changed = config;
  changed["num_hidden_layers"] = 2;
  changed["mystery"] = 1;
  Write("config.json", changed.dump());
  const Description description = Describe(Options());
  ASSERT_EQ(description.warnings.size(), 1u);
  EXPECT_NE(description.warnings[0].find("mystery"), std::string::npos);
  ConvertReport report;
  EXPECT_THROW(BuildBlob(description, Options(), report), Failure);
}

}  // namespace
}  // namespace fovea::tools
