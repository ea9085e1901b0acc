// Embeddings of texts and images as directions.
#include "tools/similarity/embeddings.h"

#include <math.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>

#include "tools/base/fail.h"
#include "tools/media/picture_inputs.h"
#include "tools/prediction/prediction.h"
#include "tools/prediction/word_weights.h"
#include "tools/text/text_inputs.h"
#include "tools/text/text_run.h"

namespace fovea::tools {
namespace {

double Dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void Normalize(std::vector<double>& row) {
  const double length = sqrt(Dot(row, row));
  for (double& value : row) value = length == 0 ? 0 : value / length;
}

std::vector<double> RowOf(const Matrix& rows, uint32_t row) { return {rows.Row(row), rows.Row(row) + rows.width}; }

std::vector<double> Direction(const Matrix& rows, uint32_t row) {
  std::vector<double> direction = RowOf(rows, row);
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

Measure MeasureOf(const Model& model) {
  const char* interaction = model.Metadata("interaction");
  if (interaction != nullptr && std::string(interaction) == "late") return Measure::kMaxSim;
  const char* metadata = model.Metadata("similarity");
  const char* task = model.Metadata("task");
  const bool sparse = task != nullptr && std::string(task) == "masked-lm";
  const std::string name = metadata != nullptr ? metadata : sparse ? "dot" : "cosine";
  if (name == "cosine") return Measure::kCosine;
  if (name == "dot") return Measure::kDot;
  if (name == "euclidean") return Measure::kEuclidean;
  if (name == "manhattan") return Measure::kManhattan;
  Fail("{}: metadata similarity: '{}' is unknown", model.name(), name);
}

const char* NameOf(Measure measure) {
  switch (measure) {
    case Measure::kCosine:
      return "Cosine";
    case Measure::kDot:
      return "Dot product";
    case Measure::kEuclidean:
      return "Negative Euclidean distance";
    case Measure::kManhattan:
      return "Negative Manhattan distance";
    case Measure::kMaxSim:
      return "Sum of the largest dot products (rows: queries, columns: documents)";
  }
  return "";
}

const char* KeyOf(Measure measure) {
  switch (measure) {
    case Measure::kCosine:
      return "cosines";
    case Measure::kDot:
      return "dot_products";
    case Measure::kEuclidean:
      return "negative_euclidean_distances";
    case Measure::kManhattan:
      return "negative_manhattan_distances";
    case Measure::kMaxSim:
      return "sums_of_largest_dot_products";
  }
  return "";
}

namespace {

// The rows of each text's tokens.
void AddTokenRows(const Model& model, const Session& session, const std::vector<Tokens>& tokens, Directions& made) {
  const std::optional<Matrix> rows = ReadTokenEmbeddings(model, session);
  if (!rows) Fail("{}: has no output token_embeddings with a row for each token", model.name());
  uint32_t row = 0;
  for (const Tokens& of_text : tokens) {
    std::vector<double>& text = made.rows.emplace_back();
    for (size_t i = 0; i < of_text.ids.size() && row < rows->rows; ++i, ++row) {
      text.insert(text.end(), rows->Row(row), rows->Row(row) + rows->width);
    }
    made.dropped.push_back(of_text.dropped);
  }
  made.source = "token_embeddings";
  made.width = rows->width;
}

double SumOfLargest(const std::vector<double>& query, const std::vector<double>& document, size_t width) {
  double sum = 0;
  for (size_t i = 0; i < query.size(); i += width) {
    double most = -INFINITY;
    for (size_t j = 0; j < document.size(); j += width) {
      double product = 0;
      for (size_t k = 0; k < width; ++k) product += query[i + k] * document[j + k];
      most = std::max(most, product);
    }
    sum += document.empty() ? 0 : most;
  }
  return sum;
}

double Similarity(const std::vector<double>& a, const std::vector<double>& b, Measure measure, size_t width) {
  if (measure == Measure::kMaxSim) return SumOfLargest(a, b, width);
  if (a.size() != b.size()) Fail("embeddings of {} and {} dimensions cannot be compared", a.size(), b.size());
  if (measure == Measure::kCosine || measure == Measure::kDot) return Dot(a, b);
  double distance = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double apart = std::abs(a[i] - b[i]);
    distance += measure == Measure::kEuclidean ? apart * apart : apart;
  }
  return measure == Measure::kEuclidean ? -sqrt(distance) : -distance;
}

}  // namespace

Directions DirectionsOfTexts(const Model& model, const std::string& program, const std::vector<std::string>& texts,
                             const std::vector<std::string>& prompts, const EmbeddingOptions& options) {
  std::vector<std::string> filled;
  for (const std::string& text : texts) {
    if (prompts.empty()) filled.push_back(text);
    for (const std::string& prompt : prompts) filled.push_back(Filled(prompt, text));
  }
  const TextRun run = RunTexts(model, Tokenizer(model), FindTextProgram(model, program), filled, {options.workers});
  Directions made = {{}, "", false, options.measure};
  if (options.measure == Measure::kMaxSim) {
    AddTokenRows(model, *run.session, run.tokens, made);
    return made;
  }
  const bool sparse = TaskOf(model, run.session->request().program) == OutputTask::kMaskedWords;
  if (sparse && options.dimensions != 0) Fail("{}: makes no embeddings; leave out --dimensions", model.name());
  const Embeddings embeddings = sparse ? Embeddings{WordWeights(model, *run.session, run.tokens), "sparse word weights"}
                                       : ReadEmbeddings(model, *run.session, options.dimensions);
  made.source = embeddings.source;
  made.sparse = sparse;
  const bool unit = made.measure == Measure::kCosine;
  const size_t each = prompts.empty() ? 1 : prompts.size();
  for (uint32_t i = 0; i < filled.size(); ++i) {
    if (i % each == 0) made.dropped.push_back(0);
    made.dropped.back() += run.tokens[i].dropped;
    const std::vector<double> direction = unit ? Direction(embeddings.rows, i) : RowOf(embeddings.rows, i);
    if (i % each == 0) made.rows.emplace_back(direction.size());
    for (size_t j = 0; j < direction.size(); ++j) made.rows.back()[j] += direction[j] / static_cast<double>(each);
  }
  for (std::vector<double>& row : made.rows) {
    if (unit) Normalize(row);
  }
  return made;
}

Directions DirectionsOfPictures(const Model& model, const std::string& program, const std::vector<std::string>& files,
                                const EmbeddingOptions& options) {
  Directions made = {std::vector<std::vector<double>>(files.size()), "", false, options.measure};
  for (const PictureRun& run : RunPictureFiles(model, program, files, options.workers)) {
    const Embeddings embeddings = ReadEmbeddings(model, *run.session, options.dimensions);
    made.source = embeddings.source;
    for (uint32_t i = 0; i < run.which.size(); ++i) {
      made.rows[run.which[i]] =
          made.measure == Measure::kCosine ? Direction(embeddings.rows, i) : RowOf(embeddings.rows, i);
    }
  }
  return made;
}

std::vector<std::vector<double>> Similarities(const Directions& a, const Directions& b) {
  std::vector<std::vector<double>> all;
  for (const std::vector<double>& row : a.rows) {
    all.emplace_back();
    for (const std::vector<double>& column : b.rows) {
      all.back().push_back(Similarity(row, column, a.measure, std::max(a.width, 1u)));
    }
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
