// The fovea command as a function. Each subcommand is a function Add<Name> (command_list.inc) that adds it to the
// command line.
#ifndef FOVEA_TOOLS_COMMANDS_COMMANDS_H_
#define FOVEA_TOOLS_COMMANDS_COMMANDS_H_

#include <ostream>
#include <vector>

#include "tools/commands/command_line.h"

namespace fovea::tools {

enum ExitStatus { kExitOk = 0, kExitFailedCheck = 1, kExitBadInput = 2 };

// Passed to a subcommand: streams for results (`out`) and for errors and progress (`err`), and the exit status to set.
struct Console {
  std::ostream& out;
  std::ostream& err;
  int status = kExitOk;
};

// Runs one command line. Errors are one line on `err`, beginning with "fovea: ".
int RunCommand(int argc, const char* const* argv, std::ostream& out, std::ostream& err);

// Same for a program with these subcommands only.
using AddCommand = void (*)(Command app, Console* console);
int RunCommands(const std::vector<AddCommand>& commands, int argc, const char* const* argv, std::ostream& out,
                std::ostream& err);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMANDS_COMMANDS_H_
