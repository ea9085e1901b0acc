#ifndef FOVEA_TESTS_SUPPORT_DISTANCE_H_
#define FOVEA_TESTS_SUPPORT_DISTANCE_H_

#include <cmath>

namespace fovea::test {

// How far a number is from the expected one: infinitely if only one of them is NaN, which std::max would pass over.
inline double Distance(double found, double expected) {
  if (found == expected || (std::isnan(found) && std::isnan(expected))) return 0;
  const double distance = std::fabs(found - expected);
  return std::isnan(distance) ? INFINITY : distance;
}

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SUPPORT_DISTANCE_H_
