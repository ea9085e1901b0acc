#include "tools/convert/published/weight_files.h"

#include <filesystem>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

std::string WeightsFile(const std::string& directory) {
  for (const char* name : {"model.safetensors", "model.safetensors.index.json"}) {
    if (fs::exists(fs::path(directory) / name)) return fs::path(directory) / name;
  }
  if (fs::exists(fs::path(directory) / "pytorch_model.bin")) {
    Fail("{}: has pytorch_model.bin only; save it as model.safetensors first", directory);
  }
  Fail("{}: has no model.safetensors", directory);
}

}  // namespace

void AddWeightFiles(const std::string& directory, const std::string& prefix, Weights& weights, Findings& findings) {
  const std::string file = WeightsFile(directory);
  weights.AddFile(file, prefix);
  findings.push_back({Topic::kFiles, fs::path(file).filename().string()});
}

}  // namespace fovea::tools
