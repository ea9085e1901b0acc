// fovea similarity: cosines between texts, between images, or between images and texts.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "tools/base/print.h"
#include "tools/base/replaced.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/model/interrupt.h"
#include "tools/prediction/prompts.h"
#include "tools/text/truncation.h"
#include "tools/vectors/directions.h"
#include "tools/vectors/nearest.h"

namespace fovea::tools {
namespace {

struct Arguments {
  ModelArguments model;
  TextArguments text;
  std::vector<std::string> pictures, prompts;
  std::string program, picture_model, prompt_name;
  std::optional<uint32_t> measure;
  EmbeddingOptions embedding;
  uint32_t top = 0;
  ListForm json = ListForm::kText;
};

// More are printed as they are computed.
constexpr size_t kManyTexts = 200;

Truncations TruncationsOf(const Directions& texts) {
  Truncations cuts;
  for (size_t i = 0; i < texts.dropped.size(); ++i) cuts.Add(texts.dropped[i], 0, texts.spelled[i]);
  return cuts;
}

// A value within an object or array of JSON that is printed with indents.
std::string Within(const OrderedJson& json, size_t indent) {
  return ReplacedAll(JsonText(json, 2), "\n", "\n" + std::string(indent, ' '));
}

// Row by row: the matrix can be larger than memory.
void PrintMatrixJson(const Directions& all, const std::vector<std::string>& names, const char* what,
                     std::ostream& out) {
  out << fmt::format("{{\n  \"source\": {},\n  \"{}\": {},\n  \"{}\": [", Within(all.source, 2), what, Within(names, 2),
                     KeyOf(all.measure));
  for (size_t i = 0; i < all.rows.size(); ++i) {
    out << (i == 0 ? "\n    " : ",\n    ") << Within(SimilaritiesOf(all, i, all), 4);
  }
  out << "\n  ]";
  if (TruncationsOf(all).any()) out << ",\n  \"dropped_tokens\": " << Within(all.dropped, 2);
  out << "\n}\n";
}

// Prints all pairs of texts, or of images.
void PrintMatrix(const Directions& all, const std::vector<std::string>& names, const char* what, ListForm form,
                 Console* console) {
  const size_t count = all.rows.size();
  if (form == ListForm::kArray) return PrintMatrixJson(all, names, what, console->out);
  if (count > kManyTexts) {
    console->err << fmt::format("fovea: {} x {} numbers; --top N prints the most similar texts of each instead\n",
                                Grouped(count), Grouped(count));
  }
  console->out << fmt::format("{} of {}\n      ", NameOf(all.measure), all.source);
  size_t width = 8;  // characters of a column
  std::vector<std::vector<double>> first;
  for (size_t i = 0; i < count && count <= kManyTexts; ++i) {
    first.push_back(SimilaritiesOf(all, i, all));
    for (const double cosine : first.back()) width = std::max(width, fmt::format("{:.4f}", cosine).size() + 1);
  }
  for (size_t j = 0; j < count; ++j) console->out << fmt::format("{:>{}}", j + 1, width);
  console->out << "\n";
  for (size_t i = 0; i < count; ++i) {
    console->out << fmt::format("{:>6}", i + 1);
    const std::vector<double> row = i < first.size() ? first[i] : SimilaritiesOf(all, i, all);
    for (const double cosine : row) console->out << fmt::format("{:>{}.4f}", cosine, width);
    console->out << "  " << Printable(names[i]) << "\n";
  }
}

// Prints for each text or image the `top` most similar ones, without itself.
void PrintNearest(const Directions& all, const std::vector<std::string>& names, const char* what, size_t top,
                  ListForm form, Console* console) {
  if (form == ListForm::kText) console->out << fmt::format("{} of {}\n", NameOf(all.measure), all.source);
  JsonList list(console->out, form);
  for (size_t i = 0; i < names.size() && !Interrupt::Happened(); ++i) {
    BestTexts best(top);
    const std::vector<double> scores = SimilaritiesOf(all, i, all);
    for (size_t j = 0; j < scores.size(); ++j) {
      if (j != i) best.Add({j, scores[j]});
    }
    OrderedJson entry = {{what, names[i]}, {"nearest", OrderedJson::array()}};
    if (i < all.dropped.size() && all.dropped[i] != 0) entry["dropped_tokens"] = all.dropped[i];
    if (form == ListForm::kText) console->out << fmt::format("{:>6}  {}\n", i + 1, Printable(names[i]));
    for (const Neighbour& one : best.Sorted()) {
      entry["nearest"].push_back({{"index", one.text}, {"score", one.score}, {what, names[one.text]}});
      if (form != ListForm::kText) continue;
      console->out << fmt::format("  {:>8.4f}  {:>6}  {}\n", one.score, one.text + 1, Printable(names[one.text]));
    }
    list.Add(entry);
  }
  list.End();
}

// Prints the texts of each image, the most similar first.
void PrintMatches(const Arguments& arguments, const std::vector<std::string>& texts, const Directions& said,
                  const Directions& shown, const std::optional<Matching>& matching, Console* console) {
  OrderedJson entries = OrderedJson::array();
  for (size_t i = 0; i < shown.rows.size(); ++i) {
    const std::vector<double> cosines = SimilaritiesOf(shown, i, said);
    std::vector<size_t> order(texts.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return cosines[a] > cosines[b]; });
    if (arguments.top != 0 && order.size() > arguments.top) order.resize(arguments.top);
    const std::vector<double> shares = matching ? matching->Probabilities(cosines) : std::vector<double>();
    OrderedJson matches = OrderedJson::array();
    for (const size_t j : order) {
      OrderedJson match = {{"text", texts[j]}, {"cosine", cosines[j]}};
      if (said.dropped[j] != 0) match["dropped_tokens"] = said.dropped[j];
      if (matching) {
        match["logit"] = matching->Logit(cosines[j]);
        match["probability"] = shares[j];
      }
      matches.push_back(match);
    }
    entries.push_back({{"file", arguments.pictures[i]}, {"texts", matches}});
  }
  if (arguments.json != ListForm::kText) return PrintList(console->out, arguments.json, entries);
  for (const OrderedJson& entry : entries) {
    console->out << Printable(entry["file"].get<std::string>()) << "\n";
    for (const OrderedJson& match : entry["texts"]) {
      if (matching) console->out << fmt::format("  {:<7.4f}", match["probability"].get<double>());
      console->out << fmt::format("  cosine {:>7.4f}  {}\n", match["cosine"].get<double>(),
                                  Printable(match["text"].get<std::string>()));
    }
  }
}

void Similarity(const Arguments& arguments, Console* console) {
  const std::vector<std::string> texts = arguments.text.All();
  const std::vector<std::string>& pictures = arguments.pictures;
  if (pictures.empty() && texts.size() < 2)
    Fail("give at least two texts with --text or --file, or pictures with --image");
  if (texts.empty() && pictures.size() < 2) Fail("one image cannot be compared; give texts or a second --image");
  if (!arguments.prompts.empty() && texts.empty()) Fail("--prompt needs texts; give --text or --file");
  if (!arguments.picture_model.empty() && pictures.empty()) Fail("--image-model needs --image");
  const bool square = pictures.empty() || texts.empty();
  if (square && arguments.top == 0 && arguments.json == ListForm::kLines)
    Fail("--jsonl needs --top: it prints the most similar texts of each");
  const Model model = arguments.model.Open();
  std::optional<Model> other;
  if (!arguments.picture_model.empty()) {
    ModelArguments of_pictures = arguments.model;
    of_pictures.path = arguments.picture_model;
    other.emplace(of_pictures.Open());
  }
  const Model& of_pictures = other ? *other : model;
  EmbeddingOptions embedding = arguments.embedding;
  // Images and texts have only directions in common.
  if (pictures.empty() || texts.empty()) embedding.measure = arguments.measure.value_or(MeasureOf(of_pictures));
  if (arguments.measure && !pictures.empty() && !texts.empty() && *arguments.measure != FOVEA_MEASURE_COSINE)
    Fail("images and texts are compared by cosine; leave out --measure");
  if (embedding.measure == FOVEA_MEASURE_MAX_SIM && (embedding.dimensions != 0 || !arguments.prompts.empty()))
    Fail("{}: compares tokens; leave out --dimensions and --prompt", model.name());
  const Prompt prompt = texts.empty() ? Prompt() : ChoosePrompt(model, arguments.prompt_name);
  if (!arguments.prompts.empty() && !arguments.prompt_name.empty())
    Fail("--prompt and --prompt-name cannot be combined; leave one of them out");
  const bool prompted = arguments.prompts.empty() && !prompt.text.empty();
  if (prompted) PrintPrompt(NoteOf(prompt), console->err);
  Directions said, shown;
  if (!texts.empty()) {
    const std::string program = pictures.empty() ? arguments.program : "";
    said = DirectionsOfTexts(model, program, prompted ? prompt.Before(texts) : texts, arguments.prompts, embedding);
    PrintTruncations(TruncationsOf(said), console->err);
  }
  if (!pictures.empty()) shown = DirectionsOfPictures(of_pictures, arguments.program, pictures, embedding);
  if (arguments.top != 0 && (pictures.empty() || texts.empty())) {
    const Interrupt interrupt;
    PrintNearest(pictures.empty() ? said : shown, pictures.empty() ? texts : pictures,
                 pictures.empty() ? "text" : "file", arguments.top, arguments.json, console);
    if (Interrupt::Happened()) console->status = kExitInterrupted;
    return;
  }
  if (pictures.empty()) return PrintMatrix(said, texts, "texts", arguments.json, console);
  if (texts.empty()) return PrintMatrix(shown, pictures, "images", arguments.json, console);
  std::optional<Matching> matching = MatchingOf(model);
  if (!matching) matching = MatchingOf(of_pictures);
  PrintMatches(arguments, texts, said, shown, matching, console);
}

}  // namespace

