// Models of the relatives of known families, made in a test: random weights under the original's names, the converted
// blob run by the library, and the distance to rows that the test computed itself.
#ifndef FOVEA_TESTS_CONVERT_RELATIVE_SUPPORT_H_
#define FOVEA_TESTS_CONVERT_RELATIVE_SUPPORT_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/convert/dense_model.h"
#include "tests/support/by_name.h"
#include "tests/support/random_floats.h"
#include "tests/support/second_reader.h"
#include "tools/base/fail.h"
#include "tools/base/json.h"
#include "tools/base/mapped_file.h"
#include "tools/convert/convert.h"
#include "tools/convert/description.h"
#include "tools/convert/loaded_blob.h"
#include "tools/model/session.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::tools {

class Relative : public testing::Test {
 protected:
  static constexpr uint32_t kWidth = 8, kMiddle = 12, kWords = 17, kHead = 4;

  void SetUp() override {
    directory_ = std::filesystem::path(testing::TempDir()) / ("relative-" + std::to_string(getpid()));
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void Add(const std::string& name, std::vector<uint64_t> shape, float scale = 0.4f, float mean = 0) {
    size_t count = 1;
    for (const uint64_t size : shape) count *= size;
    std::vector<float> values = test::RandomFloats(count, scale, ++seed_);
    for (float& value : values) value += mean;
    tensors_[name] = {std::move(shape), std::move(values)};
  }
  void Linear(const std::string& name, uint64_t out, uint64_t in, bool bias = false) {
    Add(name + ".weight", {out, in});
    if (bias) Add(name + ".bias", {out}, 0.2f);
  }
  void Norm(const std::string& name, uint64_t width, bool bias = false) {
    Add(name + ".weight", {width}, 0.3f, 1);
    if (bias) Add(name + ".bias", {width}, 0.2f);
  }

  // Names of a layer of Llama, whose tensors it adds: two heads of four columns, one key head.
  test::DenseLayer LlamaLayer(uint32_t i, bool bias = false, const std::string& mlp = "mlp") {
    const std::string at = "model.layers." + std::to_string(i) + ".", self = at + "self_attn.", feed = at + mlp + ".";
    Linear(self + "q_proj", 2 * kHead, kWidth, bias);
    Linear(self + "k_proj", kHead, kWidth, bias);
    Linear(self + "v_proj", kHead, kWidth, bias);
    Linear(self + "o_proj", kWidth, 2 * kHead);
    Linear(feed + "gate_proj", kMiddle, kWidth);
    Linear(feed + "up_proj", kMiddle, kWidth);
    Linear(feed + "down_proj", kWidth, kMiddle);
    Norm(at + "input_layernorm", kWidth);
    Norm(at + "post_attention_layernorm", kWidth);
    test::DenseLayer layer;
    layer.before = at + "input_layernorm";
    layer.query = self + "q_proj", layer.key = self + "k_proj", layer.value = self + "v_proj";
    layer.output = self + "o_proj";
    layer.forward_before = at + "post_attention_layernorm";
    layer.gate = feed + "gate_proj", layer.up = feed + "up_proj", layer.down = feed + "down_proj";
    return layer;
  }
  // Embeddings, two layers, the final norm and an untied head; and the configuration.
  void Llama(const std::string& type, const std::string& name, bool bias = false, const std::string& mlp = "mlp") {
    config_ = {{"model_type", type},           {"architectures", {name}},       {"hidden_size", kWidth},
               {"intermediate_size", kMiddle}, {"num_hidden_layers", 2},        {"num_attention_heads", 2},
               {"num_key_value_heads", 1},     {"max_position_embeddings", 64}, {"vocab_size", kWords},
               {"rms_norm_eps", 1e-5},         {"rope_theta", 100.0},           {"tie_word_embeddings", false}};
    Add("model.embed_tokens.weight", {kWords, kWidth});
    Linear("lm_head", kWords, kWidth);
    Norm("model.norm", kWidth);
    model_ = {};
    model_.kv_heads = 1;
    model_.words = "model.embed_tokens.weight";
    model_.final_norm = "model.norm";
    model_.theta = 100;
    model_.rotated = kHead;
    for (uint32_t i = 0; i < 2; ++i) model_.layers.push_back(LlamaLayer(i, bias, mlp));
  }
  void Rename(const std::string& from, const std::string& to) {
    tensors_[to] = tensors_.at(from), tensors_.erase(from);
  }

  std::vector<uint8_t> Blob(const std::string& task = "", const std::string& family = "") {
    const std::string config = config_.dump();
    WriteFile((directory_ / "config.json").string(), config.data(), config.size());
    SafetensorsWriter writer;
    for (const auto& [name, tensor] : tensors_) writer.AddFloats(name, tensor.first, tensor.second.data());
    std::filesystem::remove(directory_ / "model.safetensors");
    writer.Write((directory_ / "model.safetensors").string());
    ConvertOptions options;
    options.input = directory_.string();
    options.task = task;
    options.family = family;
    options.compare = Comparison::kNone;
    report_ = {};
    return BuildBlob(Describe(options), options, report_);
  }
  std::string Refusal(const std::string& task = "") {
    try {
      Blob(task);
    } catch (const Failure& failure) {
      return failure.what();
    }
    ADD_FAILURE() << "was not refused";
    return "";
  }

  // A value of the first program for one text.
  std::vector<float> Run(const std::string& output, const std::vector<int32_t>& ids, const std::string& task = "") {
    const std::vector<uint8_t> bytes = Blob(task);
    const test::ReadBlob blob = test::SecondReader(bytes);
    const LoadedBlob loaded(bytes, "relative");
    SessionRequest request;
    const uint32_t tokens = test::IndexOf(blob.spaces, "tokens");
    request.limits = {{blob.spaces[tokens].parent, 1, 0}, {tokens, static_cast<uint32_t>(ids.size()), 0}};
    const uint32_t value = test::IndexOf(blob.programs.at(0).values, output);
    request.keep = {value};
    Session session(loaded.model, request);
    session.SetSegments(tokens, {static_cast<uint32_t>(ids.size())});
    for (uint32_t i = 0; i < blob.programs[0].values.size(); ++i) {
      const test::ReadValue& input = blob.programs[0].values[i];
      if (input.role != 1) continue;
      session.SetInput(i, input.name == "input_ids" ? ids : std::vector<int32_t>(ids.size(), 0));
    }
    session.Run();
    return session.Output(value).values;
  }

  static void ExpectNear(const std::vector<float>& found, const test::DenseRows& expected, double within = 2e-5) {
    size_t at = 0;
    double worst = 0, largest = 0;
    for (const std::vector<double>& row : expected) {
      for (const double value : row) {
        ASSERT_LT(at, found.size());
        worst = std::max(worst, std::fabs(found[at++] - value));
        largest = std::max(largest, std::fabs(value));
      }
    }
    EXPECT_EQ(at, found.size());
    EXPECT_GT(largest, 0.05);
    EXPECT_LE(worst, within * std::max(largest, 1.0));
  }

  test::DenseRows Scores(const std::string& head = "lm_head") {
    return test::DenseLinear(tensors_, model_.States(tensors_, ids_), head);
  }
  void ExpectScores(const std::string& head = "lm_head") { ExpectNear(Run("logits", ids_), Scores(head)); }
  bool HasFinding(const std::string& part) const {
    for (const Finding& finding : report_.findings) {
      if (finding.text.find(part) != std::string::npos) return true;
    }
    return false;
  }

  std::filesystem::path directory_;
  test::DenseTensors tensors_;
  Json config_;
  test::DenseModel model_;
  std::vector<int32_t> ids_ = {3, 16, 7, 1, 12, 9, 4};
  ConvertReport report_;
  uint32_t seed_ = 0;
};

}  // namespace fovea::tools

#endif  // FOVEA_TESTS_CONVERT_RELATIVE_SUPPORT_H_
