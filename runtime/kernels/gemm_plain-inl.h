// The GEMM kernels as plain loops, for targets without fixed-size vectors.
#if defined(FOVEA_RUNTIME_KERNELS_GEMM_PLAIN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_GEMM_PLAIN_INL_H_
#undef FOVEA_RUNTIME_KERNELS_GEMM_PLAIN_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_GEMM_PLAIN_INL_H_
#endif

#include <stddef.h>
#include <stdint.h>

#include "hwy/highway.h"
#include "runtime/kernels/gemm-inl.h"
#include "runtime/kernels/gemm.h"
#include "runtime/kernels/gemm_dots-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
#if FOVEA_GEMM_PLAIN

HWY_INLINE float AsFloat(float v) { return v; }
HWY_INLINE float AsFloat(hwy::float16_t v) { return hwy::F32FromF16(v); }

// y[r][c] = dot(r, c) + bias[c], one column of weights at a time.
template <class Dot>
HWY_INLINE void ForOutputs(const GemmTile& tile, const Dot& dot) {
  for (size_t c = 0; c < tile.columns; ++c) {
    const float bias = tile.bias == nullptr ? 0.0f : tile.bias[c];
    for (size_t r = 0; r < tile.rows; ++r) tile.y[r * tile.y_stride + c] = dot(r, c) + bias;
  }
}

template <class T>
HWY_INLINE void PlainFloat(const GemmTile& tile) {
  ForOutputs(tile, [&](size_t r, size_t c) {
    const float* x = static_cast<const float*>(tile.x) + r * tile.k;
    const T* w = static_cast<const T*>(tile.weights) + c * tile.k;
    float sum[4] = {0, 0, 0, 0};
    size_t i = 0;
    for (; i + 4 <= tile.k; i += 4) {
      for (size_t j = 0; j < 4; ++j) sum[j] += x[i + j] * AsFloat(w[i + j]);
    }
    for (; i < tile.k; ++i) sum[0] += x[i] * AsFloat(w[i]);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
  });
}

// kRows rows of y, one column or two.
template <size_t kRows>
HWY_INLINE void PlainI8Block(const GemmTile& tile, const I8Columns& columns, size_t row, size_t c, size_t count) {
  const QuantParams* params = tile.params + row;
  int32_t zero[kRows];
  for (size_t r = 0; r < kRows; ++r) zero[r] = params[r].zero_point;
  I8Sums sums[kRows];
  columns.Dots<kRows>(static_cast<const int8_t*>(tile.x) + row * tile.k, zero, sums);
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t i = 0; i < count; ++i) {
      const float scale = params[r].scale * static_cast<const float*>(tile.scales)[c + i];
      const float bias = tile.bias == nullptr ? 0.0f : tile.bias[c + i];
      tile.y[(row + r) * tile.y_stride + c + i] = static_cast<float>(sums[r].of[i]) * scale + bias;
    }
  }
}

// Two columns with all rows, two at a time. An odd last column is computed twice and written once.
HWY_INLINE void PlainI8(const GemmTile& tile) {
  for (size_t c = 0; c < tile.columns; c += 2) {
    const size_t count = HWY_MIN(2, tile.columns - c);
    const int8_t* w = static_cast<const int8_t*>(tile.weights) + c * tile.k;
    const I8Columns columns(w, count == 2 ? w + tile.k : w, tile.k);
    size_t row = 0;
    for (; row + 2 <= tile.rows; row += 2) PlainI8Block<2>(tile, columns, row, c, count);
    if (row < tile.rows) PlainI8Block<1>(tile, columns, row, c, count);
  }
}

HWY_INLINE void PlainI4(const GemmTile& tile) {
  const size_t blocks = tile.k / 32;
  ForOutputs(tile, [&](size_t r, size_t c) {
    const int8_t* x = static_cast<const int8_t*>(tile.x) + r * tile.k;
    const uint8_t* w = static_cast<const uint8_t*>(tile.weights) + c * (tile.k / 2);
    const uint16_t* scales = static_cast<const uint16_t*>(tile.scales) + c * blocks;
    const int32_t zero = tile.params[r].zero_point;
    float sum = 0;
    for (size_t b = 0; b < blocks; ++b, x += 32, w += 16) {
      int32_t exact = 0;
      for (size_t i = 0; i < 16; ++i) {
        exact += (x[2 * i] - zero) * ((w[i] & 15) - 8) + (x[2 * i + 1] - zero) * ((w[i] >> 4) - 8);
      }
      const uint32_t bits = static_cast<uint32_t>(scales[b]) << 16;
      float scale;
      hwy::CopyBytes<4>(&bits, &scale);
      sum += scale * static_cast<float>(exact);
    }
    return sum * tile.params[r].scale;
  });
}

#endif  // FOVEA_GEMM_PLAIN
}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#endif  // toggle
