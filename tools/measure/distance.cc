#include "tools/measure/distance.h"

#include <math.h>

#include <algorithm>

namespace fovea::tools {

double Cosine(const float* a, const float* b, size_t count) {
  if (std::equal(a, a + count, b)) return 1;
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < count; ++i) {
    ab += double{a[i]} * b[i], aa += double{a[i]} * a[i], bb += double{b[i]} * b[i];
  }
  const double norms = sqrt(aa) * sqrt(bb);
  return norms > 0 && isfinite(norms) ? ab / norms : 0;
}

double Difference(double a, double b) {
  if (a == b) return 0;
  return isnan(a - b) ? INFINITY : fabs(a - b);
}

}  // namespace fovea::tools
