// The report about a stored model, and packed sections: the parts of converting that run the library.
#include "tools/convert/compare.h"

#include <gtest/gtest.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "fovea/model.h"
#include "tests/support/paths.h"
#include "tests/support/second_reader.h"
#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/convert/convert.h"
#include "tools/convert/description.h"
#include "tools/convert/loaded_blob.h"
#include "tools/measure/synthetic_batch.h"
#include "tools/model/aligned_memory.h"

namespace fovea::tools {
namespace {

class Compared : public testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    options_.input = test::InSource("tools/convert/examples/kwt1/graph.json");
    options_.source = test::InShared("models/kwt1");
    if (test::Missing(options_.source)) GTEST_SKIP();
  }
  ConvertOptions options_;
};

TEST_P(Compared, ReportsTensorsAndOutputs) {
  options_.weights = GetParam();
  ConvertReport report;
  size_t calls = 0;
  const std::vector<uint8_t> blob = BuildBlob(Describe(options_), options_, report,
                                              [&](const std::string&, const std::string&, size_t done, size_t total) {
                                                EXPECT_LE(done, total);
                                                ++calls;
                                              });
  EXPECT_GT(calls, report.tensors.size());
  EXPECT_EQ(report.blob_bytes, blob.size());
  EXPECT_EQ(report.f32_bytes, 4u * (607308 + 2 * 512 + 480 + 80 * 257 + 40 * 80));
  EXPECT_TRUE(report.unused.empty());
  for (const TensorReport& tensor : report.tensors) {
    const std::set<std::string> exact = {"position_embeddings.weight", "roots", "window", "mel", "cosines"};
    const bool matrix = tensor.rows > 1 && exact.count(tensor.name) == 0;
    EXPECT_EQ(tensor.fell_back, matrix && GetParam() == DType::kI4 && tensor.width == 40) << tensor.name;
    EXPECT_EQ(tensor.type == DType::kF32, !matrix || GetParam() == DType::kF32) << tensor.name;
  }
  if (GetParam() == DType::kF32) {
    EXPECT_TRUE(report.outputs.empty());
    return;
  }
  ASSERT_EQ(report.outputs.size(), 2u);  // for samples, and for features
  const double least = GetParam() == DType::kF16 ? 0.99999 : GetParam() == DType::kI8 ? 0.999 : 0.95;
  // The second program gets random numbers, which no sound has as features.
  const double of_none = GetParam() == DType::kF16 ? 0.99999 : GetParam() == DType::kI8 ? 0.99 : 0.8;
  EXPECT_GE(report.outputs[0].lowest_cosine, least);
  EXPECT_GE(report.outputs[1].lowest_cosine, of_none);
  for (const OutputReport& output : report.outputs) {
    EXPECT_EQ(output.name, "logits");
    EXPECT_LT(output.lowest_cosine, 1) << "it was not compared with f32 weights";
    EXPECT_GE(output.mean_cosine, output.lowest_cosine);
    EXPECT_LT(output.mean_cosine, 1);
    EXPECT_GT(output.max_abs_difference, 0);
  }
}

TEST(CompareDepth, ChoosesTheSamples) {
  ConvertOptions options;
  options.input = test::InSource("tests/data/hf/bert");
  options.weights = DType::kI8;
  std::vector<size_t> samples;
  for (const Comparison depth : {Comparison::kNone, Comparison::kQuick, Comparison::kFull}) {
    options.compare = depth;
    ConvertReport report;
    BuildBlob(Describe(options), options, report);
    EXPECT_EQ(report.outputs.empty(), depth == Comparison::kNone);
    samples.push_back(report.sample_lengths.size());
  }
  EXPECT_EQ(samples, (std::vector<size_t>{0, 4, 17}));
}

