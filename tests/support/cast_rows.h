// Plain code for the cast of rows to another type.
#ifndef FOVEA_TESTS_SUPPORT_CAST_ROWS_H_
#define FOVEA_TESTS_SUPPORT_CAST_ROWS_H_

#include <math.h>

#include <algorithm>
#include <vector>

#include "runtime/base/dtype.h"
#include "tools/base/half.h"

namespace fovea::test {

// The values after a cast of rows that consist of parts of `width` numbers (int8: with a scale for each part).
inline std::vector<float> CastRows(std::vector<float> rows, DType type, size_t width) {
  for (size_t first = 0; first < rows.size(); first += width) {
    float most = 0;
    for (size_t i = first; i < first + width; ++i) most = std::max(most, fabsf(rows[i]));
    for (size_t i = first; i < first + width; ++i) {
      if (type == DType::kF16) rows[i] = tools::FromHalf(tools::ToHalf(rows[i]));
      if (type == DType::kBf16) rows[i] = tools::FromBf16(tools::ToBf16(rows[i]));
      if (type == DType::kI8) rows[i] = most > 0 ? nearbyintf(rows[i] * (127.0f / most)) * (most / 127.0f) : 0.0f;
    }
  }
  return rows;
}

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SUPPORT_CAST_ROWS_H_
