// Pools rows: strips of columns are kept in registers while the rows stream past.
#include "runtime/kernels/pool.h"

#include "runtime/blob/included.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/pool.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "runtime/kernels/kernels.h"
#include "runtime/kernels/loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace {

// Sums are taken over groups of this many rows, then over groups: this keeps the rounding error of a long mean small.
constexpr size_t kGroup = 64;

struct MeanOf {
  static HWY_INLINE F32Vec Join(F32Vec a, F32Vec b) { return hn::Add(a, b); }
  static HWY_INLINE F32Vec Finish(F32Vec sum, F32Vec inverse_count) { return hn::Mul(sum, inverse_count); }
};

struct MaxOf {
  static HWY_INLINE F32Vec Join(F32Vec a, F32Vec b) { return hn::Max(a, b); }
  static HWY_INLINE F32Vec Finish(F32Vec max, F32Vec /*inverse_count*/) { return max; }
};

// Folds one vector of columns over `count` > 0 rows.
template <class Of, class Lanes>
HWY_INLINE void PoolStrip(Lanes lanes, const float* x, size_t count, size_t width, F32Vec inverse_count, float* y) {
  const F32 d;
  F32Vec total = hn::Zero(d);
  for (size_t first = 0; first < count; first += kGroup) {
    const size_t end = HWY_MIN(first + kGroup, count);
    F32Vec group = lanes.Load(d, x + first * width);
    for (size_t r = first + 1; r < end; ++r) group = Of::Join(group, lanes.Load(d, x + r * width));
    total = first == 0 ? group : Of::Join(total, group);
  }
  lanes.Store(Of::Finish(total, inverse_count), d, y);
}

template <class Of>
HWY_INLINE void PoolStrip4(const float* x, size_t count, size_t width, F32Vec inverse_count, float* y) {
  const F32 d;
  const size_t n = hn::Lanes(d);
  F32Vec t0 = hn::Zero(d), t1 = t0, t2 = t0, t3 = t0;
  for (size_t first = 0; first < count; first += kGroup) {
    const float* row = x + first * width;
    F32Vec g0 = hn::LoadU(d, row), g1 = hn::LoadU(d, row + n);
    F32Vec g2 = hn::LoadU(d, row + 2 * n), g3 = hn::LoadU(d, row + 3 * n);
    for (size_t r = first + 1; r < HWY_MIN(first + kGroup, count); ++r) {
      row += width;
      g0 = Of::Join(g0, hn::LoadU(d, row));
      g1 = Of::Join(g1, hn::LoadU(d, row + n));
      g2 = Of::Join(g2, hn::LoadU(d, row + 2 * n));
      g3 = Of::Join(g3, hn::LoadU(d, row + 3 * n));
    }
    t0 = first == 0 ? g0 : Of::Join(t0, g0);
    t1 = first == 0 ? g1 : Of::Join(t1, g1);
    t2 = first == 0 ? g2 : Of::Join(t2, g2);
    t3 = first == 0 ? g3 : Of::Join(t3, g3);
  }
  hn::StoreU(Of::Finish(t0, inverse_count), d, y);
  hn::StoreU(Of::Finish(t1, inverse_count), d, y + n);
  hn::StoreU(Of::Finish(t2, inverse_count), d, y + 2 * n);
  hn::StoreU(Of::Finish(t3, inverse_count), d, y + 3 * n);
}

template <class Of>
void Pool(const float* x, size_t begin, size_t end, size_t width, float* y) {
  const F32 d;
  const size_t n = hn::Lanes(d);
  if (begin >= end) {
    ForVectors(d, width, [=](size_t i, auto lanes) HWY_ATTR { lanes.Store(hn::Zero(d), d, y + i); });
    return;
  }
  const size_t count = end - begin;
  x += begin * width;
  const F32Vec inverse_count = hn::Set(d, 1.0f / static_cast<float>(count));
  size_t i = 0;
  for (; i + 4 * n <= width; i += 4 * n) PoolStrip4<Of>(x + i, count, width, inverse_count, y + i);
  ForVectors(d, width - i, [=](size_t k, auto lanes) HWY_ATTR {
    PoolStrip<Of>(lanes, x + i + k, count, width, inverse_count, y + i + k);
  });
}

void RisingMean(const float* x, size_t begin, size_t end, size_t width, float* y) {
  const F32 d;
  const size_t count = end - begin;
  x += begin * width;
  const double weights = 0.5 * static_cast<double>(count) * static_cast<double>(count + 1);
  const F32Vec inverse = hn::Set(d, count == 0 ? 0.0f : static_cast<float>(1 / weights));
  ForVectors(d, width, [=](size_t i, auto lanes) HWY_ATTR {
    F32Vec total = hn::Zero(d);
    for (size_t first = 0; first < count; first += kGroup) {
      F32Vec group = hn::Zero(d);
      for (size_t r = first; r < HWY_MIN(first + kGroup, count); ++r) {
        group = hn::MulAdd(hn::Set(d, static_cast<float>(r + 1)), lanes.Load(d, x + r * width + i), group);
      }
      total = hn::Add(total, group);
    }
    lanes.Store(hn::Mul(total, inverse), d, y + i);
  });
}

constexpr PoolKernels MakePoolKernels() {
  return {Pool<MeanOf>, IsIncluded(PoolKind::kMax) ? Pool<MaxOf> : nullptr,
          IsIncluded(PoolKind::kRisingMean) ? RisingMean : nullptr};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
FOVEA_EXPORT_KERNELS(Pool, pool)
}  // namespace fovea
#endif
