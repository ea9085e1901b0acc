// Rotary position embedding (RoPE): (a, b) -> (a cos - b sin, b cos + a sin).
#include "runtime/kernels/rotary.h"

#include <string.h>

#include "runtime/base/profile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/rotary.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "runtime/kernels/kernels.h"
#include "runtime/kernels/loop-inl.h"
#include "runtime/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace {

HWY_INLINE void RotateHalves(const float* x, size_t pairs, const float* cos, const float* sin, float* y) {
  const F32 d;
  ForVectors(d, pairs, [=](size_t p, auto lanes) HWY_ATTR {
    const F32Vec a = lanes.Load(d, x + p), b = lanes.Load(d, x + pairs + p);
    const F32Vec c = lanes.Load(d, cos + p), s = lanes.Load(d, sin + p);
    lanes.Store(hn::NegMulAdd(b, s, hn::Mul(a, c)), d, y + p);
    lanes.Store(hn::MulAdd(a, s, hn::Mul(b, c)), d, y + pairs + p);
  });
}

HWY_INLINE void RotateInterleaved(const float* x, size_t pairs, const float* cos, const float* sin, float* y) {
  const hn::CappedTag<float, 16> d;  // bounds the copy of the last pairs
  const size_t n = hn::Lanes(d);
  HWY_ALIGN float last[2 * 16] = {};
  for (size_t p = 0; p < pairs; p += n) {
    const size_t count = HWY_MIN(pairs - p, n);
    const bool whole = count == n;
    if (!whole) memcpy(last, x + 2 * p, 2 * count * sizeof(float));
    hn::Vec<decltype(d)> a, b;
    hn::LoadInterleaved2(d, whole ? x + 2 * p : last, a, b);
    const auto c = hn::LoadN(d, cos + p, count), s = hn::LoadN(d, sin + p, count);
    hn::StoreInterleaved2(hn::NegMulAdd(b, s, hn::Mul(a, c)), hn::MulAdd(a, s, hn::Mul(b, c)), d,
                          whole ? y + 2 * p : last);
    if (!whole) memcpy(y + 2 * p, last, 2 * count * sizeof(float));
  }
}

void Rotate(const float* x, size_t heads, size_t head_size, size_t rotary_dims, const float* cos, const float* sin,
            bool interleaved, float* y) {
  const size_t pairs = rotary_dims / 2;
  for (size_t h = 0; h < heads; ++h, x += head_size, y += head_size) {
    interleaved ? RotateInterleaved(x, pairs, cos, sin, y) : RotateHalves(x, pairs, cos, sin, y);
    if (y != x) memcpy(y + 2 * pairs, x + 2 * pairs, (head_size - 2 * pairs) * sizeof(float));
  }
}

void Angles(float position, const float* frequencies, size_t pairs, float factor, float* cos, float* sin) {
  const F32 d;
  const F32Vec p = hn::Set(d, position), f = hn::Set(d, factor);
  ForVectors(d, pairs, [=](size_t i, auto lanes) HWY_ATTR {
    F32Vec s, c;
    FastSinCos(d, hn::Mul(p, lanes.Load(d, frequencies + i)), s, c);
    lanes.Store(hn::Mul(c, f), d, cos + i);
    lanes.Store(hn::Mul(s, f), d, sin + i);
  });
}

void Decay(const float* frequencies, size_t pairs, float slope, float* y) {
  const F32 d;
  const F32Vec step = hn::Set(d, slope);
  ForVectors(d, pairs, [=](size_t i, auto lanes) HWY_ATTR {
    const F32Vec exponent = hn::Mul(step, hn::Iota(d, static_cast<float>(i)));
    lanes.Store(hn::Mul(lanes.Load(d, frequencies + i), FastExp(d, exponent)), d, y + i);
  });
}

constexpr RotaryKernels MakeRotaryKernels() {
  if (!Includes("operation", "rotate")) return {};
  return {Rotate, Angles, Decay};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
FOVEA_EXPORT_KERNELS(Rotary, rotary)
}  // namespace fovea
#endif
