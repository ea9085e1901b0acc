// Calibrated weights and biases, against sums computed here.
#include "tools/convert/calibrate.h"

#include <gtest/gtest.h>
#include <math.h>

#include <algorithm>
#include <numeric>

#include "tests/support/distance.h"
#include "tests/support/random_floats.h"
#include "tests/support/second_reader.h"
#include "tools/convert/constants.h"
#include "tools/convert/convert.h"
#include "tools/convert/loaded_blob.h"
#include "tools/convert/sample_batches.h"

namespace fovea::test {
namespace {

using tools::Description;

constexpr uint32_t kRows = 300, kWidth = 64, kOut = 24;

// The mean row of the table; all rows are close to it.
std::vector<float> Middle() { return RandomFloats(kWidth, 1, 2); }

enum class Kind { kPlain, kWithoutBias, kOfNumbers, kTwice, kBiasUsedElsewhere, kRowsAreAnOutput };

// Ids -> rows of a table -> a linear layer.
Description Model(Kind kind) {
  Description d;
  d.spaces = {{"texts"}, {"tokens", "texts"}};
  std::vector<float> table = RandomFloats(kRows * kWidth, 0.1f, 1);
  const std::vector<float> middle = Middle();
  for (size_t i = 0; i < table.size(); ++i) table[i] += middle[i % kWidth];
  d.weights.Add("table", tools::Literal(kRows, kWidth, table));
  d.weights.Add("weight", tools::Literal(kOut, kWidth, RandomFloats(kOut * kWidth, 1, 3)));
  d.weights.Add("bias", tools::Literal(1, kOut, RandomFloats(kOut, 1, 4)));
  tools::Program program;
  program.name = "encode";
  const bool numbers = kind == Kind::kOfNumbers;
  program.inputs = {{"x", "tokens", !numbers, kWidth}};
  if (!numbers) program.operations.push_back({"embed", {"x"}, {"table"}, "rows"});
  const std::string rows = numbers ? "x" : "rows", bias = kind == Kind::kWithoutBias ? "" : "bias";
  program.operations.push_back({"linear", {rows}, {"weight", bias}, "y"});
  program.outputs = {"y"};
  if (kind == Kind::kRowsAreAnOutput) program.outputs.push_back("rows");
  if (kind == Kind::kTwice) {
    program.operations.push_back({"scale", {rows}, {}, "half", {{"scale", 0.5}}});
    program.operations.push_back({"linear", {"half"}, {"weight", "bias"}, "z"});
  } else if (kind == Kind::kBiasUsedElsewhere) {
    program.operations.push_back({"norm", {"y"}, {"", "bias"}, "z", {{"kind", "layer"}, {"epsilon", 1e-6}}});
  }
  if (program.operations.back().out == "z") program.outputs.push_back("z");
  d.programs = {program};
  return d;
}

struct Built {
  Built(Kind kind, DType type) {
    tools::ConvertOptions options;
    options.weights = type;
    options.compare = tools::Comparison::kNone;
    blob = SecondReader(tools::BuildBlob(Model(kind), options, report));
  }
  std::vector<float> Tensor(const std::string& name) const {
    for (const ReadTensor& tensor : blob.tensors) {
      if (tensor.name == name) return tensor.values;
    }
    return {};
  }
  tools::ConvertReport report;
  ReadBlob blob;
};

// The bias holds what the weights' error makes of the mean row. How far the mean of made-up rows is from the middle:
// about 0.012 in each column; an error of weights of up to 0.02 (int8) makes less than 0.005 of it, one of 0.3 (int4)
// less than 0.1.
void ExpectCorrected(Kind kind, DType type, double of_middle, double tolerance) {
  const Built built(kind, type);
  const std::vector<float> weight = RandomFloats(kOut * kWidth, 1, 3), bias = RandomFloats(kOut, 1, 4),
                           middle = Middle();
  const std::vector<float> stored = built.Tensor("weight"), corrected = built.Tensor("bias");
  ASSERT_EQ(corrected.size(), kOut);
  double largest = 0;
  for (uint32_t r = 0; r < kOut; ++r) {
    double shift = 0;
    for (uint32_t i = 0; i < kWidth; ++i) {
      shift += (static_cast<double>(weight[r * kWidth + i]) - stored[r * kWidth + i]) * middle[i] * of_middle;
    }
    EXPECT_NEAR(corrected[r] - bias[r], shift, tolerance) << r;
    largest = std::max(largest, test::Distance(corrected[r], bias[r]));
  }
  EXPECT_GT(largest, 8 * tolerance);  // so that the comparison means something
  ASSERT_EQ(built.report.calibrated.size(), 1u);
  EXPECT_EQ(built.report.calibrated[0].weight, "weight");
  EXPECT_NEAR(built.report.calibrated[0].bias_change, largest, 1e-6);
}

TEST(Calibrate, TakesBackTheErrorOfTheMeanRow) {
  ExpectCorrected(Kind::kPlain, DType::kI8, 1, 0.005);
  ExpectCorrected(Kind::kPlain, DType::kI4, 1, 0.1);
}

TEST(Calibrate, OfALayerThatReadsAnOutput) { ExpectCorrected(Kind::kRowsAreAnOutput, DType::kI8, 1, 0.005); }

// Characters or phonemes are few. Token types are few as well, and nearly always 0.
TEST(Calibrate, MadeUpTextsHaveManyIdsWhereThereAreFew) {
  constexpr uint32_t kFew = 20;
  Description d;
  d.spaces = {{"texts"}, {"tokens", "texts"}};
  std::vector<float> numbers(kFew);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  d.weights.Add("table", tools::Literal(kFew, 1, numbers));
  tools::Program program;
  program.name = "encode";
  program.inputs = {{"input_ids", "tokens"}, {"token_type_ids", "tokens"}, {"kind", "tokens"}};
  d.SetMetadata("default.kind", "3");
  for (const auto& input : program.inputs) {
    program.operations.push_back({"embed", {input.name}, {"table"}, input.name + ".rows"});
  }
  program.outputs = {"input_ids.rows"};
  program.operations.push_back({"concat", {"token_type_ids.rows", "kind.rows"}, {}, "both"});
  program.outputs.push_back("both");
  d.programs = {program};
  tools::ConvertOptions options;
  tools::ConvertReport report;
  const tools::LoadedBlob blob(tools::BuildBlob(d, options, report), "few");
  const uint32_t id_rows = *blob.model.FindValue(0, "input_ids.rows"), both_rows = *blob.model.FindValue(0, "both");
  const auto rows_of = [&](const tools::Batch& batch, uint32_t value) {
    tools::Session session = tools::SessionFor(blob.model, batch);
    session.Run();
    return session.Output(value);
  };
  tools::SampleSources samples;
  const auto batches = [&] { return tools::SampleBatches(blob.model, 0, {id_rows, both_rows}, samples); };
  const std::vector<tools::Batch> made_up = batches();
  ASSERT_EQ(made_up.size(), 1u);
  const tools::Matrix ids = rows_of(made_up[0], id_rows), both = rows_of(made_up[0], both_rows);
  std::vector<uint32_t> times(kFew);
  for (const float id : ids.values) ++times[static_cast<size_t>(id)];
  for (uint32_t i = 0; i < kFew; ++i) EXPECT_GT(times[i], ids.rows / 100) << i;
  EXPECT_GT(times[0], times[kFew - 1]);
  for (size_t r = 0; r < both.rows; ++r) {
    ASSERT_EQ(both.values[2 * r], 0);
    ASSERT_EQ(both.values[2 * r + 1], 3);
  }

  // Texts that are given come first; where there are as many of them nothing is made up.
  samples.ids = {{7, 7, 19}, {0}, {5, 4}};
  const std::vector<tools::Batch> mixed = batches();
  ASSERT_EQ(mixed.size(), 2u);
  EXPECT_EQ(rows_of(mixed[0], id_rows).values, (std::vector<float>{7, 7, 19, 0, 5, 4}));
  EXPECT_EQ(rows_of(mixed[1], id_rows).values, ids.values);
  samples.ids.assign(40, std::vector<int32_t>(60, 11));
  const std::vector<tools::Batch> given = batches();
  ASSERT_EQ(given.size(), 1u);
  EXPECT_EQ(rows_of(given[0], id_rows).values, std::vector<float>(2400, 11));
  EXPECT_EQ(rows_of(given[0], both_rows).values[1], 3);
}

// Here the middle is also the direction in which the rows of both differ, so that rounding leaves little of its error.
TEST(Calibrate, OfALayerThatIsUsedTwiceInTheMean) { ExpectCorrected(Kind::kTwice, DType::kI8, 0.75, 0.0014); }

TEST(Calibrate, LeavesAllElseAlone) {
  const std::vector<float> bias = RandomFloats(kOut, 1, 4);
  for (const Kind kind : {Kind::kPlain, Kind::kOfNumbers, Kind::kBiasUsedElsewhere, Kind::kWithoutBias}) {
    for (const DType type : {DType::kF32, DType::kF16, DType::kI8}) {
      if (kind == Kind::kPlain && type == DType::kI8) continue;
      const Built built(kind, type);
      if (kind != Kind::kWithoutBias) {
        EXPECT_EQ(built.Tensor("bias"), bias);
      }
      const bool weight = type == DType::kI8 && kind != Kind::kOfNumbers;
      ASSERT_EQ(built.report.calibrated.size(), weight ? 1u : 0u);
      if (weight) {
        EXPECT_EQ(built.report.calibrated[0].bias_change, 0);
      }
    }
  }
}

}  // namespace
}  // namespace fovea::test
