// Element-wise arithmetic.
#include "runtime/kernels/elementwise.h"

#include <math.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/elementwise.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "runtime/kernels/kernels.h"
#include "runtime/kernels/loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace {

void Add(const float* a, const float* b, size_t count, float* y) {
  const F32 d;
  MapVectors(d, count, y,
             [=](size_t i, auto lanes) HWY_ATTR { return hn::Add(lanes.Load(d, a + i), lanes.Load(d, b + i)); });
}

void Multiply(const float* a, const float* b, size_t count, float* y) {
  const F32 d;
  MapVectors(d, count, y,
             [=](size_t i, auto lanes) HWY_ATTR { return hn::Mul(lanes.Load(d, a + i), lanes.Load(d, b + i)); });
}

void Scale(const float* x, float factor, size_t count, float* y) {
  const F32 d;
  MapVectors(d, count, y,
             [=](size_t i, auto lanes) HWY_ATTR { return hn::Mul(lanes.Load(d, x + i), hn::Set(d, factor)); });
}

void ScaleShift(const float* x, float factor, float shift, size_t count, float* y) {
  const F32 d;
  MapVectors(d, count, y, [=](size_t i, auto lanes) HWY_ATTR {
    return hn::MulAdd(lanes.Load(d, x + i), hn::Set(d, factor), hn::Set(d, shift));
  });
}

void ScaleAdd(const float* a, float factor, const float* b, size_t count, float* y) {
  const F32 d;
  MapVectors(d, count, y, [=](size_t i, auto lanes) HWY_ATTR {
    return hn::MulAdd(lanes.Load(d, a + i), hn::Set(d, factor), lanes.Load(d, b + i));
  });
}

HWY_INLINE F32Vec AtMost(F32 d, F32Vec x, float limit) {
  const F32Vec most = hn::Set(d, limit);
  return hn::IfThenElse(hn::Gt(x, most), most, x);
}

void Bound(const float* x, float limit, float shift, size_t count, float* y) {
  const F32 d;
  MapVectors(d, count, y, [=](size_t i, auto lanes) HWY_ATTR {
    const F32Vec bounded = AtMost(d, hn::Neg(AtMost(d, hn::Neg(lanes.Load(d, x + i)), limit)), limit);
    return hn::Add(bounded, hn::Set(d, shift));
  });
}

void BoundAbove(const float* x, float limit, size_t count, float* y) {
  const F32 d;
  MapVectors(d, count, y, [=](size_t i, auto lanes) HWY_ATTR { return AtMost(d, lanes.Load(d, x + i), limit); });
}

void AddRow(const float* x, const float* row, size_t rows, size_t width, float* y) {
  for (size_t r = 0; r < rows; ++r) Add(x + r * width, row, width, y + r * width);
}

void AtLeast(const float* x, float bound, size_t count, float* y) {
  const F32 d;
  MapVectors(d, count, y, [=](size_t i, auto lanes) HWY_ATTR {
    const F32Vec least = hn::Set(d, bound), v = lanes.Load(d, x + i);
    return hn::IfThenElse(hn::Lt(v, least), least, v);
  });
}

float Largest(const float* x, size_t count) {
  const F32 d;
  const F32Vec least = hn::Set(d, -HUGE_VALF);
  const auto step = [=](F32Vec most, size_t i, auto lanes)
                        HWY_ATTR { return hn::Max(most, lanes.Or(d, least, lanes.Load(d, x + i))); };
  const auto join = [](F32Vec a, F32Vec b) HWY_ATTR { return hn::Max(a, b); };
  return LargestLane(d, Fold(d, least, count, step, join));
}

constexpr ElementwiseKernels MakeElementwiseKernels() {
  return {Add, Multiply, Scale, ScaleShift, ScaleAdd, Bound, BoundAbove, AddRow, AtLeast, Largest};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
FOVEA_EXPORT_KERNELS(Elementwise, elementwise)
}  // namespace fovea
#endif
