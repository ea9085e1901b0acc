// Every published encoder architecture against what the original library computed: every case, every traced value.
#include "tests/golden/golden_support.h"
#include "tests/support/heap_trap.h"
#include "tools/common/batch.h"
#include "tools/common/golden_check.h"

namespace fovea::test {
namespace {

const char* const kDirectories[] = {"bert",       "bert-mlm",       "bert-seqcls",       "bert-tokcls",
                                    "roberta",    "roberta-mlm",    "roberta-seqcls",    "xlm-roberta-mlm",
                                    "distilbert", "distilbert-mlm", "distilbert-seqcls", "albert",
                                    "albert-mlm", "mpnet-mlm"};

class PublishedEncoder : public ::testing::TestWithParam<const char*> {
 protected:
  std::string Path() const { return kShared + "/goldens/hf/" + GetParam(); }
};

void ExpectAllOk(const tools::Model& model, const tools::StoredTensors& golden, const tools::CheckOptions& options) {
  const std::vector<tools::CheckLine> lines = tools::CheckGolden(model, golden, options);
  EXPECT_FALSE(lines.empty());
  for (const tools::CheckLine& line : lines) EXPECT_TRUE(line.ok) << tools::LineText(line);
}

TEST_P(PublishedEncoder, F32IsWithinRounding) {
  if (Missing(Path())) GTEST_SKIP();
  const tools::SafetensorsReader golden(Path() + "/golden.safetensors");
  tools::CheckOptions options;  // 1e-4 of the largest magnitude + 1e-5
  for (const uint32_t backend : {FOVEA_BACKEND_DEFAULT, FOVEA_BACKEND_HIGHWAY}) {
    const Converted converted(Path(), DType::kF32, "", backend);
    for (const uint32_t workers : {1u, 3u}) {
      options.workers = workers;
      ExpectAllOk(converted.model, golden.tensors(), options);
    }
  }
}

TEST_P(PublishedEncoder, F16WeightsAreCloseAndIntegerWeightsRun) {
  if (Missing(Path())) GTEST_SKIP();
  const tools::SafetensorsReader golden(Path() + "/golden.safetensors");
  // These models are tiny and random, so integers lose more than on trained weights.
  const std::pair<DType, double> types[] = {{DType::kF16, 0.9999}, {DType::kI8, 0.99}, {DType::kI4, 0.5}};
  for (const auto& [type, cosine] : types) {
    const Converted converted(Path(), type);
    tools::CheckOptions options;
    options.cosine = cosine;
    ExpectAllOk(converted.model, golden.tensors(), options);
  }
}

TEST_P(PublishedEncoder, RunsWithoutHeap) {
  if (Missing(Path())) GTEST_SKIP();
  if (!fovea::testing::HeapTrap::Works()) GTEST_SKIP() << "the heap cannot be watched in this build";
  for (const DType type : {DType::kF32, DType::kF16, DType::kI8, DType::kI4}) {
    for (const uint32_t backend : {FOVEA_BACKEND_DEFAULT, FOVEA_BACKEND_HIGHWAY}) {
      const Converted converted(Path(), type, "", backend);
      const tools::Batch batch = tools::SyntheticBatch(converted.model, 0, {20, 3, 40});
      for (uint32_t workers = 1; workers <= 4; ++workers) {
        tools::SessionRequest request;
        request.workers = workers;
        request.limits = tools::ExactLimits(converted.model, batch);
        tools::Session session(converted.model, request);
        tools::Bind(batch, &session);
        uint64_t calls = 0;
        fovea_status status;
        {
          fovea::testing::HeapTrap trap;
          status = fovea_session_run(session.get(), nullptr);
          calls = trap.calls();
        }
        EXPECT_EQ(status, FOVEA_OK);
        EXPECT_EQ(calls, 0u);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PublishedEncoder, ::testing::ValuesIn(kDirectories), [](const auto& directory) {
  std::string name = directory.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace fovea::test
