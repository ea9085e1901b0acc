#include "runtime/result/rank.h"

#include <math.h>

#include <algorithm>

#include "fovea/result.h"
#include "runtime/kernels/similarity.h"

namespace fovea {
namespace {

double Cosine(const float* a, const float* b, uint32_t width) {
  const DotProducts products = DotProductsWithLengths(a, b, width);
  const double lengths = sqrt(products.aa) * sqrt(products.bb);
  return lengths == 0 ? 0 : products.ab / lengths;
}

double MaxSim(const Embedded& a, const Embedded& b, uint32_t width) {
  double sum = 0;
  for (uint32_t i = 0; i < a.rows && b.rows != 0; ++i) {
    double most = -HUGE_VAL;
    for (uint32_t j = 0; j < b.rows; ++j) {
      const double product = DotProduct(a.numbers + size_t{i} * width, b.numbers + size_t{j} * width, width);
      most = product > most ? product : most;
    }
    sum += most;
  }
  return sum;
}

}  // namespace

uint32_t Rank(const float* scores, uint32_t count, uint32_t top, uint32_t* indices) {
  // NaN, which is not equal to itself, comes after all numbers.
  const auto before = [scores](uint32_t a, uint32_t b) {
    const float x = scores[a], y = scores[b];
    if (x > y || y > x) return x > y;
    const bool x_is_number = x == x, y_is_number = y == y;
    return x_is_number != y_is_number ? x_is_number : a < b;
  };
  uint32_t found = 0;  // a heap whose first index is the last in order
  for (uint32_t i = 0; i < count && top != 0; ++i) {
    if (found == top && !before(i, indices[0])) continue;
    if (found == top) std::pop_heap(indices, indices + found--, before);
    indices[found++] = i;
    std::push_heap(indices, indices + found, before);
  }
  std::sort_heap(indices, indices + found, before);
  return found;
}

double Similarity(uint32_t measure, const Embedded& a, const Embedded& b, uint32_t width) {
  switch (measure) {
    case FOVEA_MEASURE_COSINE:
      return Cosine(a.numbers, b.numbers, width);
    case FOVEA_MEASURE_DOT:
      return DotProduct(a.numbers, b.numbers, width);
    case FOVEA_MEASURE_EUCLIDEAN:
      return -sqrt(SquaredDistance(a.numbers, b.numbers, width));
    case FOVEA_MEASURE_MANHATTAN:
      return -ManhattanDistance(a.numbers, b.numbers, width);
    case FOVEA_MEASURE_MAX_SIM:
      return MaxSim(a, b, width);
    default:
      return static_cast<double>(NAN);
  }
}

}  // namespace fovea
