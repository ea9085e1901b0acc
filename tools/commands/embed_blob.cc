// fovea embed-blob: writes a blob as source or object code, so that a program contains it.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "fovea/model.h"
#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/base/print.h"
#include "tools/base/utf8_path.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/inspect/embedded_blob.h"
#include "tools/model/library_error.h"

namespace fovea::tools {
namespace {

// A source file is as exact, but a compiler needs about a second and 100 MB for each MB of it.
constexpr uint64_t kLargeSource = 8u << 20;

struct Arguments {
  std::string path, output, symbol, section;
  std::string machine, like;
};

void Write(const std::string& path, const std::string& text, Console* console) {
  WriteFile(path, text.data(), text.size());
  console->out << fmt::format("{}: {} bytes\n", Printable(path), Grouped(text.size()));
}

// The header beside an object or source has a name that the caller did not give: a file of another origin is not
// replaced.
void WriteDeclaration(const std::string& path, const EmbeddedBlob& blob, Console* console) {
  if (std::filesystem::exists(Utf8Path(path)) && ReadFile(path).rfind(kEmbeddedComment, 0) != 0) {
    Fail("{}: not written by embed-blob, and would be replaced; choose another name for --out", path);
  }
  Write(path, EmbeddedDeclaration(blob), console);
}

ElfMachine MachineOf(const Arguments& arguments) {
  if (!arguments.like.empty()) return ElfMachineLike(arguments.like);
  return ElfMachineOf(arguments.machine.empty() ? HostMachine() : arguments.machine);
}

void EmbedBlob(const Arguments& arguments, Console* console) {
  const std::filesystem::path output = Utf8Path(arguments.output);
  const std::string form = output.extension().string();
  if (form != ".o" && form != ".h" && form != ".S" && form != ".c") {
    throw UsageError(fmt::format("--out {}: the name must end in .o, .h, .S or .c", arguments.output));
  }
  if (form != ".o" && (!arguments.machine.empty() || !arguments.like.empty())) {
    throw UsageError("--machine and --like are for .o; the compiler chooses the machine of the other forms");
  }
  const MappedFile file(arguments.path);
  fovea_error error = {};
  Check(fovea_blob_verify(file.data(), file.size(), &error), error, arguments.path);
  const std::string symbol = arguments.symbol.empty() ? Identifier(arguments.path) + "_blob" : arguments.symbol;
  if (!IsIdentifier(symbol)) throw UsageError(fmt::format("--symbol {}: not a name in C", symbol));
  if (arguments.section.find_first_of("\"\\\n, ") != std::string::npos) {
    throw UsageError(fmt::format("--section {}: not the name of a section", arguments.section));
  }
  const EmbeddedBlob blob = {file.data(), file.size(), arguments.path, symbol, arguments.section};
  if (form != ".h") WriteDeclaration(std::filesystem::path(output).replace_extension(".h").string(), blob, console);
  if (form == ".h") Write(arguments.output, EmbeddedHeader(blob), console);
  if (form == ".o") Write(arguments.output, EmbeddedObject(blob, MachineOf(arguments)), console);
  if (form == ".S") Write(arguments.output, EmbeddedAssembly(blob), console);
  if (form == ".c") Write(arguments.output, EmbeddedSource(blob), console);
  if (form == ".S") console->out << "the assembler reads the blob itself: keep it where it is\n";
  if ((form == ".h" || form == ".c") && file.size() > kLargeSource) {
    console->err << fmt::format("note: compilers need about a second for each MB of {}; .S and .o need none\n",
                                arguments.output);
  }
}

}  // namespace

void AddEmbedBlob(Command app, Console* console) {
  const Command command =
      app.AddCommand(CommandGroup::kModels, "embed-blob", "Write a blob as C, assembly or an object, to be linked");
  const Options output = command.Under(Heading::kOutput);
  auto arguments = std::make_shared<Arguments>();
  AddBlob(command, &arguments->path);
  output.Add("-o,--out", &arguments->output, "Write FILE, whose name ends in .o, .h, .S or .c")
      .Placeholder("FILE")
      .Required();
  output.Add("--symbol", &arguments->symbol, "Name the array NAME; default: the blob's file name with _blob")
      .Placeholder("NAME");
  output.Add("--section", &arguments->section, "Put it in this section, e.g. one that a linker script puts in flash")
      .Placeholder("NAME");
  const Option machine = output.Add("--machine", &arguments->machine, "With .o: the processor; default: this one")
                             .OneOf(ElfMachineNames());
  output.Add("--like", &arguments->like, "With .o: the processor of this object, library or program")
      .Placeholder("FILE")
      .Excludes(machine);
  command.Footer(
      "The array has an alignment of 64 bytes. With .o, .S and .c a header of the same name declares it and its size;\n"
      ".h contains it. The blob is verified first.\n"
      "Examples:\n  fovea embed-blob model.fovea -o model.o\n"
      "  fovea embed-blob model.fovea -o model.S --symbol weights --section .flash\n"
      "and in the program, with model.h:\n"
      "  fovea_model_make(model_blob, MODEL_BLOB_SIZE, NULL, get_memory, NULL, &model, &error)");
  command.Runs([=] { EmbedBlob(*arguments, console); });
}

}  // namespace fovea::tools
