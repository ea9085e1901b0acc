// fovea translate: maps each input line to an output line with an encoder and a decoder.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/base/system.h"
#include "tools/base/utf8_path.h"
#include "tools/commands/commands.h"
#include "tools/commands/generation_arguments.h"
#include "tools/generate/defaults.h"
#include "tools/generate/hypotheses.h"
#include "tools/generate/room.h"
#include "tools/generate/target_tokens.h"
#include "tools/generate/translation.h"
#include "tools/model/interrupt.h"
#include "tools/text/truncation.h"

namespace fovea::tools {
namespace {

struct Arguments {
  ModelArguments model;
  GenerationArguments generation;
  std::vector<std::string> texts;
  std::string file = "-", target_prefix, task;
  Languages languages;
  uint32_t batch_size = 32;
  ListForm json = ListForm::kText;
};

// Reads and writes lines, a batch at a time.
class Translator {
 public:
  Translator(const Arguments& arguments, const Model& model, Console* console)
      : arguments_(arguments),
        model_(model),
        console_(console),
        languages_(arguments.languages),
        request_(arguments.generation.RequestFor(model, arguments.task)) {
    if (ContinuesTexts(model))
      Fail("{}: cannot translate: it has no encoder; 'fovea generate' continues texts", model.name());
    if (!arguments.task.empty()) {
      CheckTask(model, arguments.task);
      languages_.prefix = TaskPrefix(model, arguments.task) + languages_.prefix;
    }
    SetTarget(model, languages_.target, &request_);
    if (!arguments.target_prefix.empty()) {
      request_.prefix = TargetTokens(model, arguments.target_prefix, request_.separator);
    }
  }

  void Translate(const std::vector<std::string>& lines) {
    std::vector<std::vector<int32_t>> sources;
    std::vector<std::string> read;  // lines that are not empty
    std::vector<uint64_t> dropped;
    for (size_t i = 0; i < lines.size(); ++i) {
      ++line_;
      if (lines[i].empty()) continue;  // an empty line stays empty
      const Tokens tokens = TokensOf(lines[i]);
      if (tokens.dropped != 0) {
        console_->err << fmt::format("fovea: text {} is too long; its last {} tokens are dropped\n", line_,
                                     tokens.dropped);
      }
      spelling_.Add(0, 0, tokens.spelled);
      sources.push_back(tokens.ids);
      read.push_back(lines[i]);
      dropped.push_back(tokens.dropped);
    }
    if (arguments_.generation.Scores()) {
      if (sources.empty()) return;
      const OrderedJson made = arguments_.generation.Score(model_, sources, read, read, request_,
                                                           arguments_.json != ListForm::kText, console_);
      list_.insert(list_.end(), made.begin(), made.end());
      return PrintLines();
    }
    std::vector<Generation> made;
    if (!sources.empty()) made = Generate(model_, sources, request_);
    if (Interrupt::Happened()) return;  // print no incomplete lines
    ReportRoom(model_, request_, made, console_->err);
    for (size_t i = 0, next = 0; i < lines.size(); ++i) {
      Write(lines[i], lines[i].empty() ? Generation() : made[next]);
      if (lines[i].empty()) continue;
      if (arguments_.json != ListForm::kText && dropped[next] != 0) list_.back()["dropped_tokens"] = dropped[next];
      ++next;
    }
    PrintLines();
    console_->out << std::flush;
  }

  void End() const {
    PrintTruncations(spelling_, console_->err);
    PrintList(console_->out, arguments_.json, list_);
  }

 private:
  // JSON Lines are printed batch by batch.
  void PrintLines() {
    if (arguments_.json != ListForm::kLines) return;
    PrintList(console_->out, arguments_.json, list_);
    list_.clear();
  }
  Tokens TokensOf(const std::string& line) const {
    try {
      return SourceTokens(model_, languages_, line);
    } catch (const Failure& failure) {
      if (arguments_.texts.size() == 1) throw;
      Fail("{} {}: {}", arguments_.texts.empty() ? "line" : "text", line_, failure.what());
    }
  }
  void Write(const std::string& line, const Generation& generation) {
    if (arguments_.json == ListForm::kText) {
      std::string text = generation.text;
      std::replace(text.begin(), text.end(), '\n', ' ');
      console_->out << text << "\n";
      for (size_t i = 1; i < generation.hypotheses.size(); ++i) {
        console_->out << fmt::format("  {:.4f}  {}\n", generation.hypotheses[i].score, generation.hypotheses[i].text);
      }
      return;
    }
    OrderedJson entry = {{"input", line}, {"text", generation.text}, {"tokens", generation.tokens}};
    if (!generation.hypotheses.empty()) entry["hypotheses"] = HypothesesJson(generation);
    if (generation.full) entry["ended_for_lack_of_room"] = true;
    list_.push_back(entry);
  }

