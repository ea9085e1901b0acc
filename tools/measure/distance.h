// Measures of how close numbers are to reference values.
#ifndef FOVEA_TOOLS_MEASURE_DISTANCE_H_
#define FOVEA_TOOLS_MEASURE_DISTANCE_H_

#include <stddef.h>

namespace fovea::tools {

// Cosine similarity; 1 for equal rows, 0 if one of them is all zeros or has a number that is not finite.
double Cosine(const float* a, const float* b, size_t count);

// Absolute difference; 0 for equal numbers, infinite if one is NaN.
double Difference(double a, double b);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_MEASURE_DISTANCE_H_
