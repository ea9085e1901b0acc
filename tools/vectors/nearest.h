// The texts of an index that are most similar to a query.
#ifndef FOVEA_TOOLS_VECTORS_NEAREST_H_
#define FOVEA_TOOLS_VECTORS_NEAREST_H_

#include <stdint.h>

#include <vector>

#include "tools/vectors/vector_index.h"

namespace fovea::tools {

struct Neighbour {
  uint64_t text;
  double score;
};

// Keeps the best of any number of texts; of equals the first, NaN last.
class BestTexts {
 public:
  explicit BestTexts(size_t top) : top_(top) {}
  void Add(const Neighbour& text);
  // The best first.
  std::vector<Neighbour> Sorted() const;

 private:
  const size_t top_;
  std::vector<Neighbour> heap_;  // the worst in front
};

// All vectors are compared. `measure`: a fovea_measure; `query`: [rows, width of the index].
std::vector<Neighbour> Nearest(VectorIndex& index, const float* query, uint32_t rows, uint32_t measure, size_t top);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_VECTORS_NEAREST_H_
