// fovea rank: sorts texts by their relevance to a query, with a model that reads pairs of texts (cross-encoder).
#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/base/fail.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/model/interrupt.h"
#include "tools/prediction/result_reader.h"
#include "tools/prediction/task.h"
#include "tools/text/text_inputs.h"
#include "tools/text/text_progress.h"
#include "tools/text/text_windows.h"
#include "tools/text/truncation.h"
#include "tools/vectors/nearest.h"

namespace fovea::tools {
namespace {

struct Arguments {
  ModelArguments model;
  TextArguments text;
  std::vector<std::string> queries;
  std::string program, label;
  uint32_t top = 10, max_length = 0, workers = 1;
  BatchLimits limits;
  ListForm json = ListForm::kText;
};

// The column of the scores to sort by.
uint32_t ColumnOf(const Model& model, const fovea_result_info& info, const std::string& label) {
  if (info.width == 1 && label.empty()) return 0;
  std::string names;
  for (uint32_t i = 0; i < info.width; ++i) {
    if (!label.empty() && ClassName(model, i) == label) return i;
    if (i < 10) names += (i == 0 ? "" : ", ") + ClassName(model, i);
  }
  if (info.width > 10) names += ", ...; fovea inspect lists all";
  if (!label.empty()) Fail("{}: has no class '{}'; its classes are: {}", model.name(), label, names);
  Fail("{}: gives scores of {} classes, not one score of relevance; name the class to sort by with --label: {}",
       model.name(), info.width, names);
}

struct Ranked {
  Neighbour place;
  std::string text;
  uint64_t dropped;
};

void RankFor(const Arguments& arguments, const Model& model, const std::string& query, Console* console,
             JsonList* list) {
  const Tokenizer tokenizer(model);
  const uint32_t program = FindTextProgram(model, arguments.program);
  const fovea_result_info info = ResultInfoOf(model, program);
  const uint32_t column = ColumnOf(model, info, arguments.label);
  SessionRequest request;
  request.program = program;
  request.workers = arguments.workers;
  TextSource source(arguments.text);
  TextProgress progress(console->err);
  Truncations cuts;
  BestTexts best(arguments.top);
  std::map<uint64_t, Ranked> kept;  // by number
  uint64_t first = 0, count = 0;
  WindowSteps steps;
  steps.next = [&]() -> std::optional<EncodedText> {
    std::optional<std::string> text = source.Next();
    if (!text) return std::nullopt;
    Tokens tokens = EncodePairFor(model, tokenizer, program, query, *text, arguments.max_length);
    cuts.Add(tokens);
    return EncodedText{std::move(*text), std::move(tokens)};
  };
  steps.begin = [&](size_t texts) {
    first = count;
    count += texts;
    progress.Begin(texts, source.Share());
  };
  steps.read = [&](const TextBatch& batch) {
    const Matrix scores = ReadAllResults(model, batch.session, info);
    for (uint32_t i = 0; i < batch.which.size(); ++i) {
      const Neighbour place = {first + batch.which[i], scores.Row(i)[column]};
      best.Add(place);
      kept[place.text] = {place, batch.texts[i], batch.tokens[i].dropped};
    }
    progress.Add(batch.which.size());
  };
  steps.end = [&] {
    std::map<uint64_t, Ranked> top;
    for (const Neighbour& place : best.Sorted()) top.insert(kept.extract(place.text));
    kept = std::move(top);
  };
  if (RunInWindows(model, request, arguments.limits, steps) == 0 && !Interrupt::Happened()) Fail("no text given");
  progress.Clear();
  PrintTruncations(cuts, console->err);
  if (Interrupt::Happened()) {
    console->err << fmt::format("fovea: interrupted after {} texts; nothing is sorted\n", Grouped(progress.texts()));
    return;
  }
  OrderedJson entry = {{"query", query}, {"texts", OrderedJson::array()}};
  if (arguments.queries.size() > 1 && arguments.json == ListForm::kText) console->out << Printable(query) << "\n";
  for (const Neighbour& place : best.Sorted()) {
    const Ranked& one = kept.at(place.text);
    OrderedJson found = {{"index", place.text}, {"score", place.score}, {"text", one.text}};
    if (one.dropped != 0) found["dropped_tokens"] = one.dropped;
    entry["texts"].push_back(found);
    if (arguments.json != ListForm::kText) continue;
    console->out << fmt::format("{}{:>8.4f}  {:>6}  {}\n", arguments.queries.size() > 1 ? "  " : "", place.score,
                                place.text + 1, Printable(one.text));
  }
  list->Add(entry);
}

void Rank(const Arguments& arguments, Console* console) {
  if (!arguments.text.Given()) Fail("no texts to rank; give --file FILE ('-': standard input), --text or --document");
  if (arguments.text.file == "-" && arguments.queries.size() > 1) {
    Fail("standard input can be read once: give one --query, or a file");
  }
  const Model model = arguments.model.Open();
  RefuseGenerators(model, true);
  const uint32_t program = FindTextProgram(model, arguments.program);
  if (TaskOf(model, program) != OutputTask::kClasses) {
    Fail("{}: gives no score for a pair of texts; fovea embed and fovea search compare embeddings", model.name());
  }
  const Interrupt interrupt;
  JsonList list(console->out, arguments.json);
  for (const std::string& query : arguments.queries) {
    if (!Interrupt::Happened()) RankFor(arguments, model, query, console, &list);
  }
  list.End();
  if (Interrupt::Happened()) console->status = kExitInterrupted;
}

}  // namespace

void AddRank(Command app, Console* console) {
  const Command command =
      app.AddCommand(CommandGroup::kResults, "rank", "Sort texts by their relevance to a query, with a cross-encoder");
  const Options output = command.Under(Heading::kOutput);
  auto arguments = std::make_shared<Arguments>();
  arguments->model.AddTo(command);
  arguments->text.AddTo(command);
  arguments->model.AddLiteral(command);
  command.Under(Heading::kInput)
      .AddRepeated("--query", &arguments->queries, "First text of each pair")
      .Placeholder("TEXT")
      .Required();
  output.Add("--top", &arguments->top, "Print the N most relevant texts").Range(1, 1000000).ShowDefault();
  output.Add("--label", &arguments->label, "Sort by this class, of a model with several").Placeholder("NAME");
  AddMaxLength(command, &arguments->max_length);
  AddProgram(command, &arguments->program);
  AddTextBatch(command, &arguments->limits.texts);
  AddWorkers(command, &arguments->workers);
  AddJsonList(command, &arguments->json);
  command.Footer(
      R"(The model reads each text together with the query; the score is the one that the original prints. Memory does
not grow with the number of texts. Numbers before a text are its score and its line.
Examples:
  fovea rank reranker.fovea --query "how tall is it" --file passages.txt --top 3
  fovea rank nli.fovea --query "It rains." --file lines.txt --label entailment --jsonl)");
  command.Runs([=] { Rank(*arguments, console); });
}

}  // namespace fovea::tools
