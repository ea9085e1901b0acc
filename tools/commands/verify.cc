// fovea verify: checks that a blob is complete and well-formed.
#include <fmt/format.h>

#include <memory>

#include "fovea/model.h"
#include "tools/base/mapped_file.h"
#include "tools/base/print.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/model/library_error.h"

namespace fovea::tools {

void AddVerify(Command app, Console* console) {
  const Command command =
      app.AddCommand(CommandGroup::kModels, "verify", "Check a blob: checksum, sections, records, shapes, tokenizer");
  auto path = std::make_shared<std::string>();
  AddBlob(command, path.get());
  command.Footer("Example:\n  fovea verify model.fovea");
  command.Runs([=] {
    const MappedFile file(*path);
    if (file.size() == 0) Fail("{}: the file is empty", *path);
    fovea_error error = {};
    Check(fovea_blob_verify(file.data(), file.size(), &error), error, *path);
    console->out << fmt::format("{}: OK, {} bytes\n", *path, Grouped(file.size()));
  });
}

}  // namespace fovea::tools