  const Arguments& arguments_;
  const Model& model_;
  Console* const console_;
  Languages languages_;
  GenerationRequest request_;
  OrderedJson list_ = OrderedJson::array();
  Truncations spelling_;  // truncated texts are reported at once
  size_t line_ = 0;
};

// Calls f with the lines of each batch until the stream ends.
template <typename F>
void ForEachBatch(std::istream& stream, size_t size, const F& f) {
  std::vector<std::string> lines;
  for (std::string line; !Interrupt::Happened() && std::getline(stream, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(line);
    if (lines.size() < size) continue;
    f(lines);
    lines.clear();
  }
  if (!lines.empty() && !Interrupt::Happened()) f(lines);
}

void Run(const Arguments& arguments, Console* console) {
  const Model model = arguments.model.Open();
  const Interrupt interrupt;
  Translator translator(arguments, model, console);
  const auto translate = [&](const std::vector<std::string>& lines) { translator.Translate(lines); };
  if (!arguments.texts.empty()) {
    for (size_t at = 0; at < arguments.texts.size() && !Interrupt::Happened(); at += arguments.batch_size) {
      const size_t end = std::min(arguments.texts.size(), at + arguments.batch_size);
      translate({arguments.texts.begin() + static_cast<ptrdiff_t>(at),
                 arguments.texts.begin() + static_cast<ptrdiff_t>(end)});
    }
  } else if (arguments.file == "-") {
    // On a terminal each line is translated at once.
    ForEachBatch(std::cin, InputIsTerminal() ? 1 : arguments.batch_size, translate);
  } else {
    std::ifstream file(Utf8Path(arguments.file), std::ios::binary);
    if (!file) Fail("{}: cannot open", arguments.file);
    ForEachBatch(file, arguments.batch_size, translate);
    if (file.bad()) Fail("{}: cannot read", arguments.file);
  }
  translator.End();
  if (Interrupt::Happened()) console->status = kExitInterrupted;
}

}  // namespace

void AddTranslate(Command app, Console* console) {
  const Command command = app.AddCommand(CommandGroup::kGeneration, "translate",
                                         "Translate lines, or transform them with an encoder-decoder model");
  const Options input = command.Under(Heading::kInput);
  const Options generation = command.Under(Heading::kGeneration);
  const Options machine = command.Under(Heading::kMachine);
  auto arguments = std::make_shared<Arguments>();
  arguments->model.AddTo(command);
  arguments->model.AddLiteral(command);
  const Option text = input.AddRepeated("--text", &arguments->texts, "A text to translate").Placeholder("TEXT");
  input.Add("--file", &arguments->file, "File with one text per line; default: '-', standard input")
      .Placeholder("FILE")
      .Excludes(text);
  machine.Add("--batch-size", &arguments->batch_size, "Translate N texts at a time").Range(1, 4096).ShowDefault();
  input
      .Add("--source-language", &arguments->languages.source,
           "Source language, by the model's name for it: en_XX, eng_Latn, en, ...")
      .Placeholder("NAME");
  input.Add("--target-language", &arguments->languages.target, "Target language, by the model's name for it")
      .Placeholder("NAME");
  input.Add("--source-prefix", &arguments->languages.prefix, "Prepend TEXT to each text: the task prefix of T5")
      .Placeholder("TEXT");
  input
      .Add("--task", &arguments->task,
           "Use the prefix and search settings of this task of the model, such as translation_en_to_de")
      .Placeholder("NAME");
  generation.Add("--target-prefix", &arguments->target_prefix, "Begin each translation with TEXT").Placeholder("TEXT");
  arguments->generation.AddSearch(command);
  arguments->generation.AddScoring(command);
  AddJsonList(command, &arguments->json);
  command.Footer(
      R"(Prints one line for each line read, in the same order; an empty line stays empty. The number of beams is that
of the model's authors unless --beams is given. --hypotheses N also prints the other hypotheses with their scores.
Examples:
  fovea translate marian.fovea < german.txt > english.txt
  fovea translate mbart.fovea --source-language en_XX --target-language de_DE --text "A blue house."
  fovea translate t5.fovea --source-prefix "translate English to German: " --file english.txt)");
  command.Runs([=] { Run(*arguments, console); });
}

}  // namespace fovea::tools
