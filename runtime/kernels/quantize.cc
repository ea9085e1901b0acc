// Rows of activations to int8: a pass for the range, a pass to convert.
#include "runtime/kernels/quantize.h"

#include <math.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/quantize.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "runtime/kernels/loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace {

// The rounding of every step here is part of the convention. `low` <= 0 <= `high`.
HWY_INLINE QuantParams ParamsOfRange(float low, float high) {
  const float steps = low == high ? 1.0f : 255.0f / (high - low);
  const float scaled_low = low * steps;
  const float scaled_high = high * steps;
  // Take the end of the range whose rounding error is the smaller one.
  const bool from_low = (-128.0f + scaled_low) + (127.0f + scaled_high) > 0.0f;
  float zero_point = from_low ? -128.0f - scaled_low : 127.0f - scaled_high;
  zero_point = zero_point > -128.0f ? zero_point : -128.0f;  // NaN ends here too
  zero_point = zero_point < 127.0f ? zero_point : 127.0f;
  return {static_cast<int32_t>(lrintf(zero_point)), 1.0f / steps};
}

void QuantizeRows(const float* x, size_t rows, size_t width, int8_t* q, QuantParams* params) {
  const F32 d;
  const hn::Rebind<int32_t, F32> d32;
  const hn::Rebind<int8_t, F32> d8;
  const auto min = [](F32Vec a, F32Vec b) HWY_ATTR { return hn::Min(a, b); };
  const auto max = [](F32Vec a, F32Vec b) HWY_ATTR { return hn::Max(a, b); };
  for (size_t r = 0; r < rows; ++r, x += width, q += width) {
    // Starting at zero also makes the zeros of a partial load harmless.
    const F32Vec low = Fold(
        d, hn::Zero(d), width,
        [=](F32Vec acc, size_t i, auto lanes) HWY_ATTR { return hn::Min(acc, lanes.Load(d, x + i)); }, min);
    const F32Vec high = Fold(
        d, hn::Zero(d), width,
        [=](F32Vec acc, size_t i, auto lanes) HWY_ATTR { return hn::Max(acc, lanes.Load(d, x + i)); }, max);
    params[r] = ParamsOfRange(hn::ReduceMin(d, low), hn::ReduceMax(d, high));
    const F32Vec steps = hn::Set(d, 1.0f / params[r].scale);
    const auto zero_point = hn::Set(d32, params[r].zero_point);
    ForVectors(d, width, [=](size_t i, auto lanes) HWY_ATTR {
      const auto rounded = hn::NearestInt(hn::Mul(lanes.Load(d, x + i), steps));
      lanes.Store(hn::DemoteTo(d8, hn::Add(rounded, zero_point)), d8, q + i);
    });
  }
}

QuantizeKernels MakeQuantizeKernels() { return {QuantizeRows}; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
HWY_EXPORT(MakeQuantizeKernels);
QuantizeKernels GetQuantizeKernels() { return HWY_DYNAMIC_DISPATCH(MakeQuantizeKernels)(); }
}  // namespace fovea
#endif
