// fovea tokenize: the tokens of texts.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "runtime/blob/op_codes.h"
#include "tools/base/print.h"
#include "tools/base/utf8_path.h"
#include "tools/blob/blob.h"
#include "tools/commands/arguments.h"
#include "tools/commands/chat_arguments.h"
#include "tools/commands/commands.h"
#include "tools/convert/text/build.h"
#include "tools/convert/text/chat_files.h"
#include "tools/text/chat_format.h"
#include "tools/text/tokenizer.h"
#include "tools/text/truncation.h"

namespace fovea::tools {
namespace {

struct Arguments {
  ModelArguments model;
  TextArguments text;
  std::string chat;
  ChatArguments chat_inputs;
  uint32_t max_length = 0;
  ListForm json = ListForm::kText;
};

// Adds a program, which every blob needs: an embedding lookup in a table of one row.
void AddLeastProgram(BlobContent* content) {
  content->spaces = {{"texts"}, {"tokens", 0}};
  content->tensors.push_back({"row", DType::kF32, 1, 1, std::vector<uint8_t>(sizeof(float)), {}});
  BlobProgram program;
  program.name = "none";
  program.values = {{"input_ids", 1, 1, DType::kI32, ValueRole::kInput},
                    {"row", 1, 1, DType::kF32, ValueRole::kOutput}};
  BlobOperation embed;
  embed.code = static_cast<uint32_t>(OpCode::kEmbed);
  embed.output = 1;
  embed.inputs = {0};
  embed.tensors = {0};
  program.operations = {embed};
  content->programs = {program};
}

// A blob given on the command line, or one made of a directory's tokenizer files.
struct Opened {
  Opened(const ModelArguments& arguments, Console* console) {
    if (!std::filesystem::is_directory(Utf8Path(arguments.path))) {
      model = std::make_unique<Model>(arguments.Open());
      return;
    }
    BlobContent content;
    TextOptions options;
    std::vector<std::string> warnings;
    options.warnings = &warnings;
    content.text = BuildTextSection(Utf8Path(arguments.path), {}, options);
    for (const std::string& warning : warnings) console->err << "fovea: warning: " << Printable(warning) << "\n";
    if (content.text.empty()) Fail("{}: has no tokenizer", arguments.path);
    for (auto& entry : ChatMetadataIn(Utf8Path(arguments.path))) content.metadata.push_back(std::move(entry));
    AddLeastProgram(&content);
    const std::vector<uint8_t> bytes = WriteBlob(content);
    memory = Allocate(bytes.size());
    std::copy(bytes.begin(), bytes.end(), memory.get());
    model = std::make_unique<Model>(memory.get(), bytes.size(), arguments.path, Model::Options());
  }
  Memory memory;
  std::unique_ptr<Model> model;
};

void Tokenize(const Arguments& arguments, Console* console) {
  const Opened opened(arguments.model, console);
  const Model& model = *opened.model;
  const Tokenizer tokenizer(model);
  const std::vector<ChatMessage> history = arguments.chat_inputs.Messages();
  if (!arguments.text.Given() && history.empty()) Fail("no input; give --text or --file");
  if (arguments.chat.empty() && !history.empty()) Fail("--messages needs --chat");
  if (!arguments.chat.empty() && arguments.max_length != 0) {
    Fail("--max-length cannot be combined with --chat: a chat prompt is not truncated");
  }
  std::optional<ChatFormat> chat;
  if (!arguments.chat.empty()) chat.emplace(model, arguments.chat, arguments.chat_inputs.Inputs());
  OrderedJson list = OrderedJson::array();
  Truncations cuts;
  std::vector<std::string> inputs;
  std::vector<std::vector<ChatMessage>> chats;
  for (const std::string& given : arguments.text.Given() ? arguments.text.All() : std::vector<std::string>{""}) {
    std::vector<ChatMessage> messages = history;
    if (arguments.text.Given()) messages.push_back({"user", given});
    inputs.push_back(chat ? chat->Prompt(messages) : given);
    chats.push_back(std::move(messages));
  }
  for (size_t number = 0; number < inputs.size(); ++number) {
    const std::string& text = inputs[number];
    const Tokens tokens = chat ? chat->TokensOf(chats[number]) : tokenizer.Encode(text, arguments.max_length);
    cuts.Add(tokens);
    OrderedJson entry = {{"text", text}, {"ids", tokens.ids}, {"types", tokens.types}};
    OrderedJson pieces = OrderedJson::array(), ranges = OrderedJson::array();
    for (size_t i = 0; i < tokens.ids.size(); ++i) {
      pieces.push_back(tokenizer.Piece(tokens.ids[i]));
      ranges.push_back({tokens.begin[i], tokens.end[i]});
    }
    entry["pieces"] = pieces;
    entry["ranges"] = ranges;
    entry["decoded"] = tokenizer.Decode(tokens.ids);
    entry["dropped_tokens"] = tokens.dropped;
    list.push_back(entry);
    if (arguments.json != ListForm::kText) continue;
    console->out << Printable(text) << "\n";
    for (size_t i = 0; i < tokens.ids.size(); ++i) {
      const std::string range =
          tokens.special[i] != 0 ? "" : fmt::format("  bytes {}-{}", tokens.begin[i], tokens.end[i]);
      console->out << fmt::format("  {:>7}  {:<20}{}\n", tokens.ids[i], Printable(pieces[i].get<std::string>()), range);
    }
    if (tokens.dropped != 0) console->out << fmt::format("  ({} more tokens were cut off)\n", tokens.dropped);
  }
  PrintTruncations(cuts, console->err);
  PrintList(console->out, arguments.json, list);
}

}  // namespace

void AddTokenize(Command app, Console* console) {
  const Command command =
      app.AddCommand(CommandGroup::kInsight, "tokenize", "Show the token ids, pieces and byte ranges of texts");
  const Options chat = command.Under(Heading::kChat);
  auto arguments = std::make_shared<Arguments>();
  arguments->model.AddTo(command);
  arguments->text.AddTo(command);
  arguments->model.AddLiteral(command);
  AddMaxLength(command, &arguments->max_length);
  chat.Add("--chat", &arguments->chat,
           "Put each text into a chat template as the user's turn: chatml, llama3, ...; auto: the model's own")
      .Placeholder("NAME");
  arguments->chat_inputs.AddTo(command);
  AddJsonList(command, &arguments->json);
  command.Footer(
      "BLOB can also be a directory with tokenizer files.\n"
      "Example:\n  fovea tokenize model.fovea --text \"Is this one word?\"");
  command.Runs([=] { Tokenize(*arguments, console); });
}

}  // namespace fovea::tools
