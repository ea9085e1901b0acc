// The fovea command: all of its subcommands, in the order of its help.
#include "tools/commands/commands.h"

namespace fovea::tools {

int RunCommand(int argc, const char* const* argv, std::ostream& out, std::ostream& err) {
  return RunCommands({AddConvert, AddRun, AddGenerate, AddTranscribe, AddTranslate, AddAttend, AddSimilarity,
                      AddTokenize, AddInspect, AddPack, AddCheck, AddEval, AddBench, AddVerify},
                     argc, argv, out, err);
}

}  // namespace fovea::tools
