// The fovea command as a function, and one function per subcommand that adds it to the command line.
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

void AddAttend(Command app, Console* console);
void AddBench(Command app, Console* console);
void AddBenchAttention(Command bench, Console* console);  // a subcommand of bench
void AddCheck(Command app, Console* console);
void AddConvert(Command app, Console* console);
void AddEval(Command app, Console* console);
void AddGenerate(Command app, Console* console);
void AddInspect(Command app, Console* console);
void AddPack(Command app, Console* console);
void AddRun(Command app, Console* console);
void AddSimilarity(Command app, Console* console);
void AddTokenize(Command app, Console* console);
void AddTranscribe(Command app, Console* console);
void AddTranslate(Command app, Console* console);
void AddVerify(Command app, Console* console);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMANDS_COMMANDS_H_
