// The fovea command as a function, and one function per subcommand that adds it to the command line.
#ifndef FOVEA_TOOLS_COMMANDS_COMMANDS_H_
#define FOVEA_TOOLS_COMMANDS_COMMANDS_H_

#include <ostream>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

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
using AddCommand = void (*)(CLI::App* app, Console* console);
int RunCommands(const std::vector<AddCommand>& commands, int argc, const char* const* argv, std::ostream& out,
                std::ostream& err);

void AddAttend(CLI::App* app, Console* console);
void AddBench(CLI::App* app, Console* console);
void AddBenchAttention(CLI::App* bench, Console* console);  // a subcommand of bench
void AddCheck(CLI::App* app, Console* console);
void AddConvert(CLI::App* app, Console* console);
void AddEval(CLI::App* app, Console* console);
void AddGenerate(CLI::App* app, Console* console);
void AddInspect(CLI::App* app, Console* console);
void AddPack(CLI::App* app, Console* console);
void AddRun(CLI::App* app, Console* console);
void AddSimilarity(CLI::App* app, Console* console);
void AddTokenize(CLI::App* app, Console* console);
void AddTranscribe(CLI::App* app, Console* console);
void AddTranslate(CLI::App* app, Console* console);
void AddVerify(CLI::App* app, Console* console);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMANDS_COMMANDS_H_
