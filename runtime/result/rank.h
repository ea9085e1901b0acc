// The largest scores of a row, and similarities of embeddings.
#ifndef FOVEA_RUNTIME_RESULT_RANK_H_
#define FOVEA_RUNTIME_RESULT_RANK_H_

#include <stdint.h>

namespace fovea {

// As fovea_result_rank; the pointers are not null.
uint32_t Rank(const float* scores, uint32_t count, uint32_t top, uint32_t* indices);

// Embeddings of `rows` rows each.
struct Embedded {
  const float* numbers;
  uint32_t rows;
};
double Similarity(uint32_t measure, const Embedded& a, const Embedded& b, uint32_t width);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_RESULT_RANK_H_
