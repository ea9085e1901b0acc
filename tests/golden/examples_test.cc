// Every described system against what PyTorch computes with the same weights (tools/convert/examples).
#include <algorithm>
#include <set>

#include "tests/golden/golden_support.h"
#include "tools/check/golden_check.h"
#include "tools/tensors/padded_inputs.h"

namespace fovea::test {
namespace {

const std::string kExamples = InSource("tools/convert/examples");

// Descriptions of published models, whose weights and reference are elsewhere (trained_models_test.cc).
const std::set<std::string> kPublished = {"kwt1", "luong-date-tfjs", "use-lite"};

std::vector<std::string> Examples() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kExamples)) {
    const std::string name = entry.path().filename().string();
    if (std::filesystem::exists(entry.path() / "graph.json") && kPublished.count(name) == 0) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Examples, AreManyAndHaveGoldens) {
  EXPECT_GE(Examples().size(), 20u);
  for (const std::string& name : Examples()) {
    for (const char* file : {"make.py", "golden.safetensors"}) {
      EXPECT_TRUE(std::filesystem::exists(kExamples + "/" + name + "/" + file)) << name << ": " << file;
    }
  }
}

class Example : public ::testing::TestWithParam<std::string> {
 protected:
  std::string Path(const std::string& file) const { return kExamples + "/" + GetParam() + "/" + file; }
  void ExpectAllOk(const tools::Model& model, const tools::CheckOptions& options) const {
    size_t compared = 0;
    for (const tools::CheckLine& line : tools::CheckGolden(model, golden_.tensors(), options)) {
      EXPECT_TRUE(line.ok) << tools::LineText(line);
      compared += line.compared ? 1 : 0;
    }
    EXPECT_GE(compared, 2u);
  }
  // Calls f(program, batch) for every case.
  template <typename F>
  void ForEachCase(const tools::Model& model, const F& f) const {
    for (const auto& [name, tensors] : tools::CasesOf(golden_.tensors())) {
      const uint32_t program = model.FindProgram(tensors.program);
      f(program, tools::BatchFromTensors(model, program, tensors.in));
    }
  }

  const tools::SafetensorsReader golden_{Path("golden.safetensors")};
};

TEST_P(Example, F32IsWithinRounding) {
  tools::CheckOptions options;  // 1e-4 of the largest magnitude + 1e-5
  for (const uint32_t backend : {FOVEA_BACKEND_DEFAULT, FOVEA_BACKEND_HIGHWAY}) {
    const Converted converted(Path("graph.json"), DType::kF32, "", backend);
    for (const uint32_t workers : {1u, 3u}) {
      options.workers = workers;
      ExpectAllOk(converted.model, options);
    }
  }
}

TEST_P(Example, IntegerWeightsAreClose) {
  tools::CheckOptions options;
  options.cosine = 0.99;
  ExpectAllOk(Converted(Path("graph.json"), DType::kI8).model, options);
}

std::vector<std::vector<float>> Results(const tools::Model& model, uint32_t program, const tools::Batch& batch,
                                        uint32_t workers, uint32_t tile_rows) {
  tools::SessionRequest request;
  request.program = program;
  request.workers = workers;
  request.tile_rows = tile_rows;
  tools::Session session = tools::SessionFor(model, batch, request);
  session.Run();
  std::vector<std::vector<float>> results;
  for (const uint32_t value : tools::OutputsOf(model, program)) results.push_back(session.Output(value).values);
  return results;
}

TEST_P(Example, WorkersAndTilesDoNotShow) {
  for (const DType type : {DType::kF32, DType::kI8}) {
    const Converted converted(Path("graph.json"), type);
    ForEachCase(converted.model, [&](uint32_t program, const tools::Batch& batch) {
      const auto expected = Results(converted.model, program, batch, 1, 0);
      for (uint32_t workers = 1; workers <= 3; ++workers) {
        for (const uint32_t tile_rows : {0u, 1u, 5u}) {
          EXPECT_EQ(Results(converted.model, program, batch, workers, tile_rows), expected) << workers << " workers";
        }
      }
    });
  }
}

TEST_P(Example, RunsWithoutHeap) {
  if (!fovea::testing::HeapTrap::Works()) GTEST_SKIP() << "the heap cannot be watched in this build";
  for (const DType type : {DType::kF32, DType::kI8}) {
    const Converted converted(Path("graph.json"), type);
    ForEachCase(converted.model, [&](uint32_t program, const tools::Batch& batch) {
      for (const uint32_t workers : {1u, 3u}) ExpectNoHeap(converted.model, program, batch, workers);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(All, Example, ::testing::ValuesIn(Examples()), [](const auto& example) {
  std::string name = example.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace fovea::test
