// GGUF files of every family convert to what the directory of the same model does. The files are written here from
// directories as llama.cpp's converter does: its names, its order of rows, its keys.
#include "tests/convert/gguf_families.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "tests/support/paths.h"
#include "tools/base/mapped_file.h"
#include "tools/convert/compare.h"
#include "tools/convert/convert.h"
#include "tools/convert/description.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::test {
namespace {

using tools::ConvertOptions;
using tools::ConvertReport;

std::string Scratch(const std::string& name) {
  return testing::TempDir() + "gguf_families_" + std::to_string(getpid()) + "_" + name;
}

std::string ReplacedIn(std::string name, const Pairs& pairs) {
  for (const auto& [from, to] : pairs) {
    const size_t at = name.find(from);
    if (at != std::string::npos) name.replace(at, from.size(), to);
  }
  return name;
}

// A directory with the edits, beside the same weights.
std::string Edited(const GgufFamily& family) {
  const std::string from = InData("hf/") + family.directory, to = Scratch(family.directory);
  std::filesystem::create_directories(to);
  Json config = tools::ReadJson(from + "/config.json");
  config.update(family.edits);
  const std::string text = config.dump();
  tools::WriteFile(to + "/config.json", text.data(), text.size());
  std::filesystem::copy_file(from + "/model.safetensors", to + "/model.safetensors",
                             std::filesystem::copy_options::overwrite_existing);
  return to;
}

// Experts by number become one tensor, as do the norms of heads.
std::map<std::string, StoredTensor> Stacked(const std::map<std::string, StoredTensor>& tensors) {
  std::map<std::string, StoredTensor> result;
  for (const auto& [name, tensor] : tensors) {
    const size_t at = std::min(name.find(".experts."), name.find(".norms."));
    const size_t number = at == std::string::npos ? at : name.find('.', at + 1) + 1;
    if (number == std::string::npos || !isdigit(name[number])) {
      result[name] = tensor;
      continue;
    }
    const bool norms = name.find(".norms.") != std::string::npos;
    const size_t end = name.find('.', number);
    const std::string all =
        norms
            ? ReplacedIn(name.substr(0, at), {{"q_layernorm", "q_norm"}, {"k_layernorm", "k_norm"}}) + name.substr(end)
            : name.substr(0, number) + name.substr(end + 1);
    StoredTensor& stacked = result[all];
    if (stacked.shape.empty()) {
      stacked = {all, tensor.shape, {}};
      stacked.shape.insert(stacked.shape.begin(), 0);
    }
    ++stacked.shape[0];
    stacked.values.insert(stacked.values.end(), tensor.values.begin(), tensor.values.end());
  }
  return result;
}

GgufWriter FileOf(const GgufFamily& family, const std::string& directory) {
  const Json config = tools::ReadJson(directory + "/config.json");
  const std::string arch = family.architecture + std::string(".");
  GgufWriter writer;
  writer.Text("general.architecture", family.architecture);
  for (const auto& [key, name] : family.numbers) {
    if (config.value(name, Json()).is_number()) writer.Number(arch + key, config[name]);
  }
  for (const auto& [key, name] : family.reals) {
    if (config.value(name, Json()).is_number()) writer.Real(arch + key, config[name]);
  }
  if (family.more) family.more(config, &writer, arch);
  const tools::SafetensorsReader reader(directory + "/model.safetensors");
  std::map<std::string, StoredTensor> tensors;
  for (const auto& [name, tensor] : reader.tensors()) tensors[name] = {name, tensor.shape, tools::ToFloats(tensor)};
  for (const auto& [name, tensor] : Stacked(tensors)) {
    for (const StoredTensor& one : family.change ? family.change(config, tensor) : std::vector<StoredTensor>{tensor}) {
      const std::string& values = {reinterpret_cast<const char*>(one.values.data()), 4 * one.values.size()};
      writer.Add({ReplacedIn(one.name, family.names), one.shape, 0, values});
    }
  }
  return writer;
}

std::string Written(const GgufWriter& writer) {
  const std::string path = Scratch("model.gguf"), bytes = writer.Bytes();
  tools::WriteFile(path, bytes.data(), bytes.size());
  return path;
}

std::vector<uint8_t> Blob(const std::string& input) {
  ConvertOptions options;
  options.input = input;
  options.weights = DType::kF32;
  options.compare = tools::Comparison::kNone;
  ConvertReport report;
  return tools::BuildBlob(tools::Describe(options), options, report);
}

class GgufFamilies : public testing::TestWithParam<GgufFamily> {};

TEST_P(GgufFamilies, IsTheModelOfItsDirectory) {
  const std::string directory = Edited(GetParam());
  const auto found = Blob(Written(FileOf(GetParam(), directory)));
  const auto expected = Blob(directory);
  ConvertReport report;
  ConvertOptions options;
  tools::CompareBlobs(expected, found, options, 1, report, {});
  ASSERT_FALSE(report.outputs.empty());
  for (const tools::OutputReport& output : report.outputs) {
    EXPECT_GT(output.max_abs, 0) << output.name;
    EXPECT_LE(output.max_abs_difference, 1e-4 * output.max_abs + 1e-6) << output.name;
  }
  std::filesystem::remove_all(directory);
}

std::string NameOf(const testing::TestParamInfo<GgufFamily>& info) {
  std::string name = info.param.directory;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Decoders, GgufFamilies, testing::ValuesIn(GgufDecoders()), NameOf);
INSTANTIATE_TEST_SUITE_P(Gpts, GgufFamilies, testing::ValuesIn(GgufGpts()), NameOf);
INSTANTIATE_TEST_SUITE_P(Encoders, GgufFamilies, testing::ValuesIn(GgufEncoders()), NameOf);

}  // namespace
}  // namespace fovea::test
