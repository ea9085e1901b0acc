// Defaults of modules of sentence-transformers: their configuration is silent.
#include <cmath>

#include "tests/convert/architecture_support.h"
#include "tests/convert/graph_support.h"

namespace fovea::tools {
namespace {

using Row = std::vector<double>;

std::string ModuleList(const std::vector<std::pair<std::string, std::string>>& modules) {
  Json list = Json::array();
  for (const auto& [path, type] : modules) list.push_back({{"idx", list.size()}, {"path", path}, {"type", type}});
  return list.dump();
}

const std::string kModels = "sentence_transformers.models.";

// A BERT whose mean goes through a Dense layer of its width.
class SentenceDefaults : public Architecture {
 protected:
  static constexpr size_t kWidth = 32;

  void SetUp() override {
    Copy("bert");
    Write("modules.json",
          ModuleList({{"", kModels + "Transformer"}, {"1", kModels + "Pooling"}, {"2", kModels + "Dense"}}));
    Write("1/config.json", "{}");
  }

  // The embedding with this configuration of the Dense layer, and the mean before it.
  std::pair<Row, Row> Run(const Json& config) {
    Write("2/config.json", config.dump());
    SafetensorsWriter writer;
    weight_.assign(kWidth * kWidth, 0);
    bias_.assign(kWidth, 0);
    for (size_t i = 0; i < weight_.size(); ++i) weight_[i] = static_cast<float>(i * 11 % 17) / 64 - 0.125f;
    for (size_t i = 0; i < kWidth; ++i) bias_[i] = static_cast<float>(i % 5) / 4 - 0.5f;
    writer.AddFloats("linear.weight", {kWidth, kWidth}, weight_.data());
    writer.AddFloats("linear.bias", {kWidth}, bias_.data());
    std::filesystem::remove(directory_ / "2" / "model.safetensors");
    writer.Write(directory_ / "2" / "model.safetensors");
    const test::ReferenceRun run = test::RunReference(
        test::SecondReader(Blob()), {{"input_ids", {5, 6, 7, 9, 8}}, {"token_type_ids", {0, 0, 0, 0, 0}}}, 5);
    const Row& states = run.values.at("hidden_states.3");
    Row mean(kWidth);
    for (size_t i = 0; i < states.size(); ++i) mean[i % kWidth] += states[i] / 5;
    return {run.values.at("sentence_embedding"), mean};
  }
  // tanh(weight * mean + bias), and more.
  void Expect(const Json& config, double bias, double residual) {
    const auto [found, mean] = Run(config);
    ASSERT_EQ(found.size(), kWidth);
    for (size_t i = 0; i < kWidth; ++i) {
      double sum = bias * bias_[i];
      for (size_t j = 0; j < kWidth; ++j) sum += weight_[i * kWidth + j] * mean[j];
      EXPECT_NEAR(found[i], std::tanh(sum) + residual * mean[i], 1e-5) << config << i;
    }
  }

  std::vector<float> weight_, bias_;
};

TEST_F(SentenceDefaults, DenseHasABiasUnlessItSaysNo) {
  Expect(Json::object(), 1, 0);
  Expect({{"bias", false}}, 0, 0);
}

TEST_F(SentenceDefaults, ResidualsAreAdded) {
  Expect({{"use_residual", true}}, 1, 1);
  Expect({{"use_residual", false}}, 1, 0);
}

TEST_F(SentenceDefaults, ModulesBehindACrossEncoderAreRefused) {
  Copy("bert-seqcls");
  Write("modules.json", ModuleList({{"", kModels + "Transformer"}, {"1", kModels + "Normalize"}}));
  Write("config_sentence_transformers.json", R"({"model_type": "CrossEncoder"})");
  const std::string said = RefusalOf([&] { Blob(); });
  EXPECT_NE(said.find("Normalize of a CrossEncoder is not supported"), std::string::npos) << said;
}

}  // namespace
}  // namespace fovea::tools
