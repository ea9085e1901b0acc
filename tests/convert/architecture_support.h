// Variants of golden models: their directories with another configuration or other weights.
#ifndef FOVEA_TESTS_CONVERT_ARCHITECTURE_SUPPORT_H_
#define FOVEA_TESTS_CONVERT_ARCHITECTURE_SUPPORT_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/convert/reference_run.h"
#include "tests/support/paths.h"
#include "tools/base/fail.h"
#include "tools/base/json.h"
#include "tools/base/mapped_file.h"
#include "tools/convert/convert.h"
#include "tools/convert/description.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::tools {

// A copy of a golden model's directory, to be changed.
class Architecture : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void Copy(const std::string& name) {
    golden_ = test::InData("hf/" + name);
    directory_ = std::filesystem::path(testing::TempDir()) / ("architecture-" + std::to_string(getpid()));
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    for (const char* file : {"model.safetensors", "config.json", "generation_config.json"}) {
      if (std::filesystem::exists(golden_ / file)) std::filesystem::copy(golden_ / file, directory_ / file);
    }
  }
  void Write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((directory_ / file).parent_path());
    WriteFile(directory_ / file, text.data(), text.size());
  }
  // The golden configuration with these changes; null removes a key.
  void Change(const char* changes, const char* file = "config.json") {
    Json config = ReadJson((golden_ / file).string());
    config.merge_patch(Json::parse(changes));
    Write(file, config.dump());
  }
  ConvertOptions Options(const std::string& task = "", DType weights = DType::kF32) const {
    ConvertOptions options;
    options.input = directory_.string();
    options.task = task;
    options.weights = weights;
    options.compare = tools::Comparison::kNone;
    return options;
  }
  std::vector<uint8_t> Blob(const std::string& task = "", DType weights = DType::kF32) {
    const ConvertOptions options = Options(task, weights);
    report_ = {};
    return BuildBlob(Describe(options), options, report_);
  }
  // Expects a refusal whose message contains these words.
  void ExpectRefused(const char* reason, const char* changes, const std::string& task = "",
                     const char* file = "config.json") {
    Change(changes, file);
    try {
      Blob(task);
      ADD_FAILURE() << changes << " was not refused";
    } catch (const Failure& failure) {
      EXPECT_NE(std::string(failure.what()).find(reason), std::string::npos) << failure.what();
    }
  }
  // The golden weights, changed.
  using Tensors = std::map<std::string, std::pair<std::vector<uint64_t>, std::vector<float>>>;
  void ChangeWeights(const std::function<void(Tensors&)>& change) {
    Tensors tensors;
    const SafetensorsReader stored(golden_ / "model.safetensors");
    for (const auto& [name, tensor] : stored.tensors()) tensors[name] = {tensor.shape, ToFloats(tensor)};
    change(tensors);
    SafetensorsWriter writer;
    for (const auto& [name, tensor] : tensors) writer.AddFloats(name, tensor.first, tensor.second.data());
    std::filesystem::remove(directory_ / "model.safetensors");
    writer.Write(directory_ / "model.safetensors");
  }
  // Every name that begins with `from` begins with `to` instead.
  void Rename(const std::string& from, const std::string& to) {
    ChangeWeights([&](Tensors& tensors) {
      Tensors renamed;
      for (const auto& [name, tensor] : tensors) {
        renamed[name.rfind(from, 0) == 0 ? to + name.substr(from.size()) : name] = tensor;
      }
      tensors = renamed;
    });
  }
  test::ReferenceRun Run(const std::vector<double>& ids, const std::string& task = "") {
    return test::RunReference(test::SecondReader(Blob(task)), {{"input_ids", ids}}, static_cast<uint32_t>(ids.size()));
  }

  std::filesystem::path golden_, directory_;
  ConvertReport report_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TESTS_CONVERT_ARCHITECTURE_SUPPORT_H_
