// How near numbers are to others that they stand for.
#ifndef FOVEA_TOOLS_COMMON_CLOSENESS_H_
#define FOVEA_TOOLS_COMMON_CLOSENESS_H_

#include <stddef.h>

namespace fovea::tools {

// 1 of equal rows. 0 where one of them has no direction: all zeros, or a number that is not finite.
double Cosine(const float* a, const float* b, size_t count);

// 0 of equal numbers, infinite where one is NaN.
double Difference(double a, double b);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMON_CLOSENESS_H_
