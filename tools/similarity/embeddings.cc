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

Directions DirectionsOfTexts(const Model& model, const std::string& program, const std::vector<std::string>& texts,
                             const std::vector<std::string>& prompts, const EmbeddingOptions& options) {
  std::vector<std::string> filled;
  for (const std::string& text : texts) {
    if (prompts.empty()) filled.push_back(text);
    for (const std::string& prompt : prompts) filled.push_back(Filled(prompt, text));
  }
  const TextRun run = RunTexts(model, Tokenizer(model), FindTextProgram(model, program), filled, {options.workers});
  const bool sparse = TaskOf(model, run.session->request().program) == OutputTask::kMaskedWords;
  if (sparse && options.dimensions != 0) Fail("{}: makes no embeddings; leave out --dimensions", model.name());
  const Embeddings embeddings = sparse ? Embeddings{WordWeights(model, *run.session, run.tokens), "sparse word weights"}
                                       : ReadEmbeddings(model, *run.session, options.dimensions);
  Directions made = {{}, embeddings.source, sparse};
  const size_t each = prompts.empty() ? 1 : prompts.size();
  for (uint32_t i = 0; i < filled.size(); ++i) {
    if (i % each == 0) made.dropped.push_back(0);
    made.dropped.back() += run.tokens[i].dropped;
    const std::vector<double> direction = sparse ? RowOf(embeddings.rows, i) : Direction(embeddings.rows, i);
    if (i % each == 0) made.rows.emplace_back(direction.size());
    for (size_t j = 0; j < direction.size(); ++j) made.rows.back()[j] += direction[j] / static_cast<double>(each);
  }
  for (std::vector<double>& row : made.rows) {
    if (!sparse) Normalize(row);
  }
  return made;
}

Directions DirectionsOfPictures(const Model& model, const std::string& program, const std::vector<std::string>& files,
                                const EmbeddingOptions& options) {
  Directions made = {std::vector<std::vector<double>>(files.size()), ""};
  for (const PictureRun& run : RunPictureFiles(model, program, files, options.workers)) {
    const Embeddings embeddings = ReadEmbeddings(model, *run.session, options.dimensions);
    made.source = embeddings.source;
    for (uint32_t i = 0; i < run.which.size(); ++i) made.rows[run.which[i]] = Direction(embeddings.rows, i);
  }
  return made;
}

std::vector<std::vector<double>> Cosines(const Directions& a, const Directions& b) {
  std::vector<std::vector<double>> cosines;
  for (const std::vector<double>& row : a.rows) {
    cosines.emplace_back();
    for (const std::vector<double>& column : b.rows) {
      if (row.size() != column.size())
        Fail("embeddings of {} and {} dimensions cannot be compared", row.size(), column.size());
      cosines.back().push_back(Dot(row, column));
    }
  }
  return cosines;
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
