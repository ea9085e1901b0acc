// Sums over two vectors in f64, by which embeddings are compared. Programs call them between runs, so they are
// functions and not in the table of kernels.
#ifndef FOVEA_RUNTIME_KERNELS_SIMILARITY_H_
#define FOVEA_RUNTIME_KERNELS_SIMILARITY_H_

#include <stddef.h>

namespace fovea {

// The dot product.
double DotProduct(const float* a, const float* b, size_t count);

struct DotProducts {
  double ab, aa, bb;
};
// The dot products of the vectors with each other and with themselves.
DotProducts DotProductsWithLengths(const float* a, const float* b, size_t count);

// The sum of squared, or of absolute, differences.
double SquaredDistance(const float* a, const float* b, size_t count);
double ManhattanDistance(const float* a, const float* b, size_t count);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_SIMILARITY_H_
