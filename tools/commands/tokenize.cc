// fovea tokenize: the tokens that a model sees.
#include <fmt/format.h>

#include <memory>

#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/common/print.h"
#include "tools/common/text.h"

namespace fovea::tools {
namespace {

struct Arguments {
  ModelArguments model;
  TextArguments text;
  uint32_t max_length = 0;
  bool json = false;
};

void Tokenize(const Arguments& arguments, Console* console) {
  const Model model = arguments.model.Open();
  const Tokenizer tokenizer(model);
  if (!arguments.text.Given()) Fail("give --text or --file");
  OrderedJson list = OrderedJson::array();
  for (const std::string& text : arguments.text.All()) {
    const Tokens tokens = tokenizer.Encode(text, arguments.max_length);
    OrderedJson entry = {{"text", text}, {"ids", tokens.ids}, {"types", tokens.types}};
    OrderedJson pieces = OrderedJson::array(), ranges = OrderedJson::array();
    for (size_t i = 0; i < tokens.ids.size(); ++i) {
      pieces.push_back(tokenizer.Piece(tokens.ids[i]));
      ranges.push_back({tokens.begin[i], tokens.end[i]});
    }
    entry["pieces"] = pieces;
    entry["ranges"] = ranges;
    entry["dropped_tokens"] = tokens.dropped;
    list.push_back(entry);
    if (arguments.json) continue;
    console->out << Printable(text) << "\n";
    for (size_t i = 0; i < tokens.ids.size(); ++i) {
      const std::string range =
          tokens.special[i] != 0 ? "" : fmt::format("  bytes {}-{}", tokens.begin[i], tokens.end[i]);
      console->out << fmt::format("  {:>7}  {:<20}{}\n", tokens.ids[i], Printable(pieces[i].get<std::string>()), range);
    }
    if (tokens.dropped != 0) console->out << fmt::format("  ({} more tokens were cut off)\n", tokens.dropped);
  }
  if (arguments.json) PrintJson(console->out, list);
}

}  // namespace

void AddTokenize(CLI::App* app, Console* console) {
  CLI::App* command = app->add_subcommand("tokenize", "Show the token ids, pieces and byte ranges of texts");
  auto arguments = std::make_shared<Arguments>();
  arguments->model.AddTo(command);
  arguments->text.AddTo(command);
  AddMaxLength(command, &arguments->max_length);
  AddJson(command, &arguments->json);
  command->footer("Example:\n  fovea tokenize model.fovea --text \"Is this one word?\"");
  command->callback([=] { Tokenize(*arguments, console); });
}

}  // namespace fovea::tools
