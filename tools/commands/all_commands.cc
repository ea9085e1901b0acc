// The fovea command: all of its subcommands.
#include "tools/commands/commands.h"

namespace fovea::tools {

#define FOVEA_COMMAND(Name) void Add##Name(Command app, Console* console);
#include "tools/commands/command_list.inc"
#undef FOVEA_COMMAND

int RunCommand(int argc, const char* const* argv, std::ostream& out, std::ostream& err) {
#define FOVEA_COMMAND(Name) Add##Name,
  const std::vector<AddCommand> commands = {
#include "tools/commands/command_list.inc"
  };
#undef FOVEA_COMMAND
  return RunCommands(commands, argc, argv, out, err);
}

}  // namespace fovea::tools
