// Sums weighted rows: strips of columns are kept in a register while the rows stream past.
#include "runtime/kernels/convolve.h"

#include "runtime/base/profile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/convolve.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "runtime/kernels/kernels.h"
#include "runtime/kernels/loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace {

void ConvolveRow(const float* const* rows, const float* weights, size_t taps, const float* bias, size_t width,
                 float* y) {
  const F32 d;
  ForVectors(d, width, [=](size_t i, auto lanes) HWY_ATTR {
    F32Vec sum = bias == nullptr ? hn::Zero(d) : lanes.Load(d, bias + i);
    for (size_t t = 0; t < taps; ++t) {
      sum = hn::MulAdd(lanes.Load(d, rows[t] + i), lanes.Load(d, weights + t * width + i), sum);
    }
    lanes.Store(sum, d, y + i);
  });
}

constexpr ConvolveKernels MakeConvolveKernels() { return {Includes("operation", "convolve") ? ConvolveRow : nullptr}; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
FOVEA_EXPORT_KERNELS(Convolve, convolve)
}  // namespace fovea
#endif
