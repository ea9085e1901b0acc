// Normalisation of rows, in three passes over a row that stays in L1.
#include "runtime/kernels/norm.h"

#include <math.h>

#include "runtime/blob/included.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/norm.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "runtime/kernels/kernels.h"
#include "runtime/kernels/loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace {

// One row's s = x + residual: folds it by step(acc, s), storing it to `out` unless it is just x.
template <class Step>
HWY_INLINE float FoldJoined(const float* x, const float* residual, size_t width, float* out, Step step) {
  const F32 d;
  if (residual != nullptr) {
    return FoldSum(
        d, width,
        [=](size_t i, auto lanes) HWY_ATTR { return hn::Add(lanes.Load(d, x + i), lanes.Load(d, residual + i)); },
        [=](F32Vec acc, size_t i, auto lanes, F32Vec s) HWY_ATTR {
          lanes.Store(s, d, out + i);
          return step(acc, s);
        });
  }
  return FoldSum(d, width, [=](F32Vec acc, size_t i, auto lanes) HWY_ATTR {
    const F32Vec s = lanes.Load(d, x + i);
    if (out != x) lanes.Store(s, d, out + i);
    return step(acc, s);
  });
}

void LayerNorm(const float* x, const float* residual, const float* weight, const float* bias, float epsilon,
               size_t rows, size_t width, float* sum, float* y) {
  const F32 d;
  const float inverse_width = 1.0f / static_cast<float>(width);
  for (size_t r = 0; r < rows; ++r, x += width, y += width) {
    const bool moves = residual != nullptr || sum != nullptr;
    const float* s = !moves ? x : sum != nullptr ? sum : y;
    const float total = FoldJoined(x, residual, width, const_cast<float*>(s),
                                   [](F32Vec acc, F32Vec v) HWY_ATTR { return hn::Add(acc, v); });
    const F32Vec mean = hn::Set(d, total * inverse_width);
    const float squares = FoldSum(d, width, [=](F32Vec acc, size_t i, auto lanes) HWY_ATTR {
      const F32Vec t = lanes.Or(d, hn::Zero(d), hn::Sub(lanes.Load(d, s + i), mean));
      return hn::MulAdd(t, t, acc);
    });
    const F32Vec scale = hn::Set(d, 1.0f / sqrtf(squares * inverse_width + epsilon));
    MapVectors(d, width, y, [=](size_t i, auto lanes) HWY_ATTR {
      F32Vec t = hn::Mul(hn::Sub(lanes.Load(d, s + i), mean), scale);
      if (weight != nullptr) t = hn::Mul(t, lanes.Load(d, weight + i));
      if (bias != nullptr) t = hn::Add(t, lanes.Load(d, bias + i));
      return t;
    });
    if (residual != nullptr) residual += width;
    if (sum != nullptr) sum += width;
  }
}

void RmsNorm(const float* x, const float* residual, const float* weight, float weight_offset, float epsilon,
             size_t rows, size_t width, float* sum, float* y) {
  const F32 d;
  const float inverse_width = 1.0f / static_cast<float>(width);
  const F32Vec offset = hn::Set(d, weight_offset);
  for (size_t r = 0; r < rows; ++r, x += width, y += width) {
    const bool moves = residual != nullptr || sum != nullptr;
    const float* s = !moves ? x : sum != nullptr ? sum : y;
    const float squares = FoldJoined(x, residual, width, const_cast<float*>(s),
                                     [](F32Vec acc, F32Vec v) HWY_ATTR { return hn::MulAdd(v, v, acc); });
    const F32Vec scale = hn::Set(d, 1.0f / sqrtf(squares * inverse_width + epsilon));
    MapVectors(d, width, y, [=](size_t i, auto lanes) HWY_ATTR {
      F32Vec t = hn::Mul(lanes.Load(d, s + i), scale);
      if (weight != nullptr) t = hn::Mul(t, hn::Add(lanes.Load(d, weight + i), offset));
      return t;
    });
    if (residual != nullptr) residual += width;
    if (sum != nullptr) sum += width;
  }
}

void L2Normalize(const float* x, NormClamp clamp, float epsilon, size_t rows, size_t width, float* y) {
  const F32 d;
  for (size_t r = 0; r < rows; ++r, x += width, y += width) {
    const float squares = FoldSum(d, width, [=](F32Vec acc, size_t i, auto lanes) HWY_ATTR {
      const F32Vec v = lanes.Load(d, x + i);
      return hn::MulAdd(v, v, acc);
    });
    const float length =
        clamp == NormClamp::kLength ? HWY_MAX(sqrtf(squares), epsilon) : sqrtf(HWY_MAX(squares, epsilon));
    const F32Vec scale = hn::Set(d, 1.0f / length);
    MapVectors(d, width, y, [=](size_t i, auto lanes) HWY_ATTR { return hn::Mul(lanes.Load(d, x + i), scale); });
  }
}

constexpr NormKernels MakeNormKernels() {
  return {IsIncluded(NormKind::kLayer) ? LayerNorm : nullptr, IsIncluded(NormKind::kRms) ? RmsNorm : nullptr,
          Includes("operation", "normalize") ? L2Normalize : nullptr};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
FOVEA_EXPORT_KERNELS(Norm, norm)
}  // namespace fovea
#endif
