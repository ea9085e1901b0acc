// Converts stored rows to f32.
#include "runtime/kernels/dequantize.h"

#include <string.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/dequantize.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "runtime/kernels/kernels.h"
#include "runtime/kernels/loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace {

// y = values * factor, or added to y.
template <bool kAdd, class Lanes>
HWY_INLINE void Put(Lanes lanes, F32Vec values, F32Vec factor, float* y) {
  const F32 d;
  lanes.Store(kAdd ? hn::MulAdd(values, factor, lanes.Load(d, y)) : hn::Mul(values, factor), d, y);
}

template <bool kAdd>
void FromF32(const void* row, const void* /*scales*/, size_t width, float factor, float* y) {
  const F32 d;
  const float* x = static_cast<const float*>(row);
  ForVectors(d, width,
             [=](size_t i, auto lanes) HWY_ATTR { Put<kAdd>(lanes, lanes.Load(d, x + i), hn::Set(d, factor), y + i); });
}

template <bool kAdd>
void FromF16(const void* row, const void* /*scales*/, size_t width, float factor, float* y) {
  const F32 d;
  const hn::Rebind<hwy::float16_t, F32> d16;
  const hwy::float16_t* x = static_cast<const hwy::float16_t*>(row);
  ForVectors(d, width, [=](size_t i, auto lanes) HWY_ATTR {
    Put<kAdd>(lanes, hn::PromoteTo(d, lanes.Load(d16, x + i)), hn::Set(d, factor), y + i);
  });
}

template <bool kAdd>
void FromBf16(const void* row, const void* /*scales*/, size_t width, float factor, float* y) {
  const F32 d;
  const hn::Rebind<int32_t, F32> d32;
  const hn::Rebind<uint16_t, F32> d16;
  const uint16_t* x = static_cast<const uint16_t*>(row);
  ForVectors(d, width, [=](size_t i, auto lanes) HWY_ATTR {
    const auto bits = hn::ShiftLeft<16>(hn::PromoteTo(d32, lanes.Load(d16, x + i)));
    Put<kAdd>(lanes, hn::BitCast(d, bits), hn::Set(d, factor), y + i);
  });
}

template <bool kAdd>
void FromI8(const void* row, const void* scales, size_t width, float factor, float* y) {
  const F32 d;
  const hn::Rebind<int32_t, F32> d32;
  const hn::Rebind<int8_t, F32> d8;
  const int8_t* x = static_cast<const int8_t*>(row);
  const F32Vec scale = hn::Set(d, *static_cast<const float*>(scales) * factor);
  ForVectors(d, width, [=](size_t i, auto lanes) HWY_ATTR {
    const auto q = hn::PromoteTo(d32, lanes.Load(d8, x + i));
    Put<kAdd>(lanes, hn::ConvertTo(d, q), scale, y + i);
  });
}

// Expands a block's nibbles, low one first, minus 8.
HWY_INLINE void ExpandBlock(const uint8_t* bytes, float* values) {
  const hn::CappedTag<float, kI4Block / 2> d;
  const hn::Rebind<int32_t, decltype(d)> d32;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const auto eight = hn::Set(d32, 8);
  for (size_t i = 0; i < kI4Block / 2; i += hn::Lanes(d)) {
    const auto pair = hn::PromoteTo(d32, hn::LoadU(d8, bytes + i));
    const auto low = hn::And(pair, hn::Set(d32, 15));
    const auto high = hn::ShiftRight<4>(pair);
    hn::StoreInterleaved2(hn::ConvertTo(d, hn::Sub(low, eight)), hn::ConvertTo(d, hn::Sub(high, eight)), d,
                          values + 2 * i);
  }
}

template <bool kAdd>
void FromI4(const void* row, const void* scales, size_t width, float factor, float* y) {
  const F32 d;
  const uint8_t* bytes = static_cast<const uint8_t*>(row);
  const uint8_t* scale_bytes = static_cast<const uint8_t*>(scales);
  for (size_t first = 0; first < width; first += kI4Block) {
    const size_t count = HWY_MIN(width - first, size_t{kI4Block});
    uint8_t last[kI4Block / 2] = {};
    const uint8_t* block = bytes + first / 2;
    if (count < kI4Block) {  // the buffer may end with the row
      memcpy(last, block, (count + 1) / 2);
      block = last;
    }
    HWY_ALIGN float values[kI4Block];
    ExpandBlock(block, values);
    uint16_t bf16;
    memcpy(&bf16, scale_bytes + first / kI4Block * sizeof(bf16), sizeof(bf16));
    const uint32_t bits = uint32_t{bf16} << 16;
    float scale;
    memcpy(&scale, &bits, sizeof(scale));
    const F32Vec scaled = hn::Set(d, scale * factor);
    ForVectors(d, count, [&](size_t i, auto lanes) HWY_ATTR {
      Put<kAdd>(lanes, lanes.Load(d, values + i), scaled, y + first + i);
    });
  }
}

template <bool kAdd>
constexpr void FillTable(RowToF32* table) {
  if (kWeightsF32) table[static_cast<size_t>(DType::kF32)] = FromF32<kAdd>;
  if (kWeightsF16 || kRowsF16) table[static_cast<size_t>(DType::kF16)] = FromF16<kAdd>;
  if (kRowsBf16) table[static_cast<size_t>(DType::kBf16)] = FromBf16<kAdd>;
  if (kWeightsI8 || kRowsI8) table[static_cast<size_t>(DType::kI8)] = FromI8<kAdd>;
  if (kWeightsI4) table[static_cast<size_t>(DType::kI4)] = FromI4<kAdd>;
}

constexpr DequantizeKernels MakeDequantizeKernels() {
  DequantizeKernels kernels = {};
  FillTable<false>(kernels.set);
  FillTable<true>(kernels.add);
  return kernels;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
FOVEA_EXPORT_KERNELS(Dequantize, dequantize)
}  // namespace fovea
#endif
