// The fovea command, run in this process.
#ifndef FOVEA_TESTS_SUPPORT_RUN_COMMAND_H_
#define FOVEA_TESTS_SUPPORT_RUN_COMMAND_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace fovea::test {

// What the command did.
struct CommandResult {
  int status = 0;
  std::string out, err;
};
CommandResult Fovea(const std::vector<std::string>& arguments);
// What it prints with --json, which is among the arguments. It is expected to succeed.
nlohmann::json FoveaJson(const std::vector<std::string>& arguments);

// What it says is wrong. It is expected to refuse, with status 2 and no other output.
std::string FoveaError(const std::vector<std::string>& arguments);

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SUPPORT_RUN_COMMAND_H_
