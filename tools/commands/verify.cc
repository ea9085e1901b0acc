// fovea verify: checks that a blob is complete and well-formed.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "fovea/model.h"
#include "tools/base/mapped_file.h"
#include "tools/base/print.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/model/library_error.h"

namespace fovea::tools {

void AddVerify(CLI::App* app, Console* console) {
  CLI::App* command = app->add_subcommand("verify", "Check a blob: checksum, sections, records, shapes, tokenizer");
  auto path = std::make_shared<std::string>();
  AddBlob(command, path.get());
  command->footer("Example:\n  fovea verify model.fovea");
  command->callback([=] {
    const MappedFile file(*path);
    if (file.size() == 0) Fail("{}: the file is empty", *path);
    fovea_error error = {};
    Check(fovea_blob_verify(file.data(), file.size(), &error), error, *path);
    console->out << fmt::format("{}: OK, {} bytes\n", *path, Grouped(file.size()));
  });
}

}  // namespace fovea::tools
