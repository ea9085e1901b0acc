// Casts of keys and values and types of products: written in a description, and put in by the converter.
#include "tools/convert/attention_types.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "runtime/blob/attributes.h"
#include "runtime/blob/numbers.h"
#include "runtime/kernels/attention.h"
#include "tests/support/by_name.h"
#include "tests/support/model_builder.h"
#include "tools/base/fail.h"
#include "tools/convert/graph_json.h"
#include "tools/convert/resolve.h"

namespace fovea::tools {
namespace {

Json Graph(const std::string& operations) {
  return Json::parse(R"({
    "fovea": 1,
    "spaces": [{"name": "texts"}, {"name": "tokens", "parent": "texts"}],
    "constants": [{"name": "w", "values": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16], "reshape": [4, 4],
                   "scale": 0.05}],
    "programs": [{"name": "encode", "inputs": [{"name": "x", "space": "tokens", "type": "f32", "width": 4}],
      "operations": [)" +
                     operations + R"(], "outputs": ["y"]}]})");
}

const char kLinear[] = R"({"op": "linear", "in": ["x"], "tensors": ["w"], "out": "k"})";
const char kOther[] = R"({"op": "linear", "in": ["x"], "tensors": ["w"], "out": "v"})";

std::string Refusal(const std::string& operations) {
  try {
    Resolve(ParseGraph(Graph(operations).dump(), ".", "graph"));
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "nothing was refused";
}

std::string CastOf(const std::string& in, const std::string& rest) {
  return R"({"op": "cast", "in": [")" + in + R"("], "out": "c", )" + rest + "}";
}

TEST(CastKeys, DescriptionsMayCast) {
  const std::string linear = std::string(kLinear) + ",";
  const std::string attention = R"(,{"op": "attention", "in": ["x", "c", "c"], "out": "y", "heads": 2})";
  const Resolved model = Resolve(
      ParseGraph(Graph(linear + CastOf("k", R"("type": "int8", "heads": 2)") + attention).dump(), ".", "graph"));
  EXPECT_EQ(test::ByName(model.content.programs.at(0).values, "c").type, DType::kI8);
  EXPECT_NE(Refusal(linear + CastOf("k", R"("type": "f32")")).find("f16, bf16 or int8"), std::string::npos);
  EXPECT_NE(Refusal(linear + CastOf("k", R"("type": "f8")")).find("must be one of"), std::string::npos);
  EXPECT_NE(Refusal(linear + CastOf("k", R"("heads": 2)")).find("type is missing"), std::string::npos);
  EXPECT_NE(Refusal(linear + CastOf("k", R"("type": "int8", "heads": 3)"))
                .find("heads do not divide the width: expected 4, found 3"),
            std::string::npos);
  const std::string cast = linear + CastOf("k", R"("type": "f16")");
  EXPECT_NE(Refusal(cast + R"(,{"op": "add", "in": ["x", "c"], "out": "y"})").find("input must be f32"),
            std::string::npos);
  EXPECT_NE(Refusal(cast + R"(,{"op": "attention", "in": ["x", "c", "k"], "out": "y", "heads": 2})")
                .find("keys and values must have one type"),
            std::string::npos);
}

// The program that the converter makes of these operations.
BlobProgram Cast(DType type, const std::string& operations) {
  Resolved model = Resolve(ParseGraph(Graph(operations).dump(), ".", "graph"));
  CastKeys(type, model.content);
  return model.content.programs[0];
}

size_t Casts(const BlobProgram& program) {
  return static_cast<size_t>(
      std::count_if(program.operations.begin(), program.operations.end(),
                    [](const BlobOperation& o) { return o.code == test::OperationCode("cast"); }));
}

TEST(CastKeys, OnlyWhatAttentionAloneReads) {
  const std::string both = std::string(kLinear) + "," + kOther;
  const std::string attention = R"(,{"op": "attention", "in": ["x", "k", "v"], "out": "y", "heads": 2})";
  const BlobProgram plain = Cast(DType::kF32, both + attention);
  EXPECT_EQ(Casts(plain), 0u);
  for (const DType type : {DType::kF16, DType::kBf16, DType::kI8}) {
    const BlobProgram cast = Cast(type, both + attention);
    ASSERT_EQ(cast.values.size(), 6u);
    const uint32_t x = test::IndexOf(cast.values, "x"), y = test::IndexOf(cast.values, "y");
    const uint32_t cast_k = test::IndexOf(cast.values, "v") + 1, cast_v = cast_k + 1;
    for (const uint32_t v : {cast_k, cast_v}) EXPECT_EQ(cast.values[v].type, type);
    EXPECT_EQ(cast.values[y].role, ValueRole::kOutput);
    EXPECT_EQ(cast.operations.back().inputs, (std::vector<uint32_t>{x, cast_k, cast_v}));
    for (size_t i = 0; i < cast.operations.size(); ++i) EXPECT_EQ(cast.operations[i].output, i + 1);
  }
  // One cast for a value that is key and value of two attentions.
  EXPECT_EQ(Casts(Cast(DType::kI8, std::string(kLinear) +
                                       R"(,{"op": "attention", "in": ["x", "k", "k"], "out": "a", "heads": 2})"
                                       R"(,{"op": "attention", "in": ["a", "k", "k"], "out": "y", "heads": 2})")),
            1u);
  // Its rows have scales for the heads that read them.
  EXPECT_EQ(Casts(Cast(DType::kI8, std::string(kLinear) +
                                       R"(,{"op": "attention", "in": ["x", "k", "k"], "out": "a", "heads": 2})"
                                       R"(,{"op": "attention", "in": ["a", "k", "k"], "out": "y", "heads": 4})")),
            2u);
  // Inputs, outputs, and what something else reads too.
  EXPECT_EQ(Casts(Cast(DType::kF16, R"({"op": "attention", "in": ["x", "x", "x"], "out": "y", "heads": 2})")), 0u);
  EXPECT_EQ(Casts(Cast(DType::kF16, both + R"(,{"op": "attention", "in": ["x", "k", "v"], "out": "a", "heads": 2})"
                                           R"(,{"op": "add", "in": ["a", "v"], "out": "y"})")),
            0u);
  EXPECT_EQ(Casts(Cast(DType::kF16, both + R"(,{"op": "attention", "in": ["k", "k", "v"], "out": "y", "heads": 2})")),
            0u);
}

// The blob runs, and its output is close to the output with f32 keys.
TEST(CastKeys, ProgramsRunWithThem) {
  const std::string operations =
      std::string(kLinear) + "," + kOther + R"(,{"op": "attention", "in": ["x", "k", "v"], "out": "y", "heads": 2})";
  const auto run = [&](DType type) {
    Resolved model = Resolve(ParseGraph(Graph(operations).dump(), ".", "graph"));
    for (size_t i = 0; i < model.content.tensors.size(); ++i) {
      EncodeTensor(model.constants[i].load(), model.content.tensors[i]);
    }
    CastKeys(type, model.content);
    const test::TestModel made(test::AlignedBytes(WriteBlob(model.content)));
    const uint32_t texts = test::IndexOf(model.content.spaces, "texts");
    const uint32_t tokens = test::IndexOf(model.content.spaces, "tokens");
    const std::vector<fovea_limit> limits = {{texts, 2, 0}, {tokens, 20, 0}};
    test::TestSession session(made, test::Options(limits, 2, 3));
    session.SetSegments(tokens, {13, 7});
    std::vector<float> x(80);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 19) / 9 - 1;
    session.SetInput(test::IndexOf(model.content.programs.at(0).values, "x"), x);
    session.Run();
    return session.Output(test::IndexOf(model.content.programs.at(0).values, "y"));
  };
  const std::vector<float> expected = run(DType::kF32);
  for (const auto& [type, tolerance] :
       std::vector<std::pair<DType, float>>{{DType::kF16, 2e-3f}, {DType::kBf16, 1e-2f}, {DType::kI8, 2e-2f}}) {
    const std::vector<float> found = run(type);
    ASSERT_EQ(found.size(), expected.size());
    bool equal = true;
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], expected[i], tolerance);
      equal = equal && found[i] == expected[i];
    }
    EXPECT_FALSE(equal);
  }
}

