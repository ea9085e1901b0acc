// Quantizes rows of activations to int8: one pass for the range, one to convert.
#include "runtime/kernels/quantize.h"

#include <math.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/quantize.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "runtime/kernels/gemm_arm.h"
#include "runtime/kernels/kernels.h"
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
  // Use the end of the range with the smaller rounding error.
  const bool from_low = (-128.0f + scaled_low) + (127.0f + scaled_high) > 0.0f;
  float zero_point = from_low ? -128.0f - scaled_low : 127.0f - scaled_high;
  zero_point = zero_point > -128.0f ? zero_point : -128.0f;  // NaN also ends here
  zero_point = zero_point < 127.0f ? zero_point : 127.0f;
  return {static_cast<int32_t>(lrintf(zero_point)), 1.0f / steps};
}

#if HWY_TARGET == HWY_SCALAR

// Does not use Highway's Min and Max: their NaN test takes longer than the rest.
QuantParams ParamsOfRow(const float* x, size_t width) {
  float low = 0.0f, high = 0.0f;
  for (size_t i = 0; i < width; ++i) {
    low = x[i] < low ? x[i] : low;
    high = x[i] > high ? x[i] : high;
  }
  return ParamsOfRange(low, high);
}

#else

struct Range {
  F32Vec low, high;
};

QuantParams ParamsOfRow(const float* x, size_t width) {
  const F32 d;
  // Starting at zero also makes the zeros of a partial load harmless.
  const Range range = Fold(
      d, Range{hn::Zero(d), hn::Zero(d)}, width,
      [=](Range acc, size_t i, auto lanes) HWY_ATTR {
        const F32Vec v = lanes.Load(d, x + i);
        return Range{hn::Min(acc.low, v), hn::Max(acc.high, v)};
      },
      [](Range a, Range b) HWY_ATTR {
        return Range{hn::Min(a.low, b.low), hn::Max(a.high, b.high)};
      });
  return ParamsOfRange(SmallestLane(d, range.low), LargestLane(d, range.high));
}

#endif

// Integers of x at an index, with lanes of D.
template <class D>
HWY_INLINE auto IntegersOf(D d, const float* x, QuantParams params) {
  const hn::Rebind<int32_t, D> d32;
  const auto steps = hn::Set(d, 1.0f / params.scale);
  // Adding 3 * 2^22 rounds to the nearest integer and leaves it in the low bits. The convention requires that the
  // product is rounded first: this file needs -ffp-contract=off.
  const auto magic = hn::Set(d, 12582912.0f);
  const auto bias = hn::Set(d32, 0x4B400000 - params.zero_point);
  return [=](size_t i, auto lanes)
             HWY_ATTR { return hn::Sub(hn::BitCast(d32, hn::Add(hn::Mul(lanes.Load(d, x + i), steps), magic)), bias); };
}

void ConvertRow(const float* x, size_t width, QuantParams params, int8_t* q) {
  const F32 d;
  MapToBytes(d, width, q, IntegersOf(d, x, params));
}

// A few rows at a time, still in L1 for the second pass: the scalar work between the passes overlaps.
template <class Convert>
HWY_INLINE void QuantizeGroups(const float* x, size_t rows, size_t width, QuantParams* params, const Convert& convert) {
  constexpr size_t kGroup = 4;
  for (size_t first = 0; first < rows; first += kGroup) {
    const size_t end = HWY_MIN(first + kGroup, rows);
    for (size_t r = first; r < end; ++r) params[r] = ParamsOfRow(x + r * width, width);
    for (size_t r = first; r < end; ++r) convert(r, x + r * width, params[r]);
  }
}

void QuantizeRows(const float* x, size_t rows, size_t width, int8_t* q, QuantParams* params) {
  QuantizeGroups(x, rows, width, params, [=](size_t r, const float* row, QuantParams of_row) HWY_ATTR {
    ConvertRow(row, width, of_row, q + r * width);
  });
}

#if FOVEA_GEMM_PACKED_ARM

// A row whose groups of eight elements are `step` apart.
#if HWY_TARGET == HWY_SCALAR
void ConvertPairedRow(const float* x, size_t width, QuantParams params, int8_t* q, size_t step) {
  for (size_t i = 0; i < width; i += kPairedElements, q += step) ConvertRow(x + i, kPairedElements, params, q);
}
#else
void ConvertPairedRow(const float* x, size_t width, QuantParams params, int8_t* q, size_t step) {
  const hn::FixedTag<float, 4> d;
  const hn::Repartition<int16_t, decltype(d)> d16;
  const hn::FixedTag<int8_t, kPairedElements> d8;
  const auto integers = IntegersOf(d, x, params);
  const AllLanes all;
  const auto convert = [=](size_t i) HWY_ATTR {
    return hn::DemoteTo(d8, hn::OrderedDemote2To(d16, integers(i, all), integers(i + 4, all)));
  };
  size_t i = 0;
  for (; i + 16 <= width; i += 16, q += 2 * step) {
    hn::StoreU(convert(i), d8, q);
    hn::StoreU(convert(i + 8), d8, q + step);
  }
  if (i < width) hn::StoreU(convert(i), d8, q);
}
#endif

void QuantizePairs(const float* x, size_t rows, size_t width, int8_t* q, QuantParams* params) {
  QuantizeGroups(x, rows, width, params, [=](size_t r, const float* row, QuantParams of_row) HWY_ATTR {
    const PairedRow place(r, rows, width);
    ConvertPairedRow(row, width, of_row, q + place.first, place.step);
  });
}

constexpr QuantizeKernels MakeQuantizeKernels() { return {QuantizeRows, QuantizePairs}; }

#else

constexpr QuantizeKernels MakeQuantizeKernels() { return {QuantizeRows, nullptr}; }

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
FOVEA_EXPORT_KERNELS(Quantize, quantize)
}  // namespace fovea
#endif
