// fovea run for pairs of texts: cross-encoders, choices, questions with a context, and labels without training.
#include "tools/commands/run_pairs.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "tools/base/fail.h"
#include "tools/prediction/task.h"
#include "tools/prediction/zero_shot.h"
#include "tools/run/pairs.h"
#include "tools/run/questions.h"
#include "tools/text/text_inputs.h"
#include "tools/text/text_progress.h"
#include "tools/text/truncation.h"

namespace fovea::tools {
namespace {

void AnswerQuestions(const PairRequest& request, Console* console) {
  const PairArguments& pairs = *request.pairs;
  std::vector<std::string> contexts = pairs.contexts;
  for (std::string& text : request.text->All()) contexts.push_back(std::move(text));
  if (contexts.empty()) Fail("--question needs the text that holds the answer: give --context TEXT or --document FILE");
  if (contexts.size() != 1 && contexts.size() != pairs.questions.size()) {
    Fail("{} questions and {} contexts: give one context for all questions, or one for each", pairs.questions.size(),
         contexts.size());
  }
  const Model model = request.model->Open();
  if (!HasTask(model, "question-answering")) {
    Fail(
        "{}: does not answer questions; leave out --question, or convert a model whose class in config.json ends with "
        "ForQuestionAnswering",
        model.name());
  }
  const Tokenizer tokenizer(model);
  QuestionOptions options;
  options.answers.top = request.top_given ? request.prediction.top : 1;
  options.answers.max_tokens = pairs.longest;
  options.answers.allow_none = pairs.allow_none ? 1 : 0;
  options.program = request.program;
  options.workers = request.run.workers;
  options.max_length = request.run.max_length;
  options.stride = pairs.stride;
  OrderedJson entries = OrderedJson::array();
  for (size_t i = 0; i < pairs.questions.size(); ++i) {
    entries.push_back(
        AnswerQuestion(model, tokenizer, pairs.questions[i], contexts[contexts.size() == 1 ? 0 : i], options));
  }
  if (request.json != ListForm::kText) return PrintList(console->out, request.json, entries);
  for (const OrderedJson& entry : entries) PrintAnswers(console->out, entry);
}

void ScoreAllLabels(const PairRequest& request, Console* console) {
  const PairArguments& pairs = *request.pairs;
  TextSource source(*request.text);
  std::optional<std::string> text = source.Next();
  if (!text) Fail("--labels needs a text: give --text, --document or --file");
  const Model model = request.model->Open();
  RefuseGenerators(model);
  const Tokenizer tokenizer(model);
  LabelOptions options;
  options.labels = SplitLabels(pairs.labels);
  options.hypothesis = pairs.hypothesis;
  options.many = pairs.many_labels;
  options.program = request.program;
  options.run = request.run;
  Truncations truncations;
  const std::string warning = EntailmentWarning(model);
  JsonList list(console->out, request.json);
  for (; text; text = source.Next()) {
    const OrderedJson entry = ScoreLabels(model, tokenizer, *text, options, &truncations);
    list.Add(entry);
    if (request.json == ListForm::kText) PrintPairs(console->out, entry);
  }
  if (!warning.empty()) console->err << "fovea: " << Printable(warning) << "\n";
  PrintTruncations(truncations, console->err);
  list.End();
}

void ScorePairs(const PairRequest& request, Console* console) {
  const PairArguments& arguments = *request.pairs;
  std::vector<TextPair> pairs;
  if (!arguments.file.empty()) {
    pairs = ReadPairs(arguments.file);
  } else {
    const std::vector<std::string> firsts = request.text->All();
    if (firsts.empty()) Fail("--pair needs the first text: give --text, --document or --file");
    pairs = MakePairs(firsts, arguments.seconds);
  }
  const Model model = request.model->Open();
  RefuseGenerators(model, true);
  const Tokenizer tokenizer(model);
  const uint32_t program = FindTextProgram(model, request.program);
  if (HasTask(model, "multiple-choice")) {
    const TextRun run = RunPairs(model, tokenizer, program, pairs, request.run);
    PrintTruncations(Truncations(run.tokens), console->err);
    const std::vector<OrderedJson> entries = ChooseSeconds(model, run, pairs);
    if (request.json != ListForm::kText) return PrintList(console->out, request.json, entries);
    for (const OrderedJson& entry : entries) PrintPairs(console->out, entry);
    return;
  }
  PredictionOptions prediction = request.prediction;
  prediction.pairs = true;
  SessionRequest session;
  session.program = program;
  session.workers = request.run.workers;
  TextProgress progress(console->err);
  Truncations cuts;
  JsonList list(console->out, request.json);
  std::vector<OrderedJson> window;
  size_t next = 0, first = 0;
  WindowSteps steps;
  steps.next = [&]() -> std::optional<EncodedText> {
    if (next == pairs.size()) return std::nullopt;
    const TextPair& pair = pairs[next++];
    Tokens tokens = EncodePairFor(model, tokenizer, program, pair.first, pair.second, request.run.max_length);
    cuts.Add(tokens);
    return EncodedText{pair.first, std::move(tokens)};
  };
  steps.begin = [&](size_t count) {
    first = next - count;
    window.assign(count, OrderedJson());
    progress.Begin(count, static_cast<double>(next) / static_cast<double>(pairs.size()));
  };
  steps.read = [&](const TextBatch& batch) {
    const OrderedJson predicted = Predict(model, tokenizer, batch.session, batch.texts, batch.tokens, prediction);
    for (size_t i = 0; i < batch.which.size(); ++i) {
      const TextPair& pair = pairs[first + batch.which[i]];
      OrderedJson entry = {{"text", pair.first}, {"pair", pair.second}};
      entry.update(predicted[i]);
      window[batch.which[i]] = std::move(entry);
    }
    progress.Add(batch.which.size());
  };
  steps.end = [&] {
    progress.Clear();
    for (const OrderedJson& entry : window) {
      list.Add(entry);
      if (request.json == ListForm::kText) PrintPrediction(console->out, entry);
    }
  };
  RunInWindows(model, session, request.limits, steps);
  PrintTruncations(cuts, console->err);
  list.End();
}

}  // namespace

void PairArguments::AddTo(Command command) {
  const Options input = command.Under(Heading::kInput);
  const Option pair =
      input.AddRepeated("--pair", &seconds, "Second text of a pair: one for each --text, or all for a single --text")
          .Placeholder("TEXT");
  const Option lines = input
                           .Add("--pairs", &file,
                                "File with a pair per line, texts separated by a tab ('-': standard "
                                "input)")
                           .Placeholder("FILE");
  lines.Excludes(pair).Excludes("--text").Excludes("--document").Excludes("--file");
  const Option question =
      input.AddRepeated("--question", &questions, "Find the answer to this question in the --context")
          .Placeholder("TEXT");
  question.Excludes(pair).Excludes(lines);
  input.AddRepeated("--context", &contexts, "Text that holds the answer; --document reads it from a file")
      .Placeholder("TEXT")
      .Needs(question);
  input.Add("--stride", &stride, "Tokens that parts of a long context share; default: 128, or half of --max-length")
      .Needs(question);
  const Option names = input
                           .Add("--labels", &labels,
                                "Score each of these labels, separated by commas, with a model of natural\n"
                                "language inference (zero-shot classification)")
                           .Placeholder("LABELS");
  names.Excludes(pair).Excludes(lines).Excludes(question);
  input.Add("--hypothesis", &hypothesis, "Sentence that a label makes in place of {}")
      .Placeholder("TEXT")
      .ShowDefault()
      .Needs(names);
  const Options output = command.Under(Heading::kOutput);
  output.AddFlag("--multi-label", &many_labels, "Any number of --labels can be right: score each by itself")
      .Needs(names);
  output.Add("--max-answer", &longest, "Most tokens of an answer").Range(1, 1000000).ShowDefault().Needs(question);
  output.AddFlag("--allow-no-answer", &allow_none, "\"No answer\" is also an answer, with a score").Needs(question);
}

void RunPairsCommand(const PairRequest& request, Console* console) {
  if (!request.pairs->questions.empty()) return AnswerQuestions(request, console);
  if (!request.pairs->labels.empty()) return ScoreAllLabels(request, console);
  ScorePairs(request, console);
}

}  // namespace fovea::tools
