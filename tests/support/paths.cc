#include "tests/support/paths.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <iostream>

namespace fovea::test {

std::string InSource(const std::string& path) { return std::string(FOVEA_SOURCE_DIR) + "/" + path; }
std::string InData(const std::string& path) { return InSource("tests/data/" + path); }

std::string InShared(const std::string& path) {
  const char* elsewhere = getenv("FOVEA_SHARED_DIR");
  return (elsewhere != nullptr ? elsewhere : InSource("../shared")) + "/" + path;
}

bool Missing(const std::string& path) {
  if (std::filesystem::exists(path)) return false;
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::cout << "NOT TESTED: " << test->test_suite_name() << "." << test->name() << ", for want of " << path << "\n";
  return true;
}

}  // namespace fovea::test