void AddSimilarity(Command app, Console* console) {
  const Command command =
      app.AddCommand(CommandGroup::kResults, "similarity", "Compare the embeddings of texts and images");
  const Options input = command.Under(Heading::kInput);
  const Options model = command.Under(Heading::kModel);
  const Options output = command.Under(Heading::kOutput);
  auto arguments = std::make_shared<Arguments>();
  arguments->model.AddTo(command);
  arguments->text.AddTo(command);
  arguments->model.AddLiteral(command);
  input.AddRepeated("--image", &arguments->pictures, "Image file (PNG, JPEG, WebP, GIF, BMP) to compare with the texts")
      .Placeholder("FILE");
  model.Add("--image-model", &arguments->picture_model, "Embed the images with this blob; default: BLOB")
      .Placeholder("BLOB");
  input
      .AddRepeated("--prompt", &arguments->prompts,
                   "Template whose {} is replaced by each text; of several, the mean embedding is used")
      .Placeholder("TEXT");
  output
      .Add("--top", &arguments->top,
           "Print the N most similar texts of each image, or other texts of each text; 0: all")
      .ShowDefault();
  AddPromptName(command, &arguments->prompt_name);
  output
      .AddChoice<std::optional<uint32_t>>("--measure", &arguments->measure,
                                          {{"cosine", FOVEA_MEASURE_COSINE},
                                           {"dot", FOVEA_MEASURE_DOT},
                                           {"euclidean", FOVEA_MEASURE_EUCLIDEAN},
                                           {"manhattan", FOVEA_MEASURE_MANHATTAN}},
                                          "Compare by cosine, dot product or negative distance; default: as the model\n"
                                          "states, else cosine")
      .Placeholder("NAME");
  AddProgram(command, &arguments->program);
  AddDimensions(command, &arguments->embedding.dimensions);
  AddWorkers(command, &arguments->embedding.workers);
  AddJsonList(command, &arguments->json);
  command.Footer(
      R"(Compares sentence embeddings or the pooled output of the model, or else the mean of its last hidden states; for
a masked language model, dot products of its sparse word weights (see fovea run --sparse); for a model with an embedding
for each token (ColBERT), for each token of the row's text the largest dot product with one of the column's, summed.
For an image and texts, a model trained for it also gives the probability of each text: CLIP a softmax over all
texts, SigLIP a sigmoid for each text.
Examples:
  fovea similarity model.fovea --text "A cat sleeps" --text "A kitten naps" --text "Stocks fell"
  fovea similarity model.fovea --file lines.txt --top 3 --jsonl
  fovea similarity clip.fovea --image cat.jpg --text cat --text dog --prompt "a photo of a {}")");
  command.Runs([=] { Similarity(*arguments, console); });
}

}  // namespace fovea::tools
