// BART's head for classes of texts, against the decoder's states of the same model as an encoder-decoder that reads the
// text one place later, and the head computed here.
#include <cmath>

#include "tests/convert/architecture_support.h"
#include "tests/support/by_name.h"
#include "tests/support/random_floats.h"
#include "tools/convert/loaded_blob.h"
#include "tools/model/session.h"

namespace fovea::tools {
namespace {

class BartClassifier : public Architecture {
 protected:
  static constexpr uint32_t kWidth = 32, kClasses = 3;

  // A value of the first program, for inputs of one text each.
  std::vector<float> ValueOf(const std::vector<uint8_t>& bytes, const std::string& name,
                             const std::map<std::string, std::vector<int32_t>>& inputs) {
    const test::ReadBlob blob = test::SecondReader(bytes);
    const test::ReadProgram& program = blob.programs.at(0);
    const LoadedBlob loaded(bytes, "bart");
    SessionRequest request;
    const uint32_t value = test::IndexOf(program.values, name);
    request.keep = {value};
    request.limits.push_back({test::IndexOf(blob.spaces, "texts"), 1, 0});
    for (const auto& [input, ids] : inputs) {
      const uint32_t space = program.values[test::IndexOf(program.values, input)].space;
      request.limits.push_back({space, static_cast<uint32_t>(ids.size()), 0});
    }
    Session session(loaded.model, request);
    for (const auto& [input, ids] : inputs) {
      const uint32_t index = test::IndexOf(program.values, input);
      session.SetSegments(program.values[index].space, {static_cast<uint32_t>(ids.size())});
      session.SetInput(index, ids);
    }
    session.Run();
    return session.Output(value).values;
  }
};

TEST_F(BartClassifier, TakesTheLastStateOfTheShiftedText) {
  const std::vector<int32_t> text = {0, 50, 7, 99, 31, 2}, shifted = {2, 0, 50, 7, 99, 31};
  for (const char* changes : {"{}", R"({"scale_embedding": true})"}) {
    SCOPED_TRACE(changes);
    Copy("bart");
    Change(changes);
    const std::vector<float> states =
        ValueOf(Blob(), "decoder_hidden_states.3", {{"input_ids", text}, {"decoder_input_ids", shifted}});
    ASSERT_EQ(states.size(), text.size() * kWidth);
    const std::vector<float> dense = test::RandomFloats(kWidth * kWidth, 0.3f, 1),
                             dense_bias = test::RandomFloats(kWidth, 0.3f, 2),
                             out = test::RandomFloats(kClasses * kWidth, 0.3f, 3),
                             out_bias = test::RandomFloats(kClasses, 0.3f, 4);
    ChangeWeights([&](Tensors& tensors) {
      tensors["classification_head.dense.weight"] = {{kWidth, kWidth}, dense};
      tensors["classification_head.dense.bias"] = {{kWidth}, dense_bias};
      tensors["classification_head.out_proj.weight"] = {{kClasses, kWidth}, out};
      tensors["classification_head.out_proj.bias"] = {{kClasses}, out_bias};
    });
    Json config = Json::parse(changes);
    config["architectures"] = {"BartForSequenceClassification"};
    Change(config.dump().c_str());
    const std::vector<uint8_t> blob = Blob();
    EXPECT_TRUE(report_.warnings.empty());
    const std::vector<float> logits = ValueOf(blob, "logits", {{"input_ids", text}});
    ASSERT_EQ(logits.size(), size_t{kClasses});
    const float* last = states.data() + (text.size() - 1) * kWidth;
    std::vector<double> middle;
    for (size_t r = 0; r < kWidth; ++r) {
      double sum = dense_bias[r];
      for (size_t c = 0; c < kWidth; ++c) sum += static_cast<double>(dense[r * kWidth + c]) * last[c];
      middle.push_back(std::tanh(sum));
    }
    for (size_t k = 0; k < kClasses; ++k) {
      double sum = out_bias[k];
      for (size_t c = 0; c < kWidth; ++c) sum += middle[c] * out[k * kWidth + c];
      EXPECT_NEAR(logits[k], sum, 1e-4);
    }
    EXPECT_EQ(test::SecondReader(blob).metadata.at("task"), "sequence-classification");
  }
}

}  // namespace
}  // namespace fovea::tools
