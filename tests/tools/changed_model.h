// Model directories that are another one with changes, and the numbers that their blobs compute.
#ifndef FOVEA_TESTS_TOOLS_CHANGED_MODEL_H_
#define FOVEA_TESTS_TOOLS_CHANGED_MODEL_H_

#include <gtest/gtest.h>
#include <math.h>

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/parsed_json.h"
#include "tests/support/run_command.h"
#include "tests/tools/tiny_bert.h"
#include "tools/base/json.h"
#include "tools/base/mapped_file.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::test {

struct Stored {
  std::vector<uint64_t> shape;
  std::vector<float> values;
};
using StoredTensors = std::map<std::string, Stored>;

inline StoredTensors ReadTensors(const std::string& path) {
  StoredTensors tensors;
  const tools::SafetensorsReader reader(path);
  for (const auto& [name, tensor] : reader.tensors()) tensors[name] = {tensor.shape, tools::ToFloats(tensor)};
  return tensors;
}

inline void WriteText(const std::filesystem::path& path, const std::string& text) {
  tools::WriteFile(path.string(), text.data(), text.size());
}

// A copy of directory `from` as `name`: `config` is merged into config.json (null removes a key), and `change` changes
// the tensors. Returns its path.
inline std::string Changed(const std::string& from, const std::string& name, const std::string& config,
                           const std::function<void(StoredTensors&)>& change) {
  const std::filesystem::path source = from, folder = Temporary(name);
  std::filesystem::create_directories(folder);
  for (const auto& entry : std::filesystem::directory_iterator(source)) {
    const std::string file = entry.path().filename().string();
    if (file.rfind("golden", 0) == 0 || file == "model.safetensors") continue;
    std::filesystem::copy(entry.path(), folder / file, std::filesystem::copy_options::overwrite_existing);
  }
  tools::Json json = tools::ReadJson((source / "config.json").string());
  json.merge_patch(ParsedJson(config));
  WriteText(folder / "config.json", json.dump());
  StoredTensors tensors = ReadTensors((source / "model.safetensors").string());
  change(tensors);
  tools::SafetensorsWriter writer;
  for (const auto& [key, tensor] : tensors) writer.AddFloats(key, tensor.shape, tensor.values.data());
  writer.Write((folder / "model.safetensors").string());
  return folder.string();
}

// Random weights of a linear layer.
inline void AddLinear(StoredTensors& tensors, const std::string& name, uint64_t out, uint64_t in, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 0.4f);
  Stored weight = {{out, in}, std::vector<float>(out * in)}, bias = {{out}, std::vector<float>(out)};
  for (float& value : weight.values) value = normal(random);
  for (float& value : bias.values) value = normal(random);
  tensors[name + ".weight"] = weight;
  tensors[name + ".bias"] = bias;
}

// The blob of a directory.
inline std::string BlobOfDirectory(const std::string& folder, const std::string& task = "") {
  const std::string blob = folder + (task.empty() ? "" : "-" + task) + ".fovea";
  std::vector<std::string> arguments = {"convert", folder, "-o", blob, "--compare", "none"};
  if (!task.empty()) arguments.insert(arguments.end(), {"--task", task});
  const CommandResult result = Fovea(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  return blob;
}

// Outputs and the given further values of one text, by name; each input is [1, rows].
inline StoredTensors Outputs(const std::string& blob, const std::map<std::string, std::vector<int64_t>>& ids,
                             std::vector<std::string> options = {}) {
  tools::SafetensorsWriter writer;
  for (const auto& [name, values] : ids) writer.AddIntegers(name, {1, values.size()}, values.data());
  const std::string in = Temporary("in.safetensors"), out = Temporary("out.safetensors");
  writer.Write(in);
  std::vector<std::string> arguments = {"run", blob, "--input", in, "--output", out};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const CommandResult result = Fovea(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  return result.status == 0 ? ReadTensors(out) : StoredTensors();
}

using Row = std::vector<double>;

// Row `index` of the last two dimensions.
inline Row RowOf(const Stored& tensor, size_t index) {
  const size_t width = tensor.shape.back();
  const auto begin = tensor.values.begin() + static_cast<ptrdiff_t>(index * width);
  return Row(begin, begin + static_cast<ptrdiff_t>(width));
}

// A linear layer of these tensors, in double precision.
inline Row Dense(const StoredTensors& tensors, const std::string& name, const Row& x) {
  const Stored& weight = tensors.at(name + ".weight");
  const std::vector<float>& bias = tensors.at(name + ".bias").values;
  EXPECT_EQ(weight.shape[1], x.size()) << name;
  Row y;
  for (size_t i = 0; i < weight.shape[0]; ++i) {
    double sum = bias[i];
    for (size_t j = 0; j < x.size(); ++j) sum += double{weight.values[i * x.size() + j]} * x[j];
    y.push_back(sum);
  }
  return y;
}

inline Row Tanh(Row x) {
  for (double& value : x) value = tanh(value);
  return x;
}

inline Row Softmax(Row x) {
  double sum = 0;
  for (double& value : x) sum += value = exp(value);
  for (double& value : x) value /= sum;
  return x;
}

inline void ExpectNear(const Row& got, const Row& expected, double tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], tolerance) << "at " << i;
}

}  // namespace fovea::test

#endif  // FOVEA_TESTS_TOOLS_CHANGED_MODEL_H_
