// fovea generate: texts into texts, and which words the decoder looked at.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <sstream>

#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/common/print.h"
#include "tools/generate/generation.h"

namespace fovea::tools {
namespace {

struct Arguments {
  ModelArguments model;
  TextArguments text;
  std::vector<std::string> ids;
  uint32_t workers = 1;
  uint32_t max_tokens = 0;
  uint32_t context = 0;
  std::optional<uint32_t> cache_type;
  bool alignments = false;
  bool ignore_stop = false;
  bool json = false;
  fovea_sampling sampling = Sized<fovea_sampling>();
};

std::vector<int32_t> ReadIds(const std::string& line) {
  std::istringstream stream(line);
  std::vector<int32_t> ids;
  for (int32_t id; stream >> id;) ids.push_back(id);
  if (!stream.eof()) Fail("--ids '{}': numbers with spaces between them are needed", line);
  return ids;
}

// A line for each token, a column for each token of the input: the darker the more it was looked at.
std::string Picture(const Generation& generation, const std::vector<std::string>& columns,
                    const std::vector<std::string>& rows) {
  static constexpr char kShades[] = " .:-=+*#%@";
  std::string picture = "        ";
  for (const std::string& column : columns) picture += column.size() == 1 && column[0] > ' ' ? column : "_";
  picture += "\n";
  for (size_t row = 0; row < generation.alignment.size(); ++row) {
    picture += fmt::format("  {:<5} ", Printable(rows[row]));
    for (const float weight : generation.alignment[row]) {
      picture += kShades[static_cast<size_t>(std::clamp(weight, 0.0f, 1.0f) * 9.0f + 0.5f)];
    }
    picture += "\n";
  }
  return picture;
}

// A line for each token: its log-probability, and those of the likeliest tokens.
std::string Logprobs(const Model& model, const Generation& generation, const std::vector<std::string>& rows) {
  std::string lines;
  for (size_t i = 0; i < generation.logprobs.size(); ++i) {
    lines += fmt::format("  {:<8} {:8.3f}", Printable(rows[i]), generation.logprobs[i]);
    if (i < generation.top.size()) {
      for (const auto& [token, logprob] : generation.top[i]) {
        lines += fmt::format("  {} {:.3f}", Printable(GeneratedPiece(model, token)), logprob);
      }
    }
    lines += "\n";
  }
  return lines;
}

void AddSampling(CLI::App* command, fovea_sampling* sampling) {
  command
      ->add_option("--temperature", sampling->temperature, "Draw tokens; scores are divided by it. 0: the best token")
      ->check(CLI::Range(0.0, 1e6));
  command->add_option("--top-k", sampling->top_k, "Draw among so many of the best tokens only")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--top-p", sampling->top_p, "Draw among the fewest likeliest tokens with this probability together")
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--min-p", sampling->min_p, "Draw among tokens at least this times as likely as the likeliest")
      ->check(CLI::Range(0.0, 1.0));
  command
      ->add_option("--repetition-penalty", sampling->repetition_penalty,
                   "Scores of tokens that the text has are divided by it, negative ones multiplied")
      ->check(CLI::Range(0.0, 1e6));
  command->add_option("--presence-penalty", sampling->presence_penalty,
                      "Subtracted from the scores of tokens that the text has");
  command->add_option("--seed", sampling->seed, "Of the random numbers")->check(CLI::NonNegativeNumber);
  command
      ->add_option_function<uint32_t>(
          "--logprobs", [=](uint32_t count) { sampling->logprobs = 1, sampling->top_logprobs = count; },
          "Log-probabilities of the tokens, and of so many of the likeliest ones of each step")
      ->check(CLI::Range(0, 256))
      ->type_name("UINT");
}

void Run(const Arguments& arguments, Console* console) {
  const Model model = arguments.model.Open();
  std::vector<std::vector<int32_t>> inputs;
  std::vector<std::string> names;
  for (const std::string& line : arguments.ids) {
    inputs.push_back(ReadIds(line));
    names.push_back(line);
  }
  if (arguments.text.Given()) {
    const Tokenizer tokenizer(model);
    for (const std::string& text : arguments.text.All()) {
      inputs.push_back(tokenizer.Encode(text, 0).ids);
      names.push_back(text);
    }
  }
  if (inputs.empty()) Fail("give --text, --file or --ids");
  const bool has_text = model.Info().has_text != 0;
  const std::vector<Generation> generations =
      Generate(model, inputs,
               {arguments.workers, arguments.context, arguments.cache_type, arguments.max_tokens, arguments.alignments,
                arguments.sampling, !arguments.ignore_stop});
  OrderedJson list = OrderedJson::array();
  for (size_t i = 0; i < generations.size(); ++i) {
    const Generation& generation = generations[i];
    std::vector<std::string> columns, rows;
    for (const int32_t id : generation.input)
      columns.push_back(has_text ? Tokenizer(model).Piece(id) : std::to_string(id));
    for (const int32_t token : generation.tokens) rows.push_back(GeneratedPiece(model, token));
    if (!arguments.json) {
      console->out << Printable(names[i]) << " -> " << Printable(generation.text) << "\n";
      console->out << Logprobs(model, generation, rows);
      if (arguments.alignments) console->out << Picture(generation, columns, rows);
      continue;
    }
    OrderedJson entry = {{"input", names[i]},           {"text", generation.text},     {"input_ids", generation.input},
                         {"tokens", generation.tokens}, {"scores", generation.scores}, {"pieces", rows}};
    if (!generation.logprobs.empty()) entry["logprobs"] = generation.logprobs;
    for (const auto& step : generation.top) {
      OrderedJson likely = OrderedJson::array();
      for (const auto& [token, logprob] : step) {
        likely.push_back({{"token", token}, {"piece", GeneratedPiece(model, token)}, {"logprob", logprob}});
      }
      entry["top_logprobs"].push_back(likely);
    }
    if (arguments.alignments) {
      entry["input_pieces"] = columns;
      entry["alignments"] = generation.alignment;
    }
    list.push_back(entry);
  }
  if (arguments.json) PrintJson(console->out, list);
}

}  // namespace

void AddGenerate(CLI::App* app, Console* console) {
  CLI::App* command = app->add_subcommand("generate", "Go on with texts, or turn them into others");
  auto arguments = std::make_shared<Arguments>();
  arguments->model.AddTo(command);
  arguments->text.AddTo(command);
  AddRepeated(command, "--ids", &arguments->ids, "Token ids of a text, with spaces between them")->type_name("IDS");
  command->add_option("--max-tokens", arguments->max_tokens, "Most tokens of a text; default: as the model says");
  command->add_option("--context", arguments->context,
                      "Of a decoder that goes on with texts: most tokens of a text with its prompt");
  AddCacheType(command, &arguments->cache_type);
  command->add_flag("--ignore-stop", arguments->ignore_stop, "Go on after tokens that end a text");
  command->add_flag("--alignments", arguments->alignments, "Where the decoder looked for each token it wrote");
  AddSampling(command, &arguments->sampling);
  AddWorkers(command, &arguments->workers);
  AddJson(command, &arguments->json);
  command->footer(
      "The token with the highest score is taken in every step, or with --temperature one is drawn: penalties come "
      "first,\n"
      "then the temperature, --top-k, --top-p and --min-p. What is drawn depends on the seed, on the number of the "
      "text "
      "among\n"
      "those given and on the step. A model that takes texts of one length has them filled up with its padding token.\n"
      "Examples:\n"
      "  fovea generate dates.fovea --text 20JAN19 --alignments\n"
      "  fovea generate dates.fovea --text 20JAN19 --temperature 0.8 --top-p 0.95 --seed 7 --logprobs 3\n"
      "  fovea generate dates.fovea --file dates.txt --json");
  command->callback([=] { Run(*arguments, console); });
}

}  // namespace fovea::tools