// One channel that is far larger than the rest dominates a plain cosine, but not the one with scaled channels.
TEST(CompareRows, OneLargeChannelDoesNotHideTheRest) {
  ConvertOptions options;
  options.input = test::InSource("tests/data/hf/bert");
  ConvertReport report;
  const LoadedBlob blob(BuildBlob(Describe(options), options, report), "bert");
  const ProgramOutputs run = OutputsBy(blob.model, 1);
  const auto changed = [&](float error) -> ProgramOutputs {
    return [&run, error](uint32_t program, const Batch& batch) {
      std::vector<Matrix> outputs = run(program, batch);
      for (Matrix& output : outputs) {
        for (size_t i = 0; i < output.values.size(); ++i) {
          float& value = output.values[i];
          const bool massive = i % output.width == 3;
          value = massive ? 3000 : value * (i % 2 == 0 ? 1 + error : 1 - error);
        }
      }
      return outputs;
    };
  };
  const Reference reference(blob.model, changed(0), 0, options);
  for (const OutputReport& output : reference.Compare(changed(0.8f))) {
    EXPECT_GT(output.lowest_cosine, 0.999) << output.name;
    EXPECT_LT(output.lowest_scaled_cosine, 0.9) << output.name;
    EXPECT_LT(output.mean_scaled_cosine, 0.9) << output.name;
  }
  for (const OutputReport& output : reference.Compare(changed(0))) {
    EXPECT_NEAR(output.lowest_scaled_cosine, 1, 1e-9) << output.name;
  }
}

// The sample and the channel that lose most are named.
TEST(CompareRows, NamesTheWorstSampleAndChannel) {
  ConvertOptions options;
  options.input = test::InSource("tests/data/hf/bert");
  ConvertReport report;
  const LoadedBlob blob(BuildBlob(Describe(options), options, report), "bert");
  const ProgramOutputs run = OutputsBy(blob.model, 1);
  const Reference reference(blob.model, run, 0, options);
  ASSERT_EQ(reference.lengths().size(), 4u);
  // Channel 5 of the rows of the third sample has the other sign.
  const uint32_t first = reference.lengths()[0] + reference.lengths()[1];
  const ProgramOutputs changed = [&](uint32_t program, const Batch& batch) {
    std::vector<Matrix> outputs = run(program, batch);
    for (uint32_t row = first; row < first + reference.lengths()[2]; ++row) {
      outputs[0].values[row * outputs[0].width + 5] *= -1;
    }
    return outputs;
  };
  const OutputReport output = reference.Compare(changed)[0];
  EXPECT_EQ(output.name, "last_hidden_state");
  EXPECT_EQ(output.worst_sample, 2u);
  EXPECT_EQ(output.worst_channel, 5u);
  const Matrix exact = run(0, SyntheticBatch(blob.model, 0, reference.lengths()))[0];
  double squares = 0, errors = 0;
  for (uint32_t row = 0; row < exact.rows; ++row) {
    const double value = exact.Row(row)[5];
    squares += value * value;
    if (row >= first && row < first + reference.lengths()[2]) errors += 4 * value * value;
  }
  EXPECT_NEAR(output.worst_channel_error, sqrt(errors / squares), 1e-6);
  const OutputReport same = reference.Compare(run)[0];
  EXPECT_EQ(same.worst_channel_error, 0);
}

TEST(CompareRows, NumbersThatAreNoneAreFarFromAll) {
  ConvertOptions options;
  options.input = test::InSource("tests/data/hf/bert");
  ConvertReport report;
  const LoadedBlob blob(BuildBlob(Describe(options), options, report), "bert");
  const ProgramOutputs exact = OutputsBy(blob.model, 1);
  const Reference reference(blob.model, exact, 0, options);
  const auto compared = [&](float number) {
    return reference.Compare([&](uint32_t program, const Batch& batch) {
      std::vector<Matrix> outputs = exact(program, batch);
      if (number != 0) outputs[0].values[1] = number;
      return outputs;
    })[0];
  };
  const OutputReport same = compared(0);
  EXPECT_EQ(same.lowest_cosine, 1);
  EXPECT_EQ(same.mean_cosine, 1);
  EXPECT_EQ(same.max_abs_difference, 0);
  for (const float number : {NAN, INFINITY}) {
    const OutputReport other = compared(number);
    EXPECT_EQ(other.lowest_cosine, 0) << number;
    EXPECT_LT(other.mean_cosine, 1) << number;
    EXPECT_GT(other.mean_cosine, 0) << number;
    EXPECT_EQ(other.max_abs_difference, INFINITY) << number;
  }
}

