// Percentiles, as used in measurements.
#ifndef FOVEA_TOOLS_MEASURE_PERCENTILE_H_
#define FOVEA_TOOLS_MEASURE_PERCENTILE_H_

#include <math.h>
#include <stdint.h>

#include <algorithm>
#include <vector>

#include "ports/bench.h"

namespace fovea::tools {

// Nearest-rank percentile of unsorted numbers: NaN sorts below all numbers. NaN for an empty list.
inline double PercentileOf(std::vector<double> numbers, uint32_t percent) {
  if (numbers.empty()) return NAN;
  const auto at = numbers.begin() + static_cast<ptrdiff_t>(fovea_bench_rank(numbers.size(), percent));
  std::nth_element(numbers.begin(), at, numbers.end(), [](double a, double b) { return isnan(a) ? !isnan(b) : a < b; });
  return *at;
}

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_MEASURE_PERCENTILE_H_
