// fovea pack: adds weights packed for a target, so that a model needs no memory for them.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/base/print.h"
#include "tools/base/printable.h"
#include "tools/blob/output.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/model/packed_weights.h"

namespace fovea::tools {
namespace {

struct Arguments {
  std::string path, output;
  std::vector<std::string> targets;
  bool only = false, json = false;
};

void Run(const Arguments& arguments, Console* console) {
  const std::string output = arguments.output.empty() ? arguments.path : arguments.output;
  const std::vector<std::string> targets =
      arguments.targets.empty() ? std::vector<std::string>{kHostTarget} : arguments.targets;
  const MappedFile file(arguments.path);
  if (file.size() == 0) Fail("{}: the file is empty", arguments.path);
  const PackedWeights packed = PackWeights(file.data(), file.size(), arguments.path, targets,
                                           arguments.only ? SharedWeights::kOnce : SharedWeights::kTwice);
  for (const BlobPacked& section : packed.sections) {
    if (section.bytes.empty()) Fail("{}: no weights of it can be packed", arguments.path);
  }
  const std::vector<uint8_t> blob =
      ReplacePacked(file.data(), packed.sections, arguments.only ? packed.replaced : std::vector<bool>());
  OrderedJson sections = OrderedJson::array();
  for (const BlobPacked& section : packed.sections) {
    sections.push_back(
        {{"targets", TargetsWithLayout(section.layout)}, {"layout", section.layout}, {"bytes", section.bytes.size()}});
  }
  WriteBlobFile(output, blob);
  if (arguments.json) {
    OrderedJson kept = OrderedJson::array();
    for (const KeptTensor& tensor : packed.kept) kept.push_back({{"name", tensor.name}, {"bytes", tensor.bytes}});
    PrintJson(console->out, {{"blob", output}, {"bytes", blob.size()}, {"packed", sections}, {"kept", kept}});
    return;
  }
  for (const OrderedJson& section : sections) {
    const auto names = section["targets"].get<std::vector<std::string>>();
    console->out << fmt::format("packed {:>14} bytes for {}\n", Grouped(section["bytes"].get<uint64_t>()),
                                names.empty() ? "this machine" : fmt::format("{}", fmt::join(names, ", ")));
  }
  for (const KeptTensor& tensor : packed.kept) {
    console->out << fmt::format("rows   {:>14} bytes of {}, an embedding table and a layer's weight: stored once\n",
                                Grouped(tensor.bytes), Printable(tensor.name));
  }
  console->out << fmt::format("{}: {} bytes ({})\n", output, Grouped(blob.size()), ShortBytes(blob.size()));
}

}  // namespace

void AddPack(Command app, Console* console) {
  const Command command =
      app.AddCommand(CommandGroup::kModels, "pack", "Add weights packed for a target, to be used in place");
  const Options output = command.Under(Heading::kOutput);
  auto arguments = std::make_shared<Arguments>();
  AddBlob(command, &arguments->path);
  AddPackTargets(output, "--target", &arguments->targets, "Pack for this target; default: host");
  output.Add("-o,--output", &arguments->output, "Write the blob to FILE; default: replace BLOB").Placeholder("FILE");
  output.AddFlag("--only", &arguments->only,
                 "Leave out weights that are packed: half the size, for these targets alone");
  AddJson(command, &arguments->json);
  command.Footer(
      "Replaces packed weights that the blob already has. Without packed weights, or on another machine, a model\n"
      "packs them into its own memory when it is created.\n"
      "With --only other machines refuse the blob, and FOVEA_BACKEND_HIGHWAY cannot run it. A table of embeddings\n"
      "that is also the weight of the last layer is then stored once, as rows, which that layer reads.\n"
      "Examples:\n  fovea pack model.fovea\n"
      "  fovea pack model.fovea -o phone.fovea --target aarch64-dotprod --only\n"
      "  fovea pack model.fovea -o phone.fovea --target aarch64-dotprod --target aarch64-i8mm");
  command.Runs([=] { Run(*arguments, console); });
}

}  // namespace fovea::tools
