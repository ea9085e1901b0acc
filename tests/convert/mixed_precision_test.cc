// A type for each weight: the report, against conversions that store one weight in that type.
#include "tools/convert/mixed_precision.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/support/random_floats.h"
#include "tests/support/second_reader.h"
#include "tools/base/fail.h"
#include "tools/convert/compare.h"
#include "tools/convert/constants.h"
#include "tools/convert/convert.h"

namespace fovea::test {
namespace {

constexpr uint32_t kRows = 200, kWidth = 64;
const char* const kWeights[] = {"table", "first", "weak", "last"};

// Ids -> rows of a table -> a layer, and what a second one makes of little -> a layer. `only`: all but this weight are
// always f32.
tools::Description Model(const std::string& only = "") {
  tools::Description d;
  d.spaces = {{"texts"}, {"tokens", "texts"}};
  const auto add = [&](const std::string& name, uint32_t rows, uint32_t seed) {
    tools::Constant constant = tools::Literal(rows, kWidth, RandomFloats(rows * kWidth, 0.3f, seed));
    if (!only.empty() && name != only) constant.shortest = tools::Shortest::kF32;
    d.weights.Add(name, constant);
  };
  add("table", kRows, 1);
  add("first", kWidth, 2);
  add("weak", kWidth, 3);
  add("last", 24, 4);
  for (const char* name : {"first", "weak"}) {
    d.weights.Add(std::string(name) + ".bias", tools::Literal(1, kWidth, RandomFloats(kWidth, 0.5f, 5)));
  }
  tools::Program program;
  program.name = "encode";
  program.inputs = {{"x", "tokens", true, 1}};
  program.operations.push_back({"embed", {"x"}, {"table"}, "rows"});
  program.operations.push_back({"linear", {"rows"}, {"first", "first.bias"}, "a"});
  program.operations.push_back({"scale", {"rows"}, {}, "little", {{"scale", 0.02}}});
  program.operations.push_back({"linear", {"little"}, {"weak", "weak.bias"}, "b"});
  program.operations.push_back({"add", {"a", "b"}, {}, "sum"});
  program.operations.push_back({"linear", {"sum"}, {"last", ""}, "y"});
  program.outputs = {"y"};
  d.programs = {program};
  return d;
}

tools::ConvertReport Mixed(double keep, std::vector<uint8_t>* blob = nullptr) {
  tools::ConvertOptions options;
  options.keep = keep;
  tools::ConvertReport report;
  std::vector<uint8_t> made = tools::BuildBlob(Model(), options, report);
  if (blob != nullptr) *blob = std::move(made);
  return report;
}

// With channels as they are or at one scale.
double Cosine(const tools::OutputReport& output) { return std::min(output.mean_cosine, output.mean_scaled_cosine); }

TEST(MixedPrecision, KeepsWhatIsAskedWithFewBytes) {
  uint64_t bytes = 0;
  for (const double keep : {0.9, 0.99, 0.999, 0.9999, 0.99999, 0.9999999}) {
    std::vector<uint8_t> blob;
    const tools::ConvertReport report = Mixed(keep, &blob);
    ASSERT_TRUE(report.mix.has_value());
    // The result is one of the mixes that were tried, and good enough; the next smaller one is not.
    const std::vector<tools::MixPoint>& curve = report.mix->curve;
    const auto is_made = [&](const tools::MixPoint& point) { return point.bytes == report.weight_bytes; };
    const auto made = std::find_if(curve.begin(), curve.end(), is_made);
    ASSERT_NE(made, curve.end());
    EXPECT_GE(made->cosine, keep);
    EXPECT_NEAR(Cosine(report.outputs[0]), made->cosine, 1e-12);
    if (made != curve.begin()) {
      EXPECT_LT((made - 1)->cosine, keep);
    }
    EXPECT_GE(report.weight_bytes, bytes);
    bytes = report.weight_bytes;
    // The blob has the types of the report.
    std::map<std::string, uint32_t> types;
    for (const ReadTensor& tensor : SecondReader(blob).tensors) types[tensor.name] = tensor.type;
    ASSERT_EQ(report.mix->weights.size(), std::size(kWeights));
    for (const tools::MixedWeight& weight : report.mix->weights)
      EXPECT_EQ(types[weight.name], static_cast<uint32_t>(weight.type));
    EXPECT_EQ(types["first.bias"], static_cast<uint32_t>(DType::kF32));
  }
  EXPECT_EQ(Mixed(0.5).weight_bytes, Mixed(0.9).mix->curve.front().bytes);  // all of them int4
}

// A weight whose error matters little gets a shorter type than the rest.
TEST(MixedPrecision, WeightsThatMatterLittleAreShort) {
  const tools::ConvertReport report = Mixed(0.999);
  std::map<std::string, tools::MixedWeight> weights;
  for (const tools::MixedWeight& weight : report.mix->weights) weights.emplace(weight.name, weight);
  EXPECT_EQ(weights.at("weak").type, DType::kI4);
  EXPECT_NE(weights.at("first").type, DType::kI4);
  EXPECT_LT(weights.at("weak").int4_loss, 0.01 * weights.at("first").int4_loss);
}

// The reported loss of one weight equals the loss of a conversion that shortens this weight alone.
TEST(MixedPrecision, LossesAreThoseOfEachWeightAlone) {
  const tools::ConvertReport mixed = Mixed(0.99);
  for (size_t w = 0; w < std::size(kWeights); ++w) {
    const tools::MixedWeight& reported = mixed.mix->weights[w];
    ASSERT_EQ(reported.name, kWeights[w]);
    for (const DType type : {DType::kI4, DType::kI8}) {
      tools::ConvertOptions options;
      options.weights = type;
      tools::ConvertReport report;
      tools::BuildBlob(Model(reported.name), options, report);
      const double loss = type == DType::kI4 ? reported.int4_loss : reported.int8_loss;
      EXPECT_GT(loss, 0);
      EXPECT_NEAR(1 - Cosine(report.outputs[0]), loss, 1e-9 + 1e-3 * loss) << reported.name;
    }
  }
}

TEST(MixedPrecision, WhatCannotBeKeptIsRefused) {
  try {
    Mixed(1);
    FAIL();
  } catch (const tools::Failure& failure) {
    EXPECT_NE(std::string(failure.what()).find("keeps 1: the best keeps 0.999999"), std::string::npos)
        << failure.what();
  }
}

}  // namespace
}  // namespace fovea::test
