// fovea generate: texts into texts, and which words the decoder looked at.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
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
  bool alignments = false;
  bool json = false;
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
      Generate(model, inputs, {arguments.workers, arguments.max_tokens, arguments.alignments});
  OrderedJson list = OrderedJson::array();
  for (size_t i = 0; i < generations.size(); ++i) {
    const Generation& generation = generations[i];
    std::vector<std::string> columns, rows;
    for (const int32_t id : generation.input)
      columns.push_back(has_text ? Tokenizer(model).Piece(id) : std::to_string(id));
    for (const int32_t token : generation.tokens) rows.push_back(GeneratedPiece(model, token));
    if (!arguments.json) {
      console->out << Printable(names[i]) << " -> " << Printable(generation.text) << "\n";
      if (arguments.alignments) console->out << Picture(generation, columns, rows);
      continue;
    }
    OrderedJson entry = {{"input", names[i]},           {"text", generation.text},     {"input_ids", generation.input},
                         {"tokens", generation.tokens}, {"scores", generation.scores}, {"pieces", rows}};
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
  CLI::App* command = app->add_subcommand("generate", "Turn texts into texts with an encoder and a decoder");
  auto arguments = std::make_shared<Arguments>();
  arguments->model.AddTo(command);
  arguments->text.AddTo(command);
  AddRepeated(command, "--ids", &arguments->ids, "Token ids of a text, with spaces between them")->type_name("IDS");
  command->add_option("--max-tokens", arguments->max_tokens, "Most tokens of a text; default: as the model says");
  command->add_flag("--alignments", arguments->alignments, "Where the decoder looked for each token it wrote");
  AddWorkers(command, &arguments->workers);
  AddJson(command, &arguments->json);
  command->footer(
      "The token with the highest score is taken in every step. A model that takes texts of one length has them filled "
      "up\n"
      "with its padding token.\n"
      "Examples:\n"
      "  fovea generate dates.fovea --text 20JAN19 --alignments\n"
      "  fovea generate dates.fovea --file dates.txt --json");
  command->callback([=] { Run(*arguments, console); });
}

}  // namespace fovea::tools
