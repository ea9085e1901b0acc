// Softmax of rows: maximum, exponentials with their sum, scale.
#include "runtime/kernels/softmax.h"

#include <math.h>

#include "runtime/base/profile.h"

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

// The largest number of a row, 0 if all are -infinity.
float Highest(const float* x, size_t width) {
  const F32 d;
  const F32Vec lowest = hn::Set(d, -INFINITY);
  const auto max = [](F32Vec a, F32Vec b) HWY_ATTR { return hn::Max(a, b); };
  const float found = LargestLane(d, Fold(
                                         d, lowest, width,
                                         [=](F32Vec acc, size_t i, auto lanes) HWY_ATTR {
                                           return hn::Max(acc, lanes.Or(d, lowest, lanes.Load(d, x + i)));
                                         },
                                         max));
  return found == -INFINITY ? 0.0f : found;
}

void Softmax(const float* x, size_t rows, size_t width, float* y) {
  const F32 d;
  for (size_t r = 0; r < rows; ++r, x += width, y += width) {
    const F32Vec highest = hn::Set(d, Highest(x, width));
    const float sum = FoldSum(
        d, width, [=](size_t i, auto lanes) HWY_ATTR { return FastExp(d, hn::Sub(lanes.Load(d, x + i), highest)); },
        [=](F32Vec acc, size_t i, auto lanes, F32Vec e) HWY_ATTR {
          lanes.Store(e, d, y + i);
          return hn::Add(acc, lanes.Or(d, hn::Zero(d), e));
        });
    const F32Vec scale = hn::Set(d, sum == 0.0f ? 0.0f : 1.0f / sum);
    MapVectors(d, width, y, [=](size_t i, auto lanes) HWY_ATTR { return hn::Mul(lanes.Load(d, y + i), scale); });
  }
}

void LogSoftmax(const float* x, size_t rows, size_t width, float* y) {
  const F32 d;
  for (size_t r = 0; r < rows; ++r, x += width, y += width) {
    const F32Vec highest = hn::Set(d, Highest(x, width));
    const float sum = FoldSum(d, width, [=](F32Vec acc, size_t i, auto lanes) HWY_ATTR {
      return hn::Add(acc, lanes.Or(d, hn::Zero(d), FastExp(d, hn::Sub(lanes.Load(d, x + i), highest))));
    });
    const F32Vec log_sum = FastLog(d, hn::Set(d, sum == 0.0f ? 1.0f : sum));
    MapVectors(d, width, y,
               [=](size_t i, auto lanes) HWY_ATTR { return hn::Sub(hn::Sub(lanes.Load(d, x + i), highest), log_sum); });
  }
}

constexpr SoftmaxKernels MakeSoftmaxKernels() {
  return {Softmax, Includes("operation", "softmax") ? LogSoftmax : nullptr};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
FOVEA_EXPORT_KERNELS(Softmax, softmax)
}  // namespace fovea
#endif
