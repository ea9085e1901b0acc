// Softmax of rows: maximum, exponentials with their sum, scale.
#include "runtime/kernels/softmax.h"

#include <math.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/softmax.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "runtime/kernels/kernels.h"
#include "runtime/kernels/loop-inl.h"
#include "runtime/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace {

void Softmax(const float* x, size_t rows, size_t width, float* y) {
  const F32 d;
  const F32Vec lowest = hn::Set(d, -INFINITY);
  const auto max = [](F32Vec a, F32Vec b) HWY_ATTR { return hn::Max(a, b); };
  for (size_t r = 0; r < rows; ++r, x += width, y += width) {
    const float found = LargestLane(d, Fold(
                                           d, lowest, width,
                                           [=](F32Vec acc, size_t i, auto lanes) HWY_ATTR {
                                             return hn::Max(acc, lanes.Or(d, lowest, lanes.Load(d, x + i)));
                                           },
                                           max));
    const F32Vec highest = hn::Set(d, found == -INFINITY ? 0.0f : found);
    const float sum = FoldSum(d, width, [=](F32Vec acc, size_t i, auto lanes) HWY_ATTR {
      const F32Vec e = FastExp(d, hn::Sub(lanes.Load(d, x + i), highest));
      lanes.Store(e, d, y + i);
      return hn::Add(acc, lanes.Or(d, hn::Zero(d), e));
    });
    const F32Vec scale = hn::Set(d, sum == 0.0f ? 0.0f : 1.0f / sum);
    ForVectors(d, width,
               [=](size_t i, auto lanes) HWY_ATTR { lanes.Store(hn::Mul(lanes.Load(d, y + i), scale), d, y + i); });
  }
}

constexpr SoftmaxKernels MakeSoftmaxKernels() { return {Softmax}; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
FOVEA_EXPORT_KERNELS(Softmax, softmax)
}  // namespace fovea
#endif
