// Decoders with attention, step by step: a trained date normaliser, and an attention LSTM as another project tests it.
#include "tools/generate/generation.h"

#include <nlohmann/json.hpp>

#include "fovea/generate.h"
#include "tests/golden/golden_support.h"
#include "tests/support/by_name.h"
#include "tools/base/json.h"
#include "tools/convert/constants.h"
#include "tools/convert/description.h"

namespace fovea::test {
namespace {

using tools::Json;

class LuongDates : public ::testing::Test {
 protected:
  const std::string directory_ = InShared("models/luong-date-tfjs");
  const std::string description_ = InSource("tools/convert/examples/luong-date-tfjs/graph.json");

  Json Cases() const { return tools::ReadJson(directory_ + "/expected.json")["cases"]; }
  // How many of the reference's strings come out, from texts.
  size_t Right(const tools::Model& model, bool alignments) const {
    const tools::Tokenizer tokenizer(model);
    const Json cases = Cases();
    std::vector<std::vector<int32_t>> inputs;
    for (const Json& one : cases) inputs.push_back(tokenizer.Encode(one["input"], 0).ids);
    tools::GenerationRequest request;
    request.workers = 2;
    request.alignments = alignments;
    const std::vector<tools::Generation> found = tools::Generate(model, inputs, request);
    size_t right = 0;
    for (size_t i = 0; i < cases.size(); ++i) right += found[i].text == cases[i]["expected_output"] ? 1 : 0;
    return right;
  }
};

TEST_F(LuongDates, EveryStringProbabilityAndAlignment) {
  if (Missing(directory_)) GTEST_SKIP();
  const Converted converted(description_, DType::kF32, directory_);
  const tools::Model& model = converted.model;
  EXPECT_EQ(Right(model, false), 300u);

  const tools::SafetensorsReader expected(directory_ + "/expected.safetensors");
  const std::vector<int64_t> ids = tools::ToIntegers(expected.Get("input_ids"));
  const std::vector<int64_t> fed = tools::ToIntegers(expected.Get("decoder_input_ids"));
  const std::vector<float> probabilities = tools::ToFloats(expected.Get("probabilities"));
  const std::vector<float> alignments = tools::ToFloats(expected.Get("alignments"));
  const std::vector<float> rows = tools::ToFloats(expected.Get("encoder_outputs"));
  constexpr uint32_t kTexts = 300, kSteps = 10, kKeys = 12, kTokens = 13;
  tools::SessionRequest request;
  request.limits = {{0, kTexts, 0}};
  tools::Session encode(model, request);
  encode.SetSegments(0, {kTexts});
  encode.SetInput(ValueOf(model, "input_ids"), std::vector<int32_t>(ids.begin(), ids.end()));
  encode.Run();
  EXPECT_LE(LargestDifference(encode.Output(ValueOf(model, "rows")).values.data(), rows), 1e-5);

  request.program = 1;
  request.linked = {*model.FindValue(1, "rows")};
  request.taps = {tools::TapOf(*model.FindAttention(1, "alignments"))};
  tools::Session decode(model, request);
  fovea_generate_options options = {};
  options.struct_size = sizeof(options);
  options.encode = encode.get();
  options.decode = decode.get();
  fovea_error error = {};
  uint64_t size = 0;
  ASSERT_EQ(fovea_generate_size(&options, &size, &error), FOVEA_OK) << error.text;
  const AlignedBytes memory(size);
  fovea_generator* generator = nullptr;
  ASSERT_EQ(fovea_generate_init(&options, memory.data(), size, &generator, &error), FOVEA_OK) << error.text;
  ASSERT_EQ(fovea_generate_start(generator, &error), FOVEA_OK) << error.text;
  double worst_probability = 0, worst_alignment = 0;
  fovea_generated step = {};
  step.struct_size = sizeof(step);
  for (uint32_t s = 0; s < kSteps; ++s) {
    ASSERT_EQ(fovea_generate_next(generator, nullptr, &step, &error), FOVEA_OK) << error.text;
    const tools::Matrix found = decode.Output(*model.FindValue(1, "probabilities"));
    const fovea_attention_map weights = decode.AttentionMap(0);
    for (uint32_t text = 0; text < kTexts; ++text) {
      if (s + 1 < kSteps) {
        ASSERT_EQ(step.tokens[text], fed[text * kSteps + s + 1]) << text;
      }
      for (uint32_t i = 0; i < kTokens; ++i) {
        const double reference = probabilities[(text * kSteps + s) * kTokens + i];
        worst_probability = std::max(worst_probability, Distance(found.Row(text)[i], reference));
      }
      for (uint32_t k = 0; k < kKeys; ++k) {
        const double reference = alignments[(text * kSteps + s) * kKeys + k];
        worst_alignment = std::max(worst_alignment, Distance(weights.data[text * weights.stride + k], reference));
      }
    }
  }
  EXPECT_EQ(step.left, 0u);
  EXPECT_LE(worst_probability, 1e-5);
  EXPECT_LE(worst_alignment, 1e-5);
  std::cout << "largest differences: probabilities " << worst_probability << ", alignments " << worst_alignment << "\n";
}

TEST_F(LuongDates, Int8KeepsNearlyEveryString) {
  if (Missing(directory_)) GTEST_SKIP();
  const Converted converted(description_, DType::kI8, directory_);
  const size_t right = Right(converted.model, true);
  std::cout << "int8: " << right << " of 300 strings are the reference's\n";
  EXPECT_GE(right, 297u);
}

// LSTM with Bahdanau's attention (the context goes into the next step's input): h, c and the attention vector are
// carried.
TEST(AttentionLstmVectors, FedStepByStep) {
  const std::string directory = InShared("models/ort-vectors");
  if (Missing(directory)) GTEST_SKIP();
  const tools::SafetensorsReader expected(directory + "/expected.safetensors");
  for (const std::string name : {"attn_lstm.bahdanau", "attn_lstm.zero_attention"}) {
    tools::Description d;
    d.weights.AddFile(directory + "/model.safetensors");
    const std::string own = "attn_lstm.";
    std::string attention_layer = own + "attention_layer.weight";
    if (name == "attn_lstm.zero_attention") {
      attention_layer = "zeros";
      d.weights.Add("zeros", tools::Literal(2, 6, std::vector<float>(12, 0.0f)));
    }
    d.spaces = {{"texts"}, {"memory", "texts"}};
    tools::Program encode, decode;
    encode.name = "encode";
    encode.inputs = {{"memory", "memory", false, 3}};
    encode.operations = {{"linear", {"memory"}, {own + "memory_layer.weight"}, "keys"}};
    encode.outputs = {"keys"};
    decode.name = "decode";
    decode.inputs = {{"x", "texts", false, 3},
                     {"state", "texts", false, 6, "next_state"},
                     {"attention", "texts", false, 2, "next_attention"},
                     {"keys", "memory", false, 2},
                     {"memory", "memory", false, 3}};
    decode.operations = {
        {"concat", {"x", "attention"}, {}, "input"},
        {"linear", {"input"}, {own + "lstm.weight_ih", own + "lstm.bias"}, "gates"},
        {"cell", {"gates", "state"}, {own + "lstm.weight_hh"}, "next_state", {{"cell", "lstm"}}},
        {"slice", {"next_state"}, {}, "hidden", {{"begin", 0u}, {"width", 3u}}},
        {"linear", {"hidden"}, {own + "query_layer.weight"}, "query"},
        {"attention",
         {"query", "keys", "memory"},
         {"", "", "", "", own + "score.weight"},
         "context",
         {{"heads", 1u}, {"score", "additive"}},
         "alignments"},
        {"concat", {"hidden", "context"}, {}, "both"},
        {"linear", {"both"}, {attention_layer}, "next_attention"},
    };
    decode.outputs = {"next_state", "hidden", "next_attention"};
    d.programs = {encode, decode};
    tools::ConvertReport report;
    const AlignedBytes blob(tools::BuildBlob(d, {}, report));
    const tools::Model model(blob.data(), blob.size(), directory, {FOVEA_BACKEND_DEFAULT, false});

    const std::vector<float> memory = tools::ToFloats(expected.Get(own + "memory"));
    const std::vector<float> input = tools::ToFloats(expected.Get(own + "input"));
    tools::SessionRequest request;
    const uint32_t rows = SpaceNamed(model, "memory");
    request.limits = {{SpaceNamed(model, "texts"), 1, 0}, {rows, 3, 0}};
    tools::Session encoder(model, request);
    encoder.SetSegments(rows, {3});
    encoder.SetInput(*model.FindValue(0, "memory"), memory);
    encoder.Run();
    const auto value = [&](const char* of) { return *model.FindValue(1, of); };
    request.program = 1;
    request.linked = {value("keys")};
    request.taps = {tools::TapOf(*model.FindAttention(1, "alignments"))};
    tools::Session decoder(model, request);
    fovea_error error = {};
    ASSERT_EQ(fovea_session_link(decoder.get(), value("keys"), encoder.get(), *model.FindValue(0, "keys"), &error),
              FOVEA_OK);
    decoder.SetInput(value("memory"), memory);
    for (uint32_t step = 0; step < 3; ++step) {
      const auto row = [&](const std::string& tensor, uint32_t width) {
        const std::vector<float> all = tools::ToFloats(expected.Get(tensor));
        return std::vector<float>(all.begin() + step * width, all.begin() + (step + 1) * width);
      };
      decoder.SetInput(value("x"), std::vector<float>(input.begin() + step * 3, input.begin() + step * 3 + 3));
      decoder.Run();
      const tools::Matrix hidden = decoder.Output(value("hidden"));
      EXPECT_LE(LargestDifference(hidden.values.data(), row(name + ".output", 3)), 1e-5) << name << step;
      EXPECT_LE(LargestDifference(hidden.values.data(), row(name + ".output_printed", 3)), 1e-5) << name << step;
      EXPECT_LE(LargestDifference(decoder.AttentionMap(0).data, row(name + ".alignments", 3)), 1e-5) << name << step;
      EXPECT_LE(LargestDifference(decoder.Output(value("next_attention")).values.data(), row(name + ".attention", 2)),
                1e-5)
          << name << step;
    }
  }
}

}  // namespace
}  // namespace fovea::test