// A blob is compared in stages, from its file, or as a whole, from memory. The models have tensors that are equal.
TEST(CompareFile, IsAsInMemory) {
  for (const char* name : {"bert", "longt5-tglobal", "pegasus", "swin"}) {
    ConvertOptions options;
    options.input = test::InSource("tests/data/hf/") + name;
    options.weights = DType::kI8;
    ConvertReport expected;
    const std::vector<uint8_t> blob = BuildBlob(Describe(options), options, expected);
    options.output = testing::TempDir() + fmt::format("/compare_file_{}.fovea", getpid());
    const ConvertReport found = Convert(options);
    const std::string file = ReadFile(options.output);
    std::filesystem::remove(options.output);
    EXPECT_EQ(std::vector<uint8_t>(file.begin(), file.end()), blob) << name;
    ASSERT_EQ(found.outputs.size(), expected.outputs.size());
    for (size_t i = 0; i < expected.outputs.size(); ++i) {
      EXPECT_EQ(found.outputs[i].name, expected.outputs[i].name);
      EXPECT_EQ(found.outputs[i].mean_cosine, expected.outputs[i].mean_cosine) << name;
      EXPECT_EQ(found.outputs[i].max_abs_difference, expected.outputs[i].max_abs_difference) << name;
    }
    EXPECT_EQ(found.calibrated.size(), expected.calibrated.size());
  }
}

TEST_P(Compared, PackedSectionIsUsedAndChangesNothing) {
  options_.weights = GetParam();
  options_.compare = Comparison::kNone;
  ConvertReport plain_report, packed_report;
  const Description description = Describe(options_);
  const std::vector<uint8_t> plain = BuildBlob(description, options_, plain_report);
  options_.pack = {"host"};
  const std::vector<uint8_t> packed = BuildBlob(description, options_, packed_report);
  if (packed_report.packed_bytes == 0) GTEST_SKIP() << "this library packs nothing";
  EXPECT_EQ(test::SecondReader(packed).sections.back().kind, 12u);

  const Memory copy = Allocate(packed.size());
  memcpy(copy.get(), packed.data(), packed.size());
  uint64_t needed = 0;
  fovea_error error = {};
  ASSERT_EQ(fovea_model_size(copy.get(), packed.size(), nullptr, &needed, &error), FOVEA_OK) << error.text;
  const Memory memory = Allocate(needed);
  fovea_model* model = nullptr;
  ASSERT_EQ(fovea_model_init(copy.get(), packed.size(), nullptr, memory.get(), needed, &model, &error), FOVEA_OK)
      << error.text;
  fovea_model_info info = {};
  info.struct_size = sizeof(info);
  ASSERT_EQ(fovea_model_get_info(model, &info), FOVEA_OK);
  EXPECT_EQ(info.uses_packed, 1u);
  EXPECT_EQ(info.packed_bytes, 0u);

  ConvertReport difference;
  CompareBlobs(plain, packed, {}, 1, difference, {});
  ASSERT_EQ(difference.outputs.size(), 2u);
  for (const OutputReport& output : difference.outputs) EXPECT_EQ(output.max_abs_difference, 0);
}

INSTANTIATE_TEST_SUITE_P(Types, Compared, testing::Values(DType::kF32, DType::kF16, DType::kI8, DType::kI4));

}  // namespace
}  // namespace fovea::tools
