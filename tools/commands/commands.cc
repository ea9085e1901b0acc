// The fovea command: parses, runs, turns every failure into one line and an exit status.
#include "tools/commands/commands.h"

#include <fmt/ostream.h>

#include <algorithm>
#include <exception>
#include <string>

#include "fovea/version.h"
#include "tools/base/fail.h"
#include "tools/commands/completion.h"
#include "tools/measure/machine.h"

namespace fovea::tools {
namespace {

int Report(Console* console, std::string message, const char* hint = "") {
  std::replace(message.begin(), message.end(), '\n', ' ');
  console->err << "fovea: " << Printable(message) << hint << std::endl;
  return kExitBadInput;
}

}  // namespace

int RunCommands(const std::vector<AddCommand>& commands, int argc, const char* const* argv, std::ostream& out,
                std::ostream& err) {
  Console console{out, err};
  try {
    const CommandLine line("fovea", "Run attention models in exact memory: convert, inspect, run, check and measure.",
                           fmt::format("fovea {} (blob format {}, {})", fovea_version(), fovea_blob_version(),
                                       VectorsName(fovea_simd_target())));
    line.root().Footer(
        "Exit status: 0 done, 1 a check failed, 2 bad usage or input. 'fovea COMMAND --help' shows examples.");
    for (const AddCommand add : commands) add(line.root(), &console);
    if (commands.size() > 1) AddCompletion(line, &console);
    if (!line.Run(argc, argv, out)) return kExitOk;
    out.flush();
    if (!out) Fail("cannot write the output");
    return console.status;
  } catch (const UsageError& error) {
    return Report(&console, error.what(), " (try --help)");
  } catch (const std::bad_alloc&) {
    return Report(&console, "not enough memory");
  } catch (const std::exception& error) {
    return Report(&console, error.what());
  }
}

}  // namespace fovea::tools
