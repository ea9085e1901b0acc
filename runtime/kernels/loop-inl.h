// Loops over contiguous ranges in whole vectors plus a partial one, shared by the kernels.
#if defined(FOVEA_RUNTIME_KERNELS_LOOP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_LOOP_INL_H_
#undef FOVEA_RUNTIME_KERNELS_LOOP_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_LOOP_INL_H_
#endif

#include <stddef.h>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using F32Vec = hn::Vec<F32>;

// How a loop body accesses memory: every lane of a vector, or only the first `count` at the end of a range.
struct AllLanes {
  template <class D>
  HWY_INLINE hn::Vec<D> Load(D d, const hn::TFromD<D>* p) const {
    return hn::LoadU(d, p);
  }
  template <class D>
  HWY_INLINE void Store(hn::Vec<D> v, D d, hn::TFromD<D>* p) const {
    hn::StoreU(v, d, p);
  }
  // v, with `other` in the lanes that are not accessed.
  template <class D>
  HWY_INLINE hn::Vec<D> Or(D /*d*/, hn::Vec<D> /*other*/, hn::Vec<D> v) const {
    return v;
  }
};

struct FirstLanes {
  size_t count;

  // The other lanes are zero.
  template <class D>
  HWY_INLINE hn::Vec<D> Load(D d, const hn::TFromD<D>* p) const {
    return hn::LoadN(d, p, count);
  }
  template <class D>
  HWY_INLINE void Store(hn::Vec<D> v, D d, hn::TFromD<D>* p) const {
    hn::StoreN(v, d, p, count);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> Or(D d, hn::Vec<D> other, hn::Vec<D> v) const {
    return hn::IfThenElse(hn::FirstN(d, count), v, other);
  }
};

// The largest and the smallest lane. Highway's plain loops start from the largest finite numbers, which infinities
// exceed.
template <class D>
HWY_INLINE hn::TFromD<D> LargestLane(D d, hn::Vec<D> v) {
#if HWY_TARGET == HWY_EMU128 && !FOVEA_RISCV_VECTORS
  hn::TFromD<D> most = v.raw[0];
  for (size_t i = 1; i < hn::Lanes(d); ++i) most = HWY_MAX(most, v.raw[i]);
  return most;
#else
  return hn::ReduceMax(d, v);
#endif
}
template <class D>
HWY_INLINE hn::TFromD<D> SmallestLane(D d, hn::Vec<D> v) {
#if HWY_TARGET == HWY_EMU128 && !FOVEA_RISCV_VECTORS
  hn::TFromD<D> least = v.raw[0];
  for (size_t i = 1; i < hn::Lanes(d); ++i) least = HWY_MIN(least, v.raw[i]);
  return least;
#else
  return hn::ReduceMin(d, v);
#endif
}

// How many vectors a loop computes before it uses the first. A core that executes in order (Cortex-A53, A55) would
// otherwise wait for each operation of one vector; other cores overlap vectors by themselves.
#if !(HWY_ARCH_ARM || FOVEA_RISCV_VECTORS) || HWY_TARGET == HWY_SCALAR || defined(FOVEA_SMALL)
inline constexpr size_t kInterleaved = 1;
#elif HWY_ARCH_ARM_A64 || FOVEA_RISCV_VECTORS
inline constexpr size_t kInterleaved = 4;
#else
inline constexpr size_t kInterleaved = 2;  // 16 registers
#endif

// Whether a range may end within a vector.
template <class D>
inline constexpr bool kHasPartial = HWY_MAX_LANES_D(D) > 1;

// Calls body(index, lanes) over [0, count).
template <class D, class Body>
HWY_INLINE void ForVectors(D d, size_t count, Body body) {
  const size_t n = hn::Lanes(d);
  size_t i = 0;
  for (; i + n <= count; i += n) body(i, AllLanes());
  if (kHasPartial<D> && i < count) body(i, FirstLanes{count - i});
}

// Calls use(index, lanes, compute(index, lanes)) in order over [0, count), after computing kInterleaved vectors:
// `compute` must not read what `use` of former vectors writes. Stops before what is left of a group, and returns where.
template <class D, class Compute, class Use>
HWY_INLINE size_t ForGroups(D d, size_t count, Compute compute, Use use) {
  const AllLanes all;
  const size_t n = hn::Lanes(d);
  size_t i = 0;
  for (; i + kInterleaved * n <= count; i += kInterleaved * n) {
    if constexpr (kInterleaved == 4) {
      const auto v0 = compute(i, all), v1 = compute(i + n, all);
      const auto v2 = compute(i + 2 * n, all), v3 = compute(i + 3 * n, all);
      use(i, all, v0);
      use(i + n, all, v1);
      use(i + 2 * n, all, v2);
      use(i + 3 * n, all, v3);
    } else if constexpr (kInterleaved == 2) {
      const auto v0 = compute(i, all), v1 = compute(i + n, all);
      use(i, all, v0);
      use(i + n, all, v1);
    } else {
      use(i, all, compute(i, all));
    }
  }
  return i;
}

// The same over all of [0, count); ForWholeVectors: a multiple of the vector's size.
template <class D, class Compute, class Use>
HWY_INLINE void ForVectors(D d, size_t count, Compute compute, Use use) {
  const size_t n = hn::Lanes(d);
  size_t i = ForGroups(d, count, compute, use);
  if constexpr (kInterleaved == 1) {
    if (!kHasPartial<D> || i == count) return;
    const FirstLanes lanes{count - i};
    use(i, lanes, compute(i, lanes));
  } else {
    for (; i < count; i += n) {
      const FirstLanes lanes{HWY_MIN(n, count - i)};  // one body for whole vectors and a partial one: less code
      use(i, lanes, compute(i, lanes));
    }
  }
}
template <class D, class Compute, class Use>
HWY_INLINE void ForWholeVectors(D d, size_t count, Compute compute, Use use) {
  size_t i = ForGroups(d, count, compute, use);
  if constexpr (kInterleaved > 1) {
    for (; i < count; i += hn::Lanes(d)) use(i, AllLanes(), compute(i, AllLanes()));
  }
}

// y[i] = compute(i, lanes) over [0, count); y may be what `compute` reads at the same index.
template <class D, class Compute>
HWY_INLINE void MapVectors(D d, size_t count, hn::TFromD<D>* y, Compute compute) {
  ForVectors(d, count, compute, [=](size_t i, auto lanes, hn::Vec<D> v) HWY_ATTR { lanes.Store(v, d, y + i); });
}

// q[i] = integers(i, lanes), saturated to int8, over [0, count).
template <class D, class Integers>
HWY_INLINE void MapToBytes(D d, size_t count, int8_t* q, Integers integers) {
  const hn::Rebind<int8_t, D> d8;
  size_t done = 0;
#if HWY_TARGET != HWY_SCALAR && !defined(FOVEA_SMALL)
  // Four vectors at a time fill one of bytes, with fewer instructions and without waiting for each other.
  const hn::Repartition<int16_t, D> d16;
  const hn::Repartition<int8_t, D> whole;
  const AllLanes all;
  const size_t n = hn::Lanes(d);
  for (; done + 4 * n <= count; done += 4 * n) {
    const auto v0 = integers(done, all), v1 = integers(done + n, all);
    const auto v2 = integers(done + 2 * n, all), v3 = integers(done + 3 * n, all);
    const auto low = hn::OrderedDemote2To(d16, v0, v1), high = hn::OrderedDemote2To(d16, v2, v3);
    hn::StoreU(hn::OrderedDemote2To(whole, low, high), whole, q + done);
  }
#endif
  ForVectors(d, count - done, [=](size_t i, auto lanes) HWY_ATTR {
    lanes.Store(hn::DemoteTo(d8, integers(done + i, lanes)), d8, q + done + i);
  });
}

// Folds [0, count) by acc = step(acc, index, lanes) in four chains (to hide latency), joined at the end. The order
// depends on `count` only.
template <class D, class Acc, class Step, class Join>
HWY_INLINE Acc Fold(D d, Acc start, size_t count, Step step, Join join) {
  const size_t n = hn::Lanes(d);
  Acc a0 = start, a1 = start, a2 = start, a3 = start;
  size_t i = 0;
  for (; i + 4 * n <= count; i += 4 * n) {
    a0 = step(a0, i, AllLanes());
    a1 = step(a1, i + n, AllLanes());
    a2 = step(a2, i + 2 * n, AllLanes());
    a3 = step(a3, i + 3 * n, AllLanes());
  }
  for (; i + n <= count; i += n) a0 = step(a0, i, AllLanes());
  if (kHasPartial<D> && i < count) a1 = step(a1, i, FirstLanes{count - i});
  return join(join(a0, a1), join(a2, a3));
}

// The same with acc = step(acc, index, lanes, compute(index, lanes)) as in ForGroups.
template <class D, class Acc, class Compute, class Step, class Join>
HWY_INLINE Acc Fold(D d, Acc start, size_t count, Compute compute, Step step, Join join) {
  if constexpr (kInterleaved == 1) {
    const auto both = [=](Acc acc, size_t i, auto lanes) HWY_ATTR { return step(acc, i, lanes, compute(i, lanes)); };
    return Fold(d, start, count, both, join);
  }
  const AllLanes all;
  const size_t n = hn::Lanes(d);
  Acc a0 = start, a1 = start, a2 = start, a3 = start;
  size_t i = 0;
  for (; i + 4 * n <= count; i += 4 * n) {
    const auto v0 = compute(i, all), v1 = compute(i + n, all);
    const auto v2 = compute(i + 2 * n, all), v3 = compute(i + 3 * n, all);
    a0 = step(a0, i, all, v0);
    a1 = step(a1, i + n, all, v1);
    a2 = step(a2, i + 2 * n, all, v2);
    a3 = step(a3, i + 3 * n, all, v3);
  }
  for (; i + n <= count; i += n) a0 = step(a0, i, all, compute(i, all));
  if (i < count) {
    const FirstLanes lanes{count - i};
    a1 = step(a1, i, lanes, compute(i, lanes));
  }
  return join(join(a0, a1), join(a2, a3));
}

template <class Step>
HWY_INLINE float FoldSum(F32 d, size_t count, Step step) {
  const auto add = [](F32Vec a, F32Vec b) HWY_ATTR { return hn::Add(a, b); };
  return hn::ReduceSum(d, Fold(d, hn::Zero(d), count, step, add));
}
template <class Compute, class Step>
HWY_INLINE float FoldSum(F32 d, size_t count, Compute compute, Step step) {
  const auto add = [](F32Vec a, F32Vec b) HWY_ATTR { return hn::Add(a, b); };
  return hn::ReduceSum(d, Fold(d, hn::Zero(d), count, compute, step, add));
}

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#endif  // per target
