// fovea generate: continues texts or maps texts to texts, and shows what the decoder attended to.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "tools/base/system.h"
#include "tools/commands/chat_arguments.h"
#include "tools/commands/chat_lines.h"
#include "tools/commands/commands.h"
#include "tools/commands/generation_arguments.h"
#include "tools/generate/conversation.h"
#include "tools/generate/decoder_session.h"
#include "tools/generate/generation_stats.h"
#include "tools/generate/hypotheses.h"
#include "tools/generate/room.h"
#include "tools/generate/target_tokens.h"
#include "tools/media/picture_inputs.h"
#include "tools/model/interrupt.h"
#include "tools/text/text_inputs.h"
#include "tools/text/text_windows.h"
#include "tools/text/truncation.h"

namespace fovea::tools {
namespace {

struct Arguments {
  ModelArguments model;
  TextArguments text;
  GenerationArguments generation;
  ChatArguments chat_inputs;
  std::vector<std::string> ids, prompts, images;
  std::string draft, system, target_prefix;
  std::string chat_template = "auto";
  bool chat = false, hide_prompt = false, ignore_stop = false, stats = false;
  ListForm json = ListForm::kText;
};

// Draws the attention map: a line for each output token, a column for each input token, darker for larger weights.
std::string Drawing(const Generation& generation, const std::vector<std::string>& columns,
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

// Formats a line for each token: log-probabilities of the token and of the likeliest ones.
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

// The draft model of speculative decoding, if any, and the request to the model that generates.
struct Request {
  Request(const Arguments& arguments, const Model& model) {
    GenerationArguments given = arguments.generation;
    if (!arguments.draft.empty()) {
      draft.emplace(arguments.draft, Model::Options());
      if (!ContinuesTexts(*draft)) Fail("{}: a draft model is a decoder without an encoder", draft->name());
      given.request.draft = &*draft;
    }
    given.request.stops = !arguments.ignore_stop;
    if (arguments.chat && !given.beams) given.beams = 1;  // a chat does not search
    request = given.RequestFor(model);
    if (arguments.target_prefix.empty()) return;
    request.prefix = TargetTokens(model, arguments.target_prefix, request.separator);
  }
  std::optional<Model> draft;
  GenerationRequest request;
};

// Reports options about tokens that are drawn, if none are.
void PrintIdle(const fovea_sampling& sampling, std::ostream& err) {
  if (sampling.temperature != 0) return;
  std::string idle;
  const auto add = [&](bool given, const char* option) {
    if (given) idle += (idle.empty() ? "" : ", ") + std::string(option);
  };
  add(sampling.top_k != 0, "--top-k");
  add(sampling.top_p != 0, "--top-p");
  add(sampling.min_p != 0, "--min-p");
  add(sampling.seed != 0, "--seed");
  if (idle.empty()) return;
  err << "fovea: without a --temperature above 0 the best token is taken; ignored: " << idle << "\n";
}

// The prompt given, or for "-" the content of standard input.
std::string PromptText(const std::string& given) {
  return given != "-" ? given : std::string(std::istreambuf_iterator<char>(std::cin), {});
}

uint64_t TokensOf(const std::vector<std::vector<int32_t>>& texts) {
  uint64_t count = 0;
  for (const std::vector<int32_t>& text : texts) count += text.size();
  return count;
}

void Interrupted(Console* console) {
  if (Interrupt::Happened()) console->status = kExitInterrupted;
}

struct Inputs {
  std::vector<std::vector<int32_t>> ids;
  std::vector<std::string> names, texts;  // texts: "" where ids are given
  std::vector<uint64_t> dropped;          // tokens of each text that do not fit
};

Inputs InputsOf(const Arguments& arguments, const Model& model, const GenerationRequest& request, Console* console) {
  Inputs inputs;
  const auto add = [&](std::vector<int32_t> ids, const std::string& name, const std::string& text) {
    inputs.ids.push_back(std::move(ids));
    inputs.names.push_back(name);
    inputs.texts.push_back(text);
  };
  for (const std::string& line : arguments.ids) add(ReadIds("--ids", line), line, "");
  std::vector<std::string> texts;
  for (const std::string& prompt : arguments.prompts) texts.push_back(PromptText(prompt));
  if (arguments.text.Given()) {
    for (std::string& text : arguments.text.All()) texts.push_back(std::move(text));
  }
  const bool continues = ContinuesTexts(model);
  Truncations cuts;
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string& text = texts[i];
    Tokens tokens;
    try {
      if (continues) {
        tokens = PromptTokens(model, text, request);
      } else {
        const uint32_t program = SourceProgram(model);  // first: a model of images also has no tokenizer
        tokens = EncodeFor(model, Tokenizer(model), program, text);
      }
    } catch (const Failure& failure) {
      if (texts.size() == 1) throw;
      Fail("text {} of {}: {}", i + 1, texts.size(), failure.what());
    }
    if (i < arguments.prompts.size()) tokens.spelled = 0;  // typed on purpose: the markers of a chat
    cuts.Add(tokens);
    inputs.dropped.resize(inputs.ids.size());
    inputs.dropped.push_back(tokens.dropped);
    add(tokens.ids, text, text);
  }
  inputs.dropped.resize(inputs.ids.size());
  PrintTruncations(cuts, console->err);
  if (inputs.ids.empty()) Fail("nothing to read; give --prompt, --text, --file or --ids; '--file -' is standard input");
  return inputs;
}

// Generates the texts of a window of images, from *next on, by a model whose encoder reads images (OCR, captions).
std::vector<Generation> GenerateFromImages(const Model& model, const std::vector<std::string>& paths, size_t* next,
                                           const GenerationRequest& request) {
  const uint32_t encoder = EncoderProgram(model);
  if (!FindPictureInput(model, encoder)) Fail("{}: does not read images; leave out --image", model.name());
  PictureBatch batch(model, encoder);
  size_t count = 0;
  for (; *next < paths.size() && count < kPicturesOfWindow && count * batch.numbers() < kNumbersOfWindow; ++count) {
    batch.Add(ReadPicture(paths[(*next)++]));
  }
  const Session encode = Encode(model, batch.Finish(), request.workers);
  return Generate(model, encode, std::vector<std::vector<int32_t>>(count), request);
}

// One result as JSON.
OrderedJson JsonOf(const Model& model, const Generation& generation, const std::string& name,
                   const std::vector<std::string>& columns, const std::vector<std::string>& rows) {
  OrderedJson entry = {{"input", name},
                       {"text", generation.text},
                       {"input_ids", generation.input},
                       {"tokens", generation.tokens},
                       {"scores", generation.scores},
                       {"pieces", rows}};
  if (!generation.hypotheses.empty()) entry["hypotheses"] = HypothesesJson(generation);
  if (generation.full) entry["ended_for_lack_of_room"] = true;
  if (!generation.logprobs.empty()) entry["logprobs"] = generation.logprobs;
  for (const auto& step : generation.top) {
    OrderedJson likely = OrderedJson::array();
    for (const auto& [token, logprob] : step) {
      likely.push_back({{"token", token}, {"piece", GeneratedPiece(model, token)}, {"logprob", logprob}});
    }
    entry["top_logprobs"].push_back(likely);
  }
  if (!generation.alignment.empty()) {
    entry["input_pieces"] = columns;
    entry["alignments"] = generation.alignment;
  }
  return entry;
}

// Prints inputs `first` and following with their results.
void PrintBatch(const Arguments& arguments, const Model& model, const GenerationRequest& request, const Inputs& inputs,
                size_t first, const std::vector<Generation>& generations, JsonList* list, Console* console) {
  const bool has_text = model.Info().has_text != 0;
  for (size_t i = 0; i < generations.size(); ++i) {
    const Generation& generation = generations[i];
    std::vector<std::string> columns, rows;
    for (const int32_t id : generation.input)
      columns.push_back(has_text ? Tokenizer(model).Piece(id) : std::to_string(id));
    for (const int32_t token : generation.tokens) rows.push_back(GeneratedPiece(model, token));
    if (arguments.json != ListForm::kText) {
      OrderedJson entry = JsonOf(model, generation, inputs.names[first + i], columns, rows);
      if (inputs.dropped[first + i] != 0) entry["dropped_tokens"] = inputs.dropped[first + i];
      list->Add(entry);
      continue;
    }
    console->out << Printable(inputs.names[first + i]) << " -> " << Printable(generation.text) << "\n";
    if (request.hypotheses > 1) {
      for (const Hypothesis& hypothesis : generation.hypotheses) {
        console->out << fmt::format("  {:9.4f}  {}\n", hypothesis.score, Printable(hypothesis.text));
      }
    }
    console->out << Logprobs(model, generation, rows);
    if (!generation.alignment.empty()) console->out << Drawing(generation, columns, rows);
  }
  console->out << std::flush;
}

// Runs the texts in batches, so that the memory of their KV caches is bounded; prints each input with its result.
void RunBatches(const Arguments& arguments, const Model& model, Console* console) {
  Request request(arguments, model);
  JsonList list(console->out, arguments.json);
  Inputs inputs;
  std::vector<Generation> all;
  GenerationStats stats;
  const auto print = [&](size_t first, std::vector<Generation> made) {
    uint64_t tokens = 0;
    for (const Generation& generation : made) tokens += generation.tokens.size();
    stats.End(tokens);
    PrintBatch(arguments, model, request.request, inputs, first, made, &list, console);
    std::move(made.begin(), made.end(), std::back_inserter(all));
  };
  if (!arguments.images.empty()) {
    if (arguments.text.Given() || !arguments.ids.empty()) Fail("--image cannot be combined with texts or ids");
    inputs.names = arguments.images;
    inputs.dropped.resize(inputs.names.size());
    for (size_t next = 0; next < arguments.images.size() && !Interrupt::Happened();) {
      const size_t first = request.request.number = next;
      stats.Begin(0);
      print(first, GenerateFromImages(model, arguments.images, &next, request.request));
    }
  } else {
    inputs = InputsOf(arguments, model, request.request, console);
    const size_t most = BatchLimits().texts;
    for (size_t first = 0; first < inputs.ids.size() && !Interrupt::Happened(); first += most) {
      const auto begin = inputs.ids.begin() + static_cast<ptrdiff_t>(first);
      const size_t count = std::min(most, inputs.ids.size() - first);
      request.request.number = first;
      const std::vector<std::vector<int32_t>> batch(begin, begin + static_cast<ptrdiff_t>(count));
      stats.Begin(TokensOf(batch));
      print(first, Generate(model, batch, request.request));
    }
  }
  ReportRoom(model, request.request, all, console->err);
  list.End();
  if (arguments.stats) console->err << stats.Text();
}

// Runs prompt by prompt; prints the continuation as it is generated.
void RunPrompts(const Arguments& arguments, const Model& model, Console* console) {
  Request request(arguments, model);
  const Inputs inputs = InputsOf(arguments, model, request.request, console);
  // A prompt is printed with the first part of its continuation: nothing before a refusal.
  std::string prompt;
  const auto show = [&](const std::string& part) {
    console->out << prompt << part << std::flush;
    prompt.clear();
  };
  GenerationStats stats;
  request.request.show = [&](size_t, const std::string& part) {
    stats.FirstToken();
    show(part);
  };
  std::vector<Generation> generations;
  for (size_t i = 0; i < inputs.ids.size() && !Interrupt::Happened(); ++i) {
    request.request.number = i;
    if (!arguments.hide_prompt) prompt = inputs.names[i];
    stats.Begin(inputs.ids[i].size());
    generations.push_back(Generate(model, {inputs.ids[i]}, request.request)[0]);
    const Generation& generation = generations.back();
    stats.End(generation.tokens.size());
    show("");
    for (const Hypothesis& hypothesis : generation.hypotheses) {
      console->out << (&hypothesis == &generation.hypotheses[0] ? "" : "\n") << hypothesis.text;
    }
    console->out << "\n";
    std::vector<std::string> rows;
    for (const int32_t token : generation.tokens) rows.push_back(GeneratedPiece(model, token));
    console->out << Logprobs(model, generation, rows) << std::flush;
  }
  ReportRoom(model, request.request, generations, console->err);
  if (arguments.stats) console->err << stats.Text();
}

// The user's turns are the prompts, or else lines of standard input until it ends. Ctrl-C ends the answer that is being
// generated, or else the chat.
void RunChat(const Arguments& arguments, const Model& model, Interrupt& interrupt, Console* console) {
  if (arguments.json != ListForm::kText) Fail("--json is not supported in chat mode; leave out --json or --chat");
  if (!arguments.target_prefix.empty() || arguments.generation.Scores()) {
    Fail("--target-prefix and --score are not supported in chat mode; leave them out");
  }
  Request request(arguments, model);
  request.request.show = [&](size_t, const std::string& part) { console->out << part << std::flush; };
  Conversation chat(model, ChatFormat(model, arguments.chat_template, arguments.chat_inputs.Inputs()), arguments.system,
                    request.request, arguments.chat_inputs.Messages());
  const auto ask = [&](const std::string& user) {
    const Generation answer = chat.Ask(user);
    console->out << std::endl;
    if (chat.turns_left_out() != 0) {
      console->err << fmt::format(
          "fovea: the chat exceeds its context of {} tokens; dropped its {} oldest "
          "turn{}\n",
          chat.context(), chat.turns_left_out(), chat.turns_left_out() == 1 ? "" : "s");
    }
    if (answer.full) {
      console->err << fmt::format(
          "fovea: the answer is cut off: the context of {} tokens is full; --context makes it larger\n",
          chat.context());
    }
  };
  if (chat.Waits()) ask("");
  for (size_t i = 0; i < arguments.prompts.size() && !Interrupt::Happened(); ++i) {
    ask(PromptText(arguments.prompts[i]));
  }
  if (!arguments.prompts.empty() || !arguments.chat_inputs.messages.empty()) return;
  const bool typed = InputIsTerminal();  // lines of a pipe are all messages
  if (typed) {
    console->out << fmt::format("Chat with {}, context of {} tokens; /help lists commands.\n", Printable(model.name()),
                                chat.context());
  }
  for (std::string line; !Interrupt::Happened();) {
    if (typed) console->out << "> " << std::flush;
    if (!std::getline(std::cin, line)) break;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    const ChatLine kind = ChatLineOf(line);
    if (kind == ChatLine::kBlank) continue;
    if (!typed && kind != ChatLine::kMessage && kind != ChatLine::kUnknown) {
      console->err << "fovea: " << Printable(line) << " is a message here: commands are only read from a terminal\n";
    }
    if (!typed || kind == ChatLine::kMessage) {
      ask(typed ? ChatMessageOf(line) : line);
      if (typed) interrupt.Rearm();
      continue;
    }
    if (kind == ChatLine::kExit) break;
    if (kind == ChatLine::kClear) chat.Clear();
    console->out << (kind == ChatLine::kClear     ? "The chat begins anew.\n"
                     : kind == ChatLine::kUnknown ? Printable(line) + " is no command; /help lists them.\n"
                                                  : kChatHelp);
  }
}

void Run(const Arguments& arguments, Console* console) {
  const Model model = arguments.model.Open();
  DecodeProgram(model);  // refuses models without one
  PrintIdle(arguments.generation.request.sampling, console->err);
  Interrupt interrupt;
  if (arguments.chat) {
    RunChat(arguments, model, interrupt, console);
  } else if (arguments.generation.Scores()) {
    if (!arguments.draft.empty()) Fail("--score cannot be combined with --draft: nothing is generated");
    const GenerationRequest request = Request(arguments, model).request;
    const Inputs inputs = InputsOf(arguments, model, request, console);
    OrderedJson list = arguments.generation.Score(model, inputs.ids, inputs.texts, inputs.names, request,
                                                  arguments.json != ListForm::kText, console);
    const size_t each = inputs.ids.empty() ? 1 : std::max<size_t>(1, list.size() / inputs.ids.size());
    for (size_t i = 0; i < list.size(); ++i) {
      if (inputs.dropped[i / each] != 0) list[i]["dropped_tokens"] = inputs.dropped[i / each];
    }
    PrintList(console->out, arguments.json, list);
  } else if (arguments.json != ListForm::kText || arguments.prompts.empty() || !arguments.images.empty()) {
    RunBatches(arguments, model, console);
  } else {
    RunPrompts(arguments, model, console);
  }
  Interrupted(console);
}

}  // namespace

void AddGenerate(Command app, Console* console) {
  const Command command =
      app.AddCommand(CommandGroup::kGeneration, "generate", "Generate text: continue prompts, or map texts to texts");
  const Options input = command.Under(Heading::kInput);
  const Options model = command.Under(Heading::kModel);
  const Options chat = command.Under(Heading::kChat);
  const Options generation = command.Under(Heading::kGeneration);
  const Options output = command.Under(Heading::kOutput);
  auto arguments = std::make_shared<Arguments>();
  GenerationRequest* const request = &arguments->generation.request;
  arguments->model.AddTo(command);
  arguments->text.AddTo(command);
  arguments->model.AddLiteral(command);
  input
      .AddRepeated("-p,--prompt", &arguments->prompts,
                   "Continue this text, printed as it is generated; '-': standard input")
      .Placeholder("TEXT");
  input.AddRepeated("--ids", &arguments->ids, "Token ids of a text, separated by spaces").Placeholder("IDS");
  input
      .AddRepeated("--image", &arguments->images,
                   "Image file (PNG, JPEG, WebP, GIF, BMP) for a model that writes texts of images (OCR)")
      .Placeholder("FILE");
  output.AddFlag("--stats", &arguments->stats, "Print the tokens and times of prompts and generated texts at the end");
  output.AddFlag("--no-display-prompt", &arguments->hide_prompt, "Print only the continuation, not the prompt");
  chat.AddFlag("--chat", &arguments->chat, "Chat: the user's turns are the prompts, or lines of standard input");
  chat.Add("--chat-template", &arguments->chat_template, "Chat template: chatml, llama3, ...; auto: the model's own")
      .Placeholder("NAME");
  chat.Add("--system", &arguments->system, "System message of a chat").Placeholder("TEXT");
  arguments->chat_inputs.AddTo(command);
  arguments->generation.AddSearch(command);
  generation.Add("--target-prefix", &arguments->target_prefix, "Begin each generated text with TEXT")
      .Placeholder("TEXT");
  arguments->generation.AddRoom(command);
  generation.AddRepeated("--stop", &request->stop_strings, "End a text before this string").Placeholder("STRING");
  generation.AddFlag("--ignore-stop", &arguments->ignore_stop, "Continue after end-of-text tokens");
  model
      .Add("--draft", &arguments->draft, "Speculative decoding with this draft model, a small one with the same tokens")
      .Placeholder("BLOB");
  model.Add("--draft-tokens", &request->draft_tokens, "Draft at most N tokens at a time").Range(1, 64).ShowDefault();
  output.AddFlag("--alignments", &request->alignments,
                 "Print which input tokens the decoder attended to for each output token");
  arguments->generation.AddSampling(command);
  arguments->generation.AddScoring(command);
  AddJsonList(command, &arguments->json);
  command.Footer(
      R"(Each step takes the token with the highest score, or with --temperature samples one: penalties come first,
then the temperature, --top-k, --top-p and --min-p. The sample depends on the seed, the index of the text and the step.
For a model that takes texts of one length, shorter texts are filled with its padding token.
Ctrl-C ends the text that is being generated (exit status 130), or in a chat on a terminal only the answer.
Examples:
  fovea generate writer.fovea --prompt "Section: games" --temperature 0.8 --top-p 0.95 --seed 7
  fovea generate assistant.fovea --chat --system "Answer in one sentence."
  fovea generate large.fovea --prompt "Once" --draft small.fovea --stop "The end"
  fovea generate dates.fovea --text 20JAN19 --alignments
  fovea generate writer.fovea --text "The sky is" --score " blue" --score " green"
  fovea generate dates.fovea --file dates.txt --json)");
  command.Runs([=] { Run(*arguments, console); });
}

}  // namespace fovea::tools
