// Texts and pictures as directions, and what a model makes of the cosines between them.
#ifndef FOVEA_TOOLS_SIMILARITY_EMBEDDINGS_H_
#define FOVEA_TOOLS_SIMILARITY_EMBEDDINGS_H_

#include <stdint.h>

#include <optional>
#include <string>
#include <vector>

#include "tools/common/model.h"

namespace fovea::tools {

// Rows of length 1 (or 0), and what they were in the model; of a masked language model weights of words (sparse.h),
// as they are.
struct Directions {
  std::vector<std::vector<double>> rows;
  std::string source;
  bool sparse = false;
  std::vector<uint64_t> dropped = {};  // tokens of each text that the model did not read
};

struct EmbeddingOptions {
  uint32_t workers = 1;
  uint32_t dimensions = 0;  // see ReadEmbeddings
};

// `prompts`: each text is put in place of "{}" in each of them, and its direction is the mean of those; none: the text
// itself.
Directions DirectionsOfTexts(const Model& model, const std::string& program, const std::vector<std::string>& texts,
                             const std::vector<std::string>& prompts, const EmbeddingOptions& options);
Directions DirectionsOfPictures(const Model& model, const std::string& program, const std::vector<std::string>& files,
                                const EmbeddingOptions& options);

// Of sparse rows, which have any length, dot products.
std::vector<std::vector<double>> Cosines(const Directions& a, const Directions& b);

// How a model compares, by its metadata matching, logit_scale and logit_bias.
struct Matching {
  bool each = false;  // every text by itself (a sigmoid), not one text of all (a softmax)
  double scale = 1, bias = 0;

  double Logit(double cosine) const { return scale * cosine + bias; }
  std::vector<double> Probabilities(const std::vector<double>& cosines) const;  // of one picture, by text
};
std::optional<Matching> MatchingOf(const Model& model);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_SIMILARITY_EMBEDDINGS_H_
