// Embeddings of texts and images as directions, and similarities between them.
#ifndef FOVEA_TOOLS_VECTORS_DIRECTIONS_H_
#define FOVEA_TOOLS_VECTORS_DIRECTIONS_H_

#include <stdint.h>

#include <optional>
#include <string>
#include <vector>

#include "fovea/result.h"
#include "tools/model/model.h"

namespace fovea::tools {

// The measure that a model states (fovea_measure): metadata similarity and interaction, else the dot product for word
// weights and the cosine for embeddings.
uint32_t MeasureOf(const Model& model);
// "Cosine", "Negative Euclidean distance".
const char* NameOf(uint32_t measure);
// The key in JSON: "cosines", "negative_euclidean_distances".
const char* KeyOf(uint32_t measure);

// Rows of length 1 (or 0) for cosines, else as the model makes them, and the name of the output; for a masked language
// model, word weights (word_weights.h). FOVEA_MEASURE_MAX_SIM: the rows of a text's tokens, concatenated.
struct Directions {
  std::vector<std::vector<float>> rows;
  std::string source;
  bool sparse = false;
  uint32_t measure = FOVEA_MEASURE_COSINE;
  uint32_t width = 0;                  // width of a row, for FOVEA_MEASURE_MAX_SIM
  std::vector<uint64_t> dropped = {};  // tokens of each text beyond the model's limit
  std::vector<uint64_t> spelled = {};  // special tokens that each text spells
};

struct EmbeddingOptions {
  uint32_t workers = 1;
  uint32_t dimensions = 0;                  // see ReadEmbeddings
  uint32_t measure = FOVEA_MEASURE_COSINE;  // other than FOVEA_MEASURE_COSINE: one prompt at most
};

// `prompts`: templates whose "{}" is replaced by the text; a text's direction is the mean over them. Without prompts:
// the direction of the text itself.
Directions DirectionsOfTexts(const Model& model, const std::string& program, const std::vector<std::string>& texts,
                             const std::vector<std::string>& prompts, const EmbeddingOptions& options);
Directions DirectionsOfPictures(const Model& model, const std::string& program, const std::vector<std::string>& files,
                                const EmbeddingOptions& options);

// Similarities of one row of `a` to each of `b`, by the measure of both.
std::vector<double> SimilaritiesOf(const Directions& a, size_t row, const Directions& b);

// How the model turns cosines into probabilities: metadata matching, logit_scale and logit_bias.
struct Matching {
  bool each = false;  // per text (sigmoid), instead of over all texts (softmax)
  double scale = 1, bias = 0;

  double Logit(double cosine) const { return scale * cosine + bias; }
  std::vector<double> Probabilities(const std::vector<double>& cosines) const;  // for each text, for one image
};
std::optional<Matching> MatchingOf(const Model& model);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_VECTORS_DIRECTIONS_H_
