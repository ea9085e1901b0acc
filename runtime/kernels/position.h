// Sinusoidal position tables, for positions added to embeddings and for rotary embedding. Plain code: computed at
// set-up.
#ifndef FOVEA_RUNTIME_KERNELS_POSITION_H_
#define FOVEA_RUNTIME_KERNELS_POSITION_H_

#include <stddef.h>

namespace fovea {

// Pair i < width / 2 has the angle position * base^(-i / denominator):
//   Vaswani et al., rotary:        base 10000, denominator width / 2
//   tensor2tensor, sentence encoders: base = largest timescale, denominator width / 2 - 1
// Halves: y = [sin of all pairs, cos of all pairs]; interleaved: y = sin, cos, sin, cos ... An odd width ends with 0.
// Accurate to f32 rounding (angles in double). A denominator of 0 counts as 1.
void FillPosition(double position, size_t width, double base, size_t denominator, bool interleaved, float* y);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_POSITION_H_
