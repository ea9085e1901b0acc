// fovea search: the texts of an index that are most similar to a query.
#include <fmt/format.h>
#include <stdlib.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "tools/base/fail.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/model/interrupt.h"
#include "tools/prediction/prompts.h"
#include "tools/text/truncation.h"
#include "tools/vectors/directions.h"
#include "tools/vectors/nearest.h"
#include "tools/vectors/text_embedder.h"

namespace fovea::tools {
namespace {

struct Arguments {
  ModelArguments model;
  std::string index, lines, prompt_name;
  std::vector<std::string> queries;
  std::string query_file;
  uint32_t top = 10;
  EmbedderOptions embedder;
  std::optional<uint32_t> measure;
  ListForm json = ListForm::kText;
};

uint32_t NumberOr(const std::string& text, uint32_t absent) {
  return text.empty() ? absent : static_cast<uint32_t>(strtoul(text.c_str(), nullptr, 10));
}

// The model of the queries: --model, or the one that the index was made with.
Model OpenModel(const Arguments& arguments, const VectorIndex& index) {
  ModelArguments model = arguments.model;
  if (!model.path.empty()) return model.Open();
  model.path = index.Metadata(kIndexModel);
  if (model.path.empty()) Fail("{}: does not name its model; give it with --model BLOB", index.path());
  try {
    return model.Open();
  } catch (const Failure& failure) {
    Fail("{}: its model cannot be opened; give --model BLOB ({})", index.path(), failure.what());
  }
}

void Search(const Arguments& arguments, Console* console) {
  if (arguments.queries.empty() && arguments.query_file.empty()) Fail("no query; give a text or --queries FILE");
  VectorIndex index(arguments.index, arguments.lines);
  const Model model = OpenModel(arguments, index);
  EmbedderOptions options = arguments.embedder;
  options.dimensions = NumberOr(index.Metadata(kIndexDimensions), 0);
  if (options.program.empty()) options.program = index.Metadata(kIndexProgram);
  options.prompt = ChoosePrompt(model, arguments.prompt_name);
  PrintPrompt(NoteOf(options.prompt), console->err);
  const uint32_t measure = arguments.measure.value_or(NumberOr(index.Metadata(kIndexMeasure), MeasureOf(model)));
  TextEmbedder embedder(model, options);
  if (embedder.width() != index.width() || embedder.of_tokens() != index.of_tokens()) {
    Fail("{} makes {} of {} numbers, and {} has {} of {}; give --model BLOB that made it", model.name(),
         embedder.of_tokens() ? "token vectors" : "vectors", embedder.width(), index.path(),
         index.of_tokens() ? "token vectors" : "vectors", index.width());
  }
  if (index.of_tokens() != (measure == FOVEA_MEASURE_MAX_SIM)) {
    Fail("{}: {}; leave out --measure", index.path(),
         index.of_tokens() ? "vectors of tokens are compared by the sum of their largest dot products"
                           : "has one vector for each text");
  }
  const Interrupt interrupt;
  const TextArguments queries = {arguments.queries, {}, arguments.query_file};
  TextSource source(queries);
  Truncations cuts;
  JsonList list(console->out, arguments.json);
  const bool one = arguments.queries.size() == 1 && arguments.query_file.empty();
  const uint64_t count = embedder.Embed(
      [&] { return source.Next(); },
      [&](TextVectors& query) {
        if (Interrupt::Happened()) return;
        cuts.Add(query.dropped, 0, query.spelled);
        OrderedJson entry = {{"query", query.text}, {"hits", OrderedJson::array()}};
        if (query.dropped != 0) entry["dropped_tokens"] = query.dropped;
        if (!one && arguments.json == ListForm::kText) console->out << Printable(query.text) << "\n";
        for (const Neighbour& hit : Nearest(index, query.values.data(), query.rows, measure, arguments.top)) {
          OrderedJson found = {{"index", hit.text}, {"score", hit.score}};
          if (index.has_lines()) found["text"] = index.Line(hit.text);
          entry["hits"].push_back(found);
          if (arguments.json != ListForm::kText) continue;
          console->out << fmt::format("{}{:>8.4f}  {:>6}  {}\n", one ? "" : "  ", hit.score, hit.text + 1,
                                      Printable(index.Line(hit.text)));
        }
        list.Add(entry);
      });
  PrintTruncations(cuts, console->err);
  if (Interrupt::Happened()) {
    console->status = kExitInterrupted;
  } else if (count == 0) {
    Fail("no query given");
  }
  list.End();
}

}  // namespace

void AddSearch(Command app, Console* console) {
  const Command command =
      app.AddCommand(CommandGroup::kResults, "search", "Find the texts of an index that are most similar to a query");
  const Options input = command.Under(Heading::kInput);
  const Options output = command.Under(Heading::kOutput);
  auto arguments = std::make_shared<Arguments>();
  input.Add("INDEX", &arguments->index, "Vectors of 'fovea embed': .safetensors or .npy").Required();
  input.Add("QUERY", &arguments->queries, "Texts to search for").Placeholder("QUERY");
  input.Add("--queries", &arguments->query_file, "File with one query per line ('-': standard input)")
      .Placeholder("FILE");
  input.Add("--lines", &arguments->lines, "File with the text of each vector; default: the texts in the index")
      .Placeholder("FILE");
  arguments->model.AddOptionTo(command, "--model", "Blob that embeds the queries; default: the one of the index");
  output.Add("--top", &arguments->top, "Print the N most similar texts").Range(1, 1000000).ShowDefault();
  output
      .AddChoice<std::optional<uint32_t>>("--measure", &arguments->measure,
                                          {{"cosine", FOVEA_MEASURE_COSINE},
                                           {"dot", FOVEA_MEASURE_DOT},
                                           {"euclidean", FOVEA_MEASURE_EUCLIDEAN},
                                           {"manhattan", FOVEA_MEASURE_MANHATTAN}},
                                          "Compare by cosine, dot product or negative distance; default: as the model\n"
                                          "states, else cosine")
      .Placeholder("NAME");
  AddPromptName(command, &arguments->prompt_name);
  AddMaxLength(command, &arguments->embedder.max_length);
  arguments->model.AddLiteral(command);
  AddProgram(command, &arguments->embedder.program);
  AddWorkers(command, &arguments->embedder.workers);
  AddJsonList(command, &arguments->json);
  command.Footer(
      R"(Every vector of the index is compared with the query (exact search); the file is mapped, not read into memory.
Numbers before a text are its score, larger is more similar, and its line. A model with a vector for each token
(ColBERT) is searched by the sum of the largest dot products (MaxSim).
Examples:
  fovea embed model.fovea --file lines.txt -o index.safetensors
  fovea search index.safetensors "how to reset a password" --top 5
  fovea search vectors.npy --model model.fovea --lines lines.txt --queries questions.txt --jsonl)");
  command.Runs([=] { Search(*arguments, console); });
}

}  // namespace fovea::tools
