// How exact products of f16 weights are where the weights and x are multiplied in two bytes each.
#ifndef FOVEA_TESTS_SUPPORT_SPLIT_BOUND_H_
#define FOVEA_TESTS_SUPPORT_SPLIT_BOUND_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "fovea/model.h"
#include "runtime/gemm/gemm.h"

namespace fovea::testing {

// Whether this FOVEA_BACKEND_ multiplies these weights and x in two bytes each, by dot products: only the default does.
inline bool GemmSplits(DType weights, uint32_t backend) {
  const GemmBackend* xnnpack = XnnpackGemm();
  return backend == FOVEA_BACKEND_DEFAULT && weights == DType::kF16 && xnnpack != nullptr &&
         xnnpack->supports({DType::kF16, 1, 1});
}

// The most that such a sum of k products is off: elements of x and w lose half of a 32639th of the largest of their
// 128, and products of lower bytes, up to 128 of these each, are left out. All of these add up like their root; four
// times that is what none of many sums exceeds.
template <typename Weight>
double SplitBound(const float* x, const Weight* w, size_t k) {
  double squares = 0;
  for (size_t begin = 0; begin < k; begin += 128) {
    const size_t end = std::min<size_t>(begin + 128, k);
    double most_x = 0, most_w = 0;
    for (size_t i = begin; i < end; ++i) {
      most_x = std::fmax(most_x, std::fabs(x[i]));
      most_w = std::fmax(most_w, std::fabs(w[i]));
    }
    const double unit_x = most_x / 32639, unit_w = most_w / 32639;
    for (size_t i = begin; i < end; ++i) {
      squares += std::pow(unit_x / 2 * w[i], 2) + std::pow(unit_w / 2 * x[i], 2);
      squares += std::pow(128 * unit_x * 128 * unit_w, 2);
    }
  }
  return 4 * std::sqrt(squares);
}

}  // namespace fovea::testing

#endif  // FOVEA_TESTS_SUPPORT_SPLIT_BOUND_H_
