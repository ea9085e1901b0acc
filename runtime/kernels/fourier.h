// Discrete Fourier transforms (DFT) of several frames of real numbers at once, of any size.
#ifndef FOVEA_RUNTIME_KERNELS_FOURIER_H_
#define FOVEA_RUNTIME_KERNELS_FOURIER_H_

#include <stddef.h>
#include <stdint.h>

namespace fovea {

// Frames are interleaved, one per lane: number i of frame f is at [i * kFourierLanes + f].
inline constexpr size_t kFourierLanes = 8;

// A frame of even size is half as many complex numbers; of odd size as many, with imaginary parts of zero.
struct Fourier {
  const float* cosines;  // cosines of 2 pi i / size
  const float* sines;
  uint32_t size;
  uint32_t count;        // number of factors
  uint32_t factors[14];  // their product is complex_size()
  uint32_t factor_sum;

  bool even() const { return size % 2 == 0; }
  size_t complex_size() const { return even() ? size / 2 : size; }
  // Floats in each of the two buffers of a transform.
  size_t buffer() const { return 2 * complex_size() * kFourierLanes; }
  // Index of number i of a frame in the first buffer, in units of kFourierLanes.
  size_t place(size_t i) const { return even() ? i : 2 * i; }
};

// 1 <= size <= 2^14.
Fourier PlanFourier(uint32_t size, const float* cosines, const float* sines);

struct FourierKernels {
  // Magnitudes of the first `bins` <= size / 2 + 1 numbers of each frame's transform, or their squares. Frames are in
  // `a`; the result, [bins, kFourierLanes], is in one of the two buffers, both of which are overwritten.
  const float* (*spectrum)(const Fourier& fourier, size_t bins, bool squares, float* a, float* b);
};

FourierKernels GetFourierKernels();

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_FOURIER_H_
