// Rotary position embedding (RoPE) of one row of heads.
#ifndef FOVEA_RUNTIME_KERNELS_ROTARY_H_
#define FOVEA_RUNTIME_KERNELS_ROTARY_H_

#include <stddef.h>

namespace fovea {

struct RotaryKernels {
  // x, y: [heads, head_size], y may be x. The first `rotary_dims` (even) of each head are turned in pairs p by the
  // angle of cos[p], sin[p], p < rotary_dims / 2; the rest is copied. Pair p is elements p and p + rotary_dims / 2, or
  // with `interleaved` elements 2p and 2p + 1.
  void (*rotate)(const float* x, size_t heads, size_t head_size, size_t rotary_dims, const float* cos, const float* sin,
                 bool interleaved, float* y);
  // cos, sin: [pairs] = factor * cosine and sine of position * frequencies[p], the product rounded to f32, as in
  // training; absolute error 8e-8 for angles up to 2^20.
  void (*angles)(float position, const float* frequencies, size_t pairs, float factor, float* cos, float* sin);
  // y: [pairs] = frequencies[p] * e^(slope * p), slope <= 0; y may be frequencies.
  void (*decay)(const float* frequencies, size_t pairs, float slope, float* y);
};

RotaryKernels GetRotaryKernels();

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_ROTARY_H_
