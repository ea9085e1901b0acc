// The fovea command, run in this process.
#ifndef FOVEA_TESTS_SUPPORT_RUN_COMMAND_H_
#define FOVEA_TESTS_SUPPORT_RUN_COMMAND_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace fovea::test {

// Result of running the command.
struct CommandResult {
  int status = 0;
  std::string out, err;
};
CommandResult Fovea(const std::vector<std::string>& arguments);
// The output of the command with --json, which is among the arguments. The command must succeed.
nlohmann::json FoveaJson(const std::vector<std::string>& arguments);

// The error message of the command, which must fail with status 2 and no other output.
std::string FoveaError(const std::vector<std::string>& arguments);

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SUPPORT_RUN_COMMAND_H_
