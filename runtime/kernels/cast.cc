// Converts f32 to f16, bf16 and int8.
#include "runtime/kernels/cast.h"

#include "runtime/base/profile.h"
#include "runtime/kernels/attention_features.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/cast.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "runtime/kernels/kernels.h"
#include "runtime/kernels/loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace {

// Clamps to -most..most; NaN stays.
HWY_INLINE F32Vec Clamped(F32Vec x, float most) {
  const F32 d;
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Clamp(x, hn::Set(d, -most), hn::Set(d, most)));
}

void ToF16(const float* x, size_t count, uint16_t* y) {
  const F32 d;
  const hn::Rebind<hwy::float16_t, F32> d16;
  const hn::Rebind<uint16_t, F32> bits;
  ForVectors(d, count, [=](size_t i, auto lanes) HWY_ATTR {
    lanes.Store(hn::BitCast(bits, hn::DemoteTo(d16, Clamped(lanes.Load(d, x + i), 65504.0f))), bits, y + i);
  });
}

// Done in integers, because instructions for it treat the smallest numbers differently.
void ToBf16(const float* x, size_t count, uint16_t* y) {
  const F32 d;
  const hn::RebindToUnsigned<F32> d32;
  const hn::Rebind<uint16_t, F32> d16;
  ForVectors(d, count, [=](size_t i, auto lanes) HWY_ATTR {
    const F32Vec v = Clamped(lanes.Load(d, x + i), 3.3895314e38f);
    const auto in = hn::BitCast(d32, v);
    const auto odd = hn::And(hn::ShiftRight<16>(in), hn::Set(d32, 1u));
    const auto rounded = hn::Add(in, hn::Add(odd, hn::Set(d32, 0x7fffu)));
    const auto kept = hn::IfThenElse(hn::RebindMask(d32, hn::IsNaN(v)), hn::Or(in, hn::Set(d32, 0x400000u)), rounded);
    lanes.Store(hn::TruncateTo(d16, hn::ShiftRight<16>(kept)), d16, y + i);
  });
}

void ToI8(const float* x, size_t parts, size_t width, int8_t* y, float* scales) {
  const F32 d;
  const hn::RebindToSigned<F32> d32;
  const auto max = [](F32Vec a, F32Vec b) HWY_ATTR { return hn::Max(a, b); };
  for (size_t part = 0; part < parts; ++part, x += width, y += width) {
    const F32Vec folded = Fold(
        d, hn::Zero(d), width,
        [=](F32Vec acc, size_t i, auto lanes) HWY_ATTR { return hn::Max(acc, hn::Abs(lanes.Load(d, x + i))); }, max);
    const float most = LargestLane(d, folded);
    scales[part] = most / 127.0f;
    // Parts so small that the factor would be infinite become 0.
    const F32Vec factor = hn::Set(d, most > 1e-36f ? 127.0f / most : 0.0f);
    MapToBytes(d, width, y, [=](size_t i, auto lanes) HWY_ATTR {
      return hn::BitCast(d32, hn::NearestInt(hn::Mul(lanes.Load(d, x + i), factor)));
    });
  }
}

constexpr CastKernels MakeCastKernels() {
  if (!Includes("operation", "cast") && !Includes("operation", "append") && !kAttendsProducts) return {};
  return {ToF16, ToBf16, ToI8};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
FOVEA_EXPORT_KERNELS(Cast, cast)
}  // namespace fovea
#endif
