#include "runtime/kernels/gemm_split.h"

#include <math.h>

#include "hwy/base.h"

#if defined(FOVEA_WITH_XNNPACK)

namespace fovea {
namespace {

float WeightAt(const uint16_t* row, size_t i) {
  hwy::float16_t half;
  memcpy(&half, row + i, sizeof(half));
  return hwy::F32FromF16(half);
}

// Splits `count` weights of a column, at most kSplitDepth, of which `packed` is the first group. Returns 256 times the
// scale.
float SplitColumn(const uint16_t* row, size_t count, size_t group, uint8_t* packed) {
  float values[kSplitDepth], most = 0;
  for (size_t i = 0; i < count; ++i) {
    values[i] = WeightAt(row, i);
    most = isnan(values[i]) || fabsf(values[i]) > most ? fabsf(values[i]) : most;
  }
  const SplitScale scale(most);
  for (size_t i = 0; i < count; ++i) {
    const int32_t whole = scale.finite ? static_cast<int32_t>(lrintf(values[i] * scale.inverse))
                                       : 256 * SplitScale::HighOfInfinite(values[i]);
    uint8_t* high = packed + i / group * (2 * group * kSplitColumns) + i % group;
    high[0] = static_cast<uint8_t>((whole + 128) >> 8);
    high[group * kSplitColumns] = static_cast<uint8_t>(whole);
  }
  return 256 * scale.scale;
}

}  // namespace

void PackSplit(const uint16_t* rows, const float* bias, size_t n, size_t k, size_t group, uint8_t* packed) {
  const size_t block_bytes = static_cast<size_t>(kSplitColumns * SplitColumnBytes(k));
  for (size_t c = 0; c < n; c += kSplitColumns, packed += block_bytes) {
    memset(packed, 0, block_bytes);
    for (size_t j = 0; j < kSplitColumns && c + j < n; ++j) {
      const uint16_t* row = rows + (c + j) * k;
      if (bias != nullptr) memcpy(packed + j * sizeof(float), bias + c + j, sizeof(float));
      for (size_t i = 0; i < k; i += kSplitDepth) {
        uint8_t* part = packed + kSplitColumns * static_cast<size_t>(SplitColumnBytes(i));
        const size_t count = k - i < kSplitDepth ? k - i : kSplitDepth;
        const float scale = SplitColumn(row + i, count, group, part + kSplitColumns * sizeof(float) + group * j);
        memcpy(part + j * sizeof(float), &scale, sizeof(scale));
      }
    }
  }
}

}  // namespace fovea

#endif  // FOVEA_WITH_XNNPACK
