// A golden model's directory with an added file that configures the preparation of its inputs.
#ifndef FOVEA_TESTS_TOOLS_GOLDEN_FOLDER_H_
#define FOVEA_TESTS_TOOLS_GOLDEN_FOLDER_H_

#include <filesystem>
#include <string>

#include "tests/support/paths.h"
#include "tests/tools/tiny_bert.h"
#include "tools/base/mapped_file.h"

namespace fovea::test {

inline std::string GoldenFolder(const std::string& golden, const std::string& preprocessor) {
  namespace fs = std::filesystem;
  const std::string folder = Temporary(golden);
  fs::create_directories(folder);
  for (const char* file : {"config.json", "model.safetensors"}) {
    fs::copy_file(InData("hf/" + golden + "/" + file), folder + "/" + file, fs::copy_options::overwrite_existing);
  }
  tools::WriteFile(folder + "/preprocessor_config.json", preprocessor.data(), preprocessor.size());
  return folder;
}

}  // namespace fovea::test

#endif  // FOVEA_TESTS_TOOLS_GOLDEN_FOLDER_H_
