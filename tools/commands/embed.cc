// fovea embed: writes embeddings of any number of texts to a file or a pipe.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "tools/base/fail.h"
#include "tools/base/utf8_path.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/model/interrupt.h"
#include "tools/prediction/prompts.h"
#include "tools/text/truncation.h"
#include "tools/vectors/directions.h"
#include "tools/vectors/text_embedder.h"
#include "tools/vectors/vector_index.h"

namespace fovea::tools {
namespace {

struct Arguments {
  ModelArguments model;
  TextArguments text;
  std::string output, prompt_name;
  EmbedderOptions embedder;
  std::optional<VectorForm> form;
  bool int8 = false;
};

void Embed(const Arguments& arguments, Console* console) {
  if (!arguments.text.Given()) Fail("no input; give --file FILE ('-': standard input), --text or --document");
  if (arguments.output == "-" && !arguments.form) throw UsageError("--output -: --format must name the format");
  VectorFile file;
  file.path = arguments.output;
  file.form = arguments.form ? *arguments.form : VectorFormOf(arguments.output);
  const Model model = arguments.model.Open();
  EmbedderOptions options = arguments.embedder;
  options.prompt = ChoosePrompt(model, arguments.prompt_name);
  PrintPrompt(NoteOf(options.prompt), console->err);
  TextEmbedder embedder(model, options);
  file.width = embedder.width();
  file.of_tokens = embedder.of_tokens();
  file.int8 = arguments.int8;
  file.metadata = {{kIndexModel, std::filesystem::absolute(Utf8Path(arguments.model.path)).string()},
                   {kIndexProgram, options.program},
                   {kIndexMeasure, std::to_string(MeasureOf(model))},
                   {kIndexPrompt, options.prompt.name},
                   {kIndexDimensions, std::to_string(options.dimensions)}};
  const std::unique_ptr<VectorWriter> writer = WriteVectors(file, console->out);
  const Interrupt interrupt;
  TextSource source(arguments.text);
  TextProgress progress(console->err);
  Truncations cuts;
  const uint64_t texts = embedder.Embed([&] { return source.Next(); },
                                        [&](TextVectors& text) {
                                          cuts.Add(text.dropped, 0, text.spelled);
                                          writer->Add(text);
                                        },
                                        &progress, [&] { return source.Share(); });
  progress.Clear();
  PrintTruncations(cuts, console->err);
  if (Interrupt::Happened()) {
    const bool lines = file.form == VectorForm::kJsonLines;
    if (lines) writer->Finish();
    console->err << fmt::format("fovea: interrupted after {} text{}{}\n", Grouped(texts), texts == 1 ? "" : "s",
                                lines ? "" : "; " + Printable(file.path) + " is not written");
    console->status = kExitInterrupted;
    return;
  }
  if (texts == 0) Fail("no text given");
  writer->Finish();
  if (arguments.output == "-") return;
  console->err << fmt::format("fovea: {}: {} text{}, {} numbers each ({}), {:.1f} s\n", Printable(file.path),
                              Grouped(texts), texts == 1 ? "" : "s", file.width, embedder.source(), progress.seconds());
}

}  // namespace

void AddEmbed(Command app, Console* console) {
  const Command command = app.AddCommand(CommandGroup::kResults, "embed",
                                         "Write the embeddings of many texts: NumPy, safetensors, JSON Lines");
  const Options output = command.Under(Heading::kOutput);
  auto arguments = std::make_shared<Arguments>();
  arguments->model.AddTo(command);
  arguments->text.AddTo(command);
  arguments->model.AddLiteral(command);
  output
      .Add("-o,--output", &arguments->output,
           "File to write: .npy, .safetensors (vectors and lines, for fovea search) or .jsonl;\n'-': standard output")
      .Placeholder("FILE")
      .Required();
  output
      .AddChoice<std::optional<VectorForm>>(
          "--format", &arguments->form,
          {{"npy", VectorForm::kNumpy}, {"safetensors", VectorForm::kSafetensors}, {"jsonl", VectorForm::kJsonLines}},
          "Format; default: by the name of FILE")
      .Placeholder("NAME");
  output.AddFlag("--normalize,--normalise", &arguments->embedder.normalize, "Scale embeddings to length 1");
  output.AddFlag("--int8", &arguments->int8,
                 "safetensors: store integers of 8 bits with a scale for each vector, a quarter of the bytes");
  AddDimensions(command, &arguments->embedder.dimensions);
  AddPromptName(command, &arguments->prompt_name);
  AddMaxLength(command, &arguments->embedder.max_length);
  AddProgram(command, &arguments->embedder.program);
  AddTextBatch(command, &arguments->embedder.limits.texts);
  AddWorkers(command, &arguments->embedder.workers);
  command.Footer(
      R"(Memory does not grow with the number of texts: they are read in windows of 16 batches, and run in batches of
similar lengths. The results are in the order of the texts. JSON Lines are written as they are found; NumPy and
safetensors files appear when they are complete, because their beginning has the number of texts.
Examples:
  fovea embed model.fovea --file lines.txt -o vectors.npy
  fovea embed model.fovea --file lines.txt -o index.safetensors --int8
  cat lines.txt | fovea embed model.fovea --file - -o - --format jsonl | head)");
  command.Runs([=] { Embed(*arguments, console); });
}

}  // namespace fovea::tools
