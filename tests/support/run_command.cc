#include "tests/support/run_command.h"

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

}  // namespace fovea::test
