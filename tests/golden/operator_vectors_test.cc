// Single operators as another project tests them: values that were printed, and the same in double precision.
#include "tests/golden/golden_support.h"
#include "tests/support/by_name.h"
#include "tools/convert/description.h"

namespace fovea::test {
namespace {

// Longformer self-attention without output projection: a window of 2 to each side, global rows with projections of
// their own. The last of the 8 rows is padding, which is not there in ragged rows; its output is zero.
class LongformerVectors : public ::testing::Test {
 protected:
  static constexpr uint32_t kRows = 7, kPadded = 8, kWidth = 8, kHeads = 2;

  static tools::Description Describe(const std::string& directory) {
    tools::Description d;
    d.weights.AddFile(directory + "/model.safetensors");
    d.spaces = {{"texts"}, {"tokens", "texts"}, {"globals"}};
    d.spaces.back().selects = "tokens";
    tools::Program program;
    program.name = "attend";
    program.inputs = {{"x", "tokens", false, kWidth}, {"marks", "tokens"}};
    const auto linear = [&](const std::string& in, const std::string& name) {
      const std::string tensor = "longformer." + name;
      program.operations.push_back({"linear", {in}, {tensor + ".weight", tensor + ".bias"}, name});
    };
    for (const char* name : {"query", "key", "value", "key_global", "value_global"}) linear("x", name);
    program.operations.push_back({"select", {"marks"}, {}, "rows", {{"kind", "nonzero"}}});
    program.operations.push_back({"gather", {"x", "rows"}, {}, "global_x"});
    linear("global_x", "query_global");
    program.operations.push_back(
        {"attention",
         {"query", "key", "value", "rows"},
         {},
         "local",
         {{"heads", kHeads}, {"pattern", "window"}, {"left", 2u}, {"right", 2u}, {"global_keys", true}},
         "local_weights"});
    program.operations.push_back({"attention",
                                  {"query_global", "key_global", "value_global"},
                                  {},
                                  "global",
                                  {{"heads", kHeads}},
                                  "global_weights"});
    program.operations.push_back({"merge", {"local", "global", "rows"}, {}, "output"});
    program.outputs = {"output"};
    d.programs.push_back(program);
    return d;
  }
};

TEST_F(LongformerVectors, OutputAndWeights) {
  const std::string directory = InShared("models/ort-vectors");
  if (Missing(directory)) GTEST_SKIP();
  tools::ConvertReport report;
  const AlignedBytes blob(tools::BuildBlob(Describe(directory), {}, report));
  const tools::Model model(blob.data(), blob.size(), directory, {FOVEA_BACKEND_DEFAULT, false});
  const tools::SafetensorsReader expected(directory + "/expected.safetensors");
  std::vector<float> x = tools::ToFloats(expected.Get("longformer.input"));
  x.resize(kRows * kWidth);
  for (const std::string name : {"longformer.no_global", "longformer.global_start"}) {
    const std::vector<int64_t> marks = tools::ToIntegers(expected.Get(name + ".global"));
    ASSERT_EQ(marks.size(), kPadded);
    tools::SessionRequest request;
    const uint32_t texts = SpaceNamed(model, "texts"), tokens = SpaceNamed(model, "tokens");
    request.limits = {{texts, 1, 0}, {tokens, kRows, 0}};
    for (const char* step : {"local_weights", "global_weights"}) {
      request.taps.push_back(tools::TapOf(model.FindAttention(0, step).value()));
    }
    tools::Session session(model, request);
    session.SetSegments(tokens, {kRows});
    session.SetInput(ValueOf(model, "x"), x);
    session.SetInput(ValueOf(model, "marks"), std::vector<int32_t>(marks.begin(), marks.begin() + kRows));
    session.Run();

    const tools::Matrix output = session.Output(ValueOf(model, "output"));
    for (const auto& [reference, tolerance] :
         {std::pair<std::string, double>{".output_printed", 1e-4}, {".output", 1e-5}}) {
      std::vector<float> values = tools::ToFloats(expected.Get(name + reference));
      ASSERT_EQ(values.size(), kPadded * kWidth);
      for (uint32_t i = kRows * kWidth; i < values.size(); ++i) EXPECT_EQ(values[i], 0.0f);
      values.resize(kRows * kWidth);
      ASSERT_EQ(output.values.size(), values.size());
      EXPECT_LE(LargestDifference(output.values.data(), values), tolerance) << name << reference;
    }

    const std::vector<float> weights = tools::ToFloats(expected.Get(name + ".attention_weights"));
    const fovea_attention_map local = session.AttentionMap(0), global = session.AttentionMap(1);
    uint32_t globals = 0;
    for (uint32_t row = 0; row < kRows; ++row) {
      const fovea_attention_map& from = marks[row] != 0 ? global : local;
      const uint32_t at = marks[row] != 0 ? globals++ : row;
      for (uint32_t head = 0; head < kHeads; ++head) {
        for (uint32_t key = 0; key < kRows; ++key) {
          ASSERT_NEAR(from.data[(size_t{at} * kHeads + head) * from.stride + key],
                      weights[(head * kPadded + row) * kPadded + key], 1e-5)
              << name << " row " << row << " key " << key;
        }
      }
    }
    EXPECT_EQ(globals, name == "longformer.no_global" ? 0u : 2u);
  }
}

}  // namespace
}  // namespace fovea::test
