// fovea eval: the quality of a model on labelled samples, and its agreement with another one.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "tools/base/fail.h"
#include "tools/base/lines.h"
#include "tools/base/mapped_file.h"
#include "tools/base/progress.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/eval/evaluation.h"
#include "tools/eval/perplexity.h"
#include "tools/eval/report.h"
#include "tools/measure/machine.h"
#include "tools/model/interrupt.h"
#include "tools/prediction/prompts.h"

namespace fovea::tools {
namespace {

struct Arguments {
  ModelArguments model;
  std::string compare;
  std::string pairs, labels, pictures, sounds, perplexity, texts;
  std::string html;
  RunnerOptions runner;
  uint32_t batch_size = 16;
  uint32_t stride = 0;
  bool lines = false;
  std::optional<uint32_t> cache_type;
  bool json = false;
};

OrderedJson OfDecoders(const Arguments& arguments, const std::vector<const Model*>& models, const ShowProgress& show) {
  PerplexityRequest request;
  request.file = arguments.perplexity;
  if (arguments.lines) {
    for (std::string& line : ReadLines(request.file)) {
      if (!line.empty()) request.texts.push_back(std::move(line));
    }
  } else {
    request.texts.push_back(ReadFile(request.file));
  }
  request.window = arguments.runner.max_length;
  request.stride = arguments.stride;
  request.workers = arguments.runner.workers;
  request.batch_size = arguments.batch_size;
  request.cache_type = arguments.cache_type;
  return EvaluatePerplexity(models, request, show);
}

EvaluationRequest RequestOf(const Arguments& arguments) {
  EvaluationRequest request;
  request.runner = arguments.runner;
  request.batch_size = arguments.batch_size;
  if (!arguments.pairs.empty()) {
    request.samples = ReadScoredPairs(arguments.pairs);
    request.measure = Measure::kScores;
  } else if (!arguments.texts.empty()) {
    request.samples = ReadTexts(arguments.texts);
  } else {
    request.measure = Measure::kClasses;
    if (!arguments.labels.empty()) {
      request.samples = ReadLabelled(arguments.labels);
    } else {
      const bool sounds = !arguments.sounds.empty();
      request.samples = ReadLabelledFiles(sounds ? arguments.sounds : arguments.pictures);
      request.kind = sounds ? SampleKind::kSounds : SampleKind::kPictures;
    }
  }
  return request;
}

// Prints the first notes in full and counts the rest: many files may have the same note.
void PrintNotesOfMany(const OrderedJson& told, std::ostream& err) {
  constexpr size_t kInFull = 3;
  if (!told.contains("notes")) return;
  const auto notes = told["notes"].get<std::vector<std::string>>();
  for (size_t i = 0; i < notes.size() && i < kInFull; ++i) err << "fovea: " << Printable(notes[i]) << "\n";
  if (notes.size() > kInFull) err << fmt::format("fovea: {} more notes (--json prints all)\n", notes.size() - kInFull);
}

void Eval(const Arguments& arguments, Console* console) {
  const bool classes = !arguments.labels.empty() || !arguments.pictures.empty() || !arguments.sounds.empty();
  if (!classes && arguments.pairs.empty() && arguments.perplexity.empty() && arguments.texts.empty()) {
    Fail("no samples; give --labels, --pairs, --images, --sounds, --perplexity or --texts");
  }
  if (!arguments.texts.empty() && arguments.compare.empty())
    Fail("--texts needs --compare: without labels only the agreement of two blobs can be measured");
  if (!arguments.html.empty() && !classes) Fail("--html needs --labels, --images or --sounds");
  std::vector<std::unique_ptr<Model>> opened;
  std::vector<const Model*> models;
  for (const std::string& path : {arguments.model.path, arguments.compare}) {
    if (path.empty()) continue;
    ModelArguments one = arguments.model;
    one.path = path;
    opened.push_back(std::make_unique<Model>(one.Open()));
    models.push_back(opened.back().get());
  }
  const Interrupt interrupt;
  ProgressLine progress(console->err);
  const ShowProgress show = [&](size_t done, size_t total) {
    progress.Show("read of", arguments.model.path, done, total);
  };
  OrderedJson told =
      arguments.perplexity.empty() ? Evaluate(models, RequestOf(arguments), show) : OfDecoders(arguments, models, show);
  progress.Clear();
  for (const OrderedJson& model : told["models"]) {
    if (!model.contains("cut")) continue;
    console->err << fmt::format("fovea: {}: {}\n", Printable(model["blob"].get<std::string>()),
                                model["cut"]["note"].get<std::string>());
  }
  PrintNotesOfMany(told, console->err);
  for (const OrderedJson& model : told["models"]) {
    if (model.contains("prompt")) PrintPrompt(model["prompt"].get<std::string>(), console->err);
  }
  if (told.contains("time")) told["machine"] = ThisMachine();
  if (!arguments.html.empty()) {
    const std::string page = ReportPage(told);
    WriteFile(arguments.html, page.data(), page.size());
  }
  if (arguments.json) {
    PrintJson(console->out, told);
  } else {
    console->out << ReportText(told);
  }
  if (Interrupt::Happened()) console->status = kExitInterrupted;
}

}  // namespace

void AddEval(Command app, Console* console) {
  const Command command =
      app.AddCommand(CommandGroup::kQuality, "eval", "Evaluate a model on labelled samples, or compare two");
  const Options input = command.Under(Heading::kInput);
  const Options comparison = command.Under(Heading::kComparison);
  const Options output = command.Under(Heading::kOutput);
  const Options machine = command.Under(Heading::kMachine);
  auto arguments = std::make_shared<Arguments>();
  arguments->model.AddTo(command);
  comparison.Add("--compare", &arguments->compare, "Evaluate another blob as well; runs alternate").Placeholder("BLOB");
  const Options samples = command.OneUnder(Heading::kSamples);
  const auto file = [&](const char* option, std::string* path, const char* help) {
    samples.Add(option, path, help).Placeholder("FILE");
  };
  file("--labels", &arguments->labels,
       "Lines of text, tab, class; or of text, tab, text, tab, class of the pair;\nor with the class first");
  file("--pairs", &arguments->pairs, "Lines of text, tab, text, tab, similarity score");
  file("--images", &arguments->pictures, "Lines of image path, tab, class; paths are relative to FILE");
  file("--sounds", &arguments->sounds, "Lines of audio file path, tab, class; paths are relative to FILE");
  file("--perplexity", &arguments->perplexity, "Text on which to measure a decoder's perplexity");
  file("--texts", &arguments->texts, "With --compare: one unlabelled text per line");
  input.AddFlag("--lines", &arguments->lines, "With --perplexity: take each line as a separate text")
      .Needs("--perplexity");
  input.Add("--stride", &arguments->stride, "With --perplexity: advance windows by N tokens; default: half a window")
      .Range(1, 1 << 24)
      .Needs("--perplexity");
  AddCacheType(command, &arguments->cache_type).Needs("--perplexity");
  output.Add("--html", &arguments->html, "Also write the results for classes as an HTML page").Placeholder("FILE");
  AddMaxLength(command, &arguments->runner.max_length);
  arguments->model.AddLiteral(command);
  AddPromptName(command, &arguments->runner.prompt_name);
  AddDimensions(command, &arguments->runner.dimensions).Needs("--pairs");
  machine.Add("--batch", &arguments->batch_size, "Run N samples, or windows of texts, at a time")
      .Range(1, 4096)
      .ShowDefault();
  AddProgram(command, &arguments->runner.program);
  AddWorkers(command, &arguments->runner.workers);
  AddJson(command, &arguments->json);
  command.Footer(
      R"(Classes: accuracy, F1 (the mean over classes that occur) and the confusion matrix.
Pairs: correlation of the scores with the cosine of both embeddings (for a masked language model the dot product of
its sparse word weights), or with the one output of a model that reads pairs.
Texts: perplexity over all tokens that have a token before them, in windows of the model's length (or --max-length),
where each token counts in one window only; bits per byte compare models with different tokenizers.
--compare adds how often both models agree, cosines of their outputs, and the ratio of their times with its spread.
Examples:
  fovea eval model.fovea --labels test.tsv --html report.html
  fovea eval model.fovea --compare model-int8.fovea --pairs sts.tsv --workers 2
  fovea eval decoder.fovea --perplexity book.txt --stride 128
  fovea eval model.fovea --compare model-int8.fovea --texts lines.txt --json)");
  command.Runs([=] { Eval(*arguments, console); });
}

}  // namespace fovea::tools
