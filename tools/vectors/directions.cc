// Embeddings of texts and images as directions.
#include "tools/vectors/directions.h"

#include <math.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>

#include "tools/base/fail.h"
#include "tools/media/picture_inputs.h"
#include "tools/prediction/prediction.h"
#include "tools/prediction/result_reader.h"
#include "tools/vectors/text_embedder.h"

namespace fovea::tools {
namespace {

std::vector<float> RowOf(const Matrix& rows, uint32_t row) { return {rows.Row(row), rows.Row(row) + rows.width}; }

void Normalize(std::vector<float>& row) {
  double squares = 0;
  for (const float value : row) squares += double{value} * double{value};
  for (float& value : row) value = squares == 0 ? 0 : static_cast<float>(value / sqrt(squares));
}

std::vector<float> Direction(const Matrix& rows, uint32_t row) {
  std::vector<float> direction = RowOf(rows, row);
  Normalize(direction);
  return direction;
}

std::string Filled(const std::string& prompt, const std::string& text) {
  const size_t at = prompt.find("{}");
  if (at == std::string::npos) Fail("--prompt '{}' has no {{}} to be replaced by the text", prompt);
  return prompt.substr(0, at) + text + prompt.substr(at + 2);
}

std::optional<double> Number(const Model& model, const char* key) {
  const char* text = model.Metadata(key);
  if (text == nullptr) return std::nullopt;
  char* end = nullptr;
  const double number = strtod(text, &end);
  if (end == text || *end != '\0' || !std::isfinite(number))
    Fail("{}: metadata {}: '{}' is not a number", model.name(), key, text);
  return number;
}

}  // namespace

uint32_t MeasureOf(const Model& model) {
  const std::optional<fovea_result_info> info = FindResultInfo(model, 0);
  return info ? info->measure : uint32_t{FOVEA_MEASURE_COSINE};
}

namespace {

struct MeasureNames {
  const char *name, *key;
};

// By fovea_measure.
constexpr MeasureNames kMeasures[] = {
    {"Cosine", "cosines"},
    {"Dot product", "dot_products"},
    {"Negative Euclidean distance", "negative_euclidean_distances"},
    {"Negative Manhattan distance", "negative_manhattan_distances"},
    {"Sum of the largest dot products (rows: queries, columns: documents)", "sums_of_largest_dot_products"}};

}  // namespace

const char* NameOf(uint32_t measure) { return kMeasures[measure].name; }

const char* KeyOf(uint32_t measure) { return kMeasures[measure].key; }

namespace {

double Similarity(const std::vector<float>& a, const std::vector<float>& b, uint32_t measure, uint32_t width) {
  const bool of_rows = measure == FOVEA_MEASURE_MAX_SIM;
  if (!of_rows && a.size() != b.size())
    Fail("embeddings of {} and {} dimensions cannot be compared", a.size(), b.size());
  const auto rows = [&](const std::vector<float>& of) {
    return static_cast<uint32_t>(of_rows ? of.size() / width : 1);
  };
  return fovea_result_similarity(measure, a.data(), rows(a), b.data(), rows(b),
                                 of_rows ? width : static_cast<uint32_t>(a.size()));
}

}  // namespace

Directions DirectionsOfTexts(const Model& model, const std::string& program, const std::vector<std::string>& texts,
                             const std::vector<std::string>& prompts, const EmbeddingOptions& options) {
  for (const std::string& prompt : prompts) Filled(prompt, "");  // refuses those without a place for the text
  Directions made = {{}, "", false, options.measure};
  const bool unit = made.measure == FOVEA_MEASURE_COSINE;
  EmbedderOptions how;
  how.program = program;
  how.workers = options.workers;
  how.dimensions = options.dimensions;
  how.words = true;
  how.normalize = unit;
  TextEmbedder embedder(model, how);
  made.sparse = embedder.of_words();
  made.width = embedder.width();
  // Each text with each prompt.
  const size_t each = prompts.empty() ? 1 : prompts.size();
  size_t next = 0, done = 0;
  const auto filled = [&]() -> std::optional<std::string> {
    if (next == texts.size() * each) return std::nullopt;
    const std::string& text = texts[next / each];
    const std::string made_of = prompts.empty() ? text : Filled(prompts[next % each], text);
    ++next;
    return made_of;
  };
  embedder.Embed(filled, [&](TextVectors& text) {
    if (unit && embedder.of_words()) Normalize(text.values);
    const bool is_first = done++ % each == 0;
    if (is_first) {
      made.dropped.push_back(0);
      made.spelled.push_back(text.spelled);
      made.rows.emplace_back(text.values.size());
    }
    made.dropped.back() += text.dropped;
    for (size_t j = 0; j < text.values.size(); ++j) made.rows.back()[j] += text.values[j] / static_cast<float>(each);
  });
  if (done == 0) Fail("no text given");
  made.source = embedder.source();
  if (options.measure == FOVEA_MEASURE_MAX_SIM && !embedder.of_tokens()) {
    Fail("{}: has no output token_embeddings with a row for each token", model.name());
  }
  for (std::vector<float>& row : made.rows) {
    if (unit && each > 1) Normalize(row);
  }
  return made;
}

Directions DirectionsOfPictures(const Model& model, const std::string& program, const std::vector<std::string>& files,
                                const EmbeddingOptions& options) {
  Directions made = {std::vector<std::vector<float>>(files.size()), "", false, options.measure};
  PictureSteps steps;
  steps.read = [&](const PictureRun& run) {
    const Embeddings embeddings = ReadEmbeddings(model, run.session, options.dimensions);
    made.source = embeddings.source;
    for (uint32_t i = 0; i < run.which.size(); ++i) {
      made.rows[run.which[i]] =
          made.measure == FOVEA_MEASURE_COSINE ? Direction(embeddings.rows, i) : RowOf(embeddings.rows, i);
    }
  };
  steps.end = [](size_t) {};
  RunPictureFiles(model, program, files, options.workers, steps);
  return made;
}

std::vector<double> SimilaritiesOf(const Directions& a, size_t row, const Directions& b) {
  std::vector<double> all;
  for (const std::vector<float>& column : b.rows) {
    all.push_back(Similarity(a.rows[row], column, a.measure, std::max(a.width, 1u)));
  }
  return all;
}

std::vector<double> Matching::Probabilities(const std::vector<double>& cosines) const {
  std::vector<double> shares;
  const double most = cosines.empty() ? 0 : Logit(*std::max_element(cosines.begin(), cosines.end()));
  double sum = 0;
  for (const double cosine : cosines) {
    shares.push_back(each ? 1 / (1 + exp(-Logit(cosine))) : exp(Logit(cosine) - most));
    sum += shares.back();
  }
  for (double& share : shares) share /= each ? 1 : sum;
  return shares;
}

std::optional<Matching> MatchingOf(const Model& model) {
  const char* kind = model.Metadata("matching");
  if (kind == nullptr) return std::nullopt;
  const std::string name = kind;
  if (name != "softmax" && name != "sigmoid") Fail("{}: metadata matching: '{}' is unknown", model.name(), name);
  return Matching{name == "sigmoid", Number(model, "logit_scale").value_or(1), Number(model, "logit_bias").value_or(0)};
}

}  // namespace fovea::tools