// Product types that the attention operations of this program specify.
std::vector<uint32_t> ProductsOf(Products products, const std::string& operations) {
  Resolved model = Resolve(ParseGraph(Graph(operations).dump(), ".", "graph"));
  SetProducts(products, model.content.programs[0]);
  std::vector<uint32_t> said;
  for (const BlobOperation& operation : model.content.programs[0].operations) {
    if (operation.code != test::OperationCode("attention")) continue;
    said.push_back(0);
    for (const AttributeRecord& attribute : operation.attributes) {
      if (attribute.key == static_cast<uint32_t>(Attribute::kProducts)) said.back() = attribute.bits;
    }
  }
  return said;
}

TEST(SetProducts, WhereNothingElseIsSaid) {
  const std::string operations = std::string(kLinear) +
                                 R"(,{"op": "attention", "in": ["x", "k", "k"], "out": "a", "heads": 2},
    {"op": "attention", "in": ["a", "k", "k"], "out": "b", "heads": 2, "score": "distance"},
    {"op": "attention", "in": ["b", "k", "k"], "out": "c", "heads": 2, "products": "bf16"},
    {"op": "attention", "in": ["c", "k", "k"], "out": "y", "heads": 2, "products": "f32"})";
  using Said = std::vector<uint32_t>;
  EXPECT_EQ(ProductsOf(Products::kF32, operations), (Said{0, 0, 1, 0}));
  EXPECT_EQ(ProductsOf(Products::kI8, operations), (Said{2, 0, 1, 0}));
  EXPECT_EQ(ProductsOf(Products::kBf16, operations), (Said{1, 0, 1, 0}));
  EXPECT_EQ(ProductsOf(Products::kI16, operations), (Said{3, 0, 1, 0}));
  const std::string attention = R"({"op": "attention", "in": ["x", "x", "x"], "out": "y", "heads": 2, )";
  EXPECT_NE(Refusal(attention + R"("products": "f16"})").find("must be one of"), std::string::npos);
  EXPECT_NE(Refusal(attention + R"("products": "int8", "score": "distance"})")
                .find("products other than f32 require dot-product scores"),
            std::string::npos);
}

