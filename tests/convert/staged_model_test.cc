// Programs in stages against the same programs at once.
#include "tools/convert/staged_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "runtime/blob/numbers.h"
#include "tests/support/fewer_cases.h"
#include "tests/support/paths.h"
#include "tests/support/random_floats.h"
#include "tools/convert/attention_types.h"
#include "tools/convert/constants.h"
#include "tools/convert/convert.h"
#include "tools/convert/encoder.h"
#include "tools/convert/exact_model.h"
#include "tools/measure/synthetic_batch.h"

namespace fovea::test {
namespace {

using namespace tools;  // NOLINT

std::vector<Matrix> RunAtOnce(const Model& model, uint32_t program, const Batch& batch) {
  SessionRequest request;
  request.program = program;
  Session session = SessionFor(model, batch, request);
  session.Run();
  std::vector<Matrix> outputs;
  for (const uint32_t value : OutputsOf(model, program)) outputs.push_back(session.Output(value));
  return outputs;
}

// A published model or an example of this repository.
class ModelInStages : public testing::TestWithParam<std::string> {};

Resolved Read(const std::string& folder) {
  ConvertOptions options;
  options.input = InSource(folder);
  const std::string graph = options.input + "/graph.json";
  if (std::filesystem::exists(graph)) options.input = graph;
  if (folder.find("segformer") != std::string::npos) options.image_sizes = {"32x64"};
  return Resolve(Describe(options));
}

void ExpectTheSame(const BlobContent& content, uint32_t backend, const StagedModel& staged) {
  const std::vector<uint8_t> bytes = WriteBlob(content);
  const LoadedBlob whole(LoadedBlob::Copy(bytes), bytes.size(), "at once", {backend, false});
  for (uint32_t program = 0; program < whole.model.Info().program_count; ++program) {
    const Batch batch = SyntheticBatch(whole.model, program, {5, 1, 12});
    const std::vector<Matrix> expected = RunAtOnce(whole.model, program, batch);
    const std::vector<Matrix> found = staged.Outputs(program, batch);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(found[i].width, expected[i].width);
      EXPECT_EQ(found[i].values, expected[i].values) << "program " << program << ", output " << i;
    }
  }
}

// Each operation with tensors alone, and a few combined.
constexpr uint64_t kStageBytes[] = {1, 1 << 15};

TEST_P(ModelInStages, HasTheBitsOfTheWholeModel) {
  const Resolved model = Read(GetParam());
  Workers workers;
  BlobContent content = model.content;
  content.tensors = EncodeAll(model, TypesFor(model, DType::kF32), workers, {}).tensors;
  for (const uint64_t most : kStageBytes) {
    ExpectTheSame(content, FOVEA_BACKEND_HIGHWAY, ExactModel(model, workers, most).staged());
  }
}

TEST_P(ModelInStages, HasThemWithIntegersToo) {
  const Resolved model = Read(GetParam());
  Workers workers;
  BlobContent content = model.content;
  content.tensors = EncodeAll(model, TypesFor(model, DType::kI8), workers, {}).tensors;
  CastKeys(DType::kI8, content);
  for (BlobProgram& program : content.programs) SetProducts(Products::kI8, program);
  const auto source = [&](size_t i, BlobTensor& tensor) { tensor = content.tensors[i]; };
  for (const uint64_t most : kStageBytes) {
    ExpectTheSame(content, FOVEA_BACKEND_DEFAULT, StagedModel(content, source, FOVEA_BACKEND_DEFAULT, workers, most));
  }
}

std::vector<std::string> Models() {
  std::vector<std::string> models;
  for (const char* folder : {"tests/data/hf", "tools/convert/examples"}) {
    for (const auto& entry : std::filesystem::directory_iterator(InSource(folder))) {
      if (!std::filesystem::exists(entry.path() / "model.safetensors")) continue;
      models.push_back(folder + ("/" + entry.path().filename().string()));
    }
  }
  std::sort(models.begin(), models.end());
  return models;
}

// Values in spaces that are derived, selected, cached or carried.
const std::vector<std::string> kFew = {
    "tests/data/hf/bert",
    "tests/data/hf/funnel",
    "tests/data/hf/llama",
    "tests/data/hf/longt5-tglobal",
    "tests/data/hf/reformer-mlm",
    "tests/data/hf/whisper",
    "tools/convert/examples/gru-seq2seq",
    "tools/convert/examples/query-three-hops",
};

INSTANTIATE_TEST_SUITE_P(, ModelInStages, testing::ValuesIn(FewerCases() ? kFew : Models()));

constexpr uint32_t kWidth = 16;
constexpr uint64_t kWeightBytes = kWidth * kWidth * sizeof(float);

// Numbers x -> three layers, 0 to 2: two weights, whose result yNb is added to what the layer reads, which makes zN.
Resolved ThreeLayers() {
  Description d;
  d.spaces = {{"texts"}, {"tokens", "texts"}};
  tools::Program program;
  program.name = "encode";
  program.inputs = {{"x", "tokens", false, kWidth}};
  std::string rows = "x";
  for (int layer = 0; layer < 3; ++layer) {
    std::string between = rows;
    const std::string n = std::to_string(layer);
    for (const char* half : {"a", "b"}) {
      const std::string name = n + half;
      d.weights.Add("w" + name, Literal(kWidth, kWidth, RandomFloats(kWidth * kWidth, 1, layer)));
      program.operations.push_back({"linear", {between}, {"w" + name}, "y" + name});
      between = "y" + name;
    }
    program.operations.push_back({"add", {rows, between}, {}, "z" + n});
    rows = "z" + n;
  }
  program.outputs = {rows};
  d.programs = {program};
  return Resolve(d);
}

uint32_t ValueOf(const BlobProgram& program, const std::string& name) {
  for (uint32_t i = 0; i < program.values.size(); ++i) {
    if (program.values[i].name == name) return i;
  }
  return kBlobNone;
}

TEST(CutIntoStages, HoldsNoMoreThanAskedAndCutsWhereLittleCrosses) {
  const Resolved model = ThreeLayers();
  const BlobProgram& program = model.content.programs[0];
  const uint32_t z0 = ValueOf(program, "z0"), z1 = ValueOf(program, "z1"), z2 = ValueOf(program, "z2");
  // One and a half layers: in the middle of a layer two values would cross the cut.
  const std::vector<Stage> stages = CutIntoStages(model.content, program, {z2}, 1, 3 * kWeightBytes);
  ASSERT_EQ(stages.size(), 3u);
  for (const Stage& stage : stages) EXPECT_EQ(stage.program.operations.size(), 3u);
  using Values = std::vector<uint32_t>;
  EXPECT_EQ(stages[0].given, Values());
  EXPECT_EQ(stages[0].made, Values{z0});
  EXPECT_EQ(stages[1].given, Values{z0});
  EXPECT_EQ(stages[1].made, Values{z1});
  EXPECT_EQ(stages[2].given, Values{z1});
  EXPECT_EQ(stages[2].made, Values{z2});
  EXPECT_EQ(CutIntoStages(model.content, program, {z2}, 1, 7 * kWeightBytes).size(), 1u);
  // One weight each, and the last sum, whose rows are outputs.
  EXPECT_EQ(CutIntoStages(model.content, program, {z2}, 1, 1).size(), 7u);
}

TEST(CutIntoStages, CountsWantedRowsAndLeavesOutWhatNobodyNeeds) {
  const Resolved model = ThreeLayers();
  const BlobProgram& program = model.content.programs[0];
  const std::set<uint32_t> wanted = {ValueOf(program, "z0"), ValueOf(program, "y1b")};
  const std::vector<Stage> stages = CutIntoStages(model.content, program, wanted, 1, 6 * kWeightBytes);
  ASSERT_EQ(stages.size(), 1u);
  EXPECT_EQ(stages[0].program.operations.size(), 5u);  // up to y1b
  EXPECT_EQ(stages[0].made, std::vector<uint32_t>(wanted.begin(), wanted.end()));
  // Enough rows that each of the two takes as much memory as three weights.
  EXPECT_EQ(CutIntoStages(model.content, program, wanted, 3 * kWidth, 6 * kWeightBytes).size(), 2u);
}

}  // namespace
}  // namespace fovea::test
