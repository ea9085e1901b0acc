#include "tests/support/run_command.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/commands/commands.h"

namespace fovea::test {

CommandResult Fovea(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv = {"fovea"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  std::ostringstream out, err;
  const int status = tools::RunCommand(static_cast<int>(argv.size()), argv.data(), out, err);
  return {status, out.str(), err.str()};
}

nlohmann::json FoveaJson(const std::vector<std::string>& arguments) {
  const CommandResult result = Fovea(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  return nlohmann::json::parse(result.out, nullptr, false);
}

std::string FoveaError(const std::vector<std::string>& arguments) {
  const CommandResult said = Fovea(arguments);
  EXPECT_EQ(said.status, 2);
  EXPECT_EQ(said.out, "");
  return said.err;
}

}  // namespace fovea::test