// Outputs of a layer and an attention over 70 rows of 64 elements with these weights.
std::vector<float> Attended(DType weights, std::optional<Products> products, const std::string& attributes) {
  constexpr size_t kWidth = 64, kRows = 70;
  Json graph = Graph(std::string(kLinear) + R"(,{"op": "attention", "in": ["x", "k", "k"], "out": "y", "heads": 2)" +
                     attributes + "}");
  graph["programs"][0]["inputs"][0]["width"] = kWidth;
  std::vector<float> values(kWidth * kWidth), x(kRows * kWidth);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 29 % 23) / 11 - 1;
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 19) / 9 - 1;
  graph["constants"][0]["values"] = values;
  graph["constants"][0]["reshape"] = {kWidth, kWidth};
  Resolved model = Resolve(ParseGraph(graph.dump(), ".", "graph"));
  for (size_t i = 0; i < model.content.tensors.size(); ++i) {
    model.content.tensors[i].type = weights;
    EncodeTensor(model.constants[i].load(), model.content.tensors[i]);
  }
  if (products) SetProducts(*products, model.content.programs[0]);
  const test::TestModel made(test::AlignedBytes(WriteBlob(model.content)));
  const uint32_t texts = test::IndexOf(model.content.spaces, "texts");
  const uint32_t tokens = test::IndexOf(model.content.spaces, "tokens");
  const std::vector<fovea_limit> limits = {{texts, 1, 0}, {tokens, kRows, 0}};
  test::TestSession session(made, test::Options(limits, 2, 3));
  session.SetSegments(tokens, {kRows});
  session.SetInput(test::IndexOf(model.content.programs.at(0).values, "x"), x);
  session.Run();
  return session.Output(test::IndexOf(model.content.programs.at(0).values, "y"));
}

// Where no type is specified, attention over all rows may be shorter than f32 if weights are integers.
TEST(SetProducts, IntegerWeightsMayRound) {
  for (const DType weights : {DType::kI8, DType::kI4}) {
    EXPECT_EQ(Attended(weights, std::nullopt, ""), Attended(weights, kRounded, ""));
    EXPECT_EQ(Attended(weights, std::nullopt, R"(, "products": "f32")"), Attended(weights, Products::kF32, ""));
    EXPECT_EQ(Attended(weights, std::nullopt, R"(, "causal": true)"),
              Attended(weights, Products::kF32, R"(, "causal": true)"));
  }
  EXPECT_EQ(Attended(DType::kF16, std::nullopt, ""), Attended(DType::kF16, Products::kF32, ""));
}

}  // namespace
}  // namespace fovea::tools
