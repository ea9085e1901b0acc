#include "tests/support/paths.h"

#include <filesystem>
#include <iostream>

namespace fovea::test {

std::string InSource(const std::string& path) { return std::string(FOVEA_SOURCE_DIR) + "/" + path; }
std::string InData(const std::string& path) { return InSource("tests/data/" + path); }
std::string InShared(const std::string& path) { return InSource("../shared/" + path); }

bool Missing(const std::string& path) {
  if (std::filesystem::exists(path)) return false;
  std::cout << "NOT TESTED: " << path << " is not there\n";
  return true;
}

}  // namespace fovea::test
