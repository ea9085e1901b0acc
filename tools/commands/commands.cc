// The fovea command: parses, runs, turns every failure into one line and an exit status.
#include "tools/commands/commands.h"

#include <fmt/ostream.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <string>

#include "fovea/version.h"
#include "tools/base/fail.h"

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
  CLI::App app("Run attention models in exact memory: convert, inspect, run, check and measure.", "fovea");
  app.set_version_flag("--version", [] {
    return fmt::format("fovea {} (blob format {}, {})", fovea_version(), fovea_blob_version(), fovea_simd_target());
  });
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  app.footer("Exit status: 0 done, 1 a check failed, 2 bad usage or input. 'fovea COMMAND --help' shows examples.");
  for (const AddCommand add : commands) add(&app, &console);
  try {
    const auto named = [&](CLI::App* command) { return command->get_name() == argv[1]; };
    if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(named).empty()) {
      return Report(&console, fmt::format("no command '{}'", argv[1]), " (try --help)");
    }
    app.parse(argc, argv);
    out.flush();
    if (!out) Fail("cannot write the output");
    return console.status;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error, out, err);  // help and version
    return Report(&console, error.what(), " (try --help)");
  } catch (const std::bad_alloc&) {
    return Report(&console, "not enough memory");
  } catch (const std::exception& error) {
    return Report(&console, error.what());
  }
}

}  // namespace fovea::tools
