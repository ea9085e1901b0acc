// f32 rows times packed f32 weights. Processes more rows at once than XNNPACK's kernels and prefetches the next
// weights.
//
// A block is sixteen columns: the bias of each, then for each of k a weight of each.
#if defined(FOVEA_RUNTIME_KERNELS_GEMM_PACKED_F32_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_GEMM_PACKED_F32_INL_H_
#undef FOVEA_RUNTIME_KERNELS_GEMM_PACKED_F32_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_GEMM_PACKED_F32_INL_H_
#endif

#include "runtime/kernels/gemm_packed-inl.h"

#if FOVEA_GEMM_PACKED
HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace packed {
namespace f32 {

constexpr size_t kColumns = 16;

// Adds an element of a row times 16 weights.
HWY_INLINE void AddProducts(const float* x, Floats low, Floats high, Floats (&sums)[2]) {
#if HWY_COMPILER_GCC_ACTUAL
  // gcc would load more elements than fit registers, and write sums over elements and weights, which it copies before.
  decltype(low.raw) element;
  __asm__ volatile(
      "vbroadcastss {%3, %2|%2, %3}\n"
      "vfmadd231ps {%4, %2, %0|%0, %2, %4}\n"
      "vfmadd231ps {%5, %2, %1|%1, %2, %5}"
      : "+x"(sums[0].raw), "+x"(sums[1].raw), "=&x"(element)
      : "m"(*x), "x"(low.raw), "x"(high.raw));
#else
  const Floats element = hn::Set(kFloats, *x);
  sums[0] = hn::MulAdd(element, low, sums[0]);
  sums[1] = hn::MulAdd(element, high, sums[1]);
#endif
}

// Adds element i of rows, of which w has the weights.
template <size_t kRows>
HWY_INLINE void AddElement(const float* const (&rows)[kRows], size_t i, const float* w, Floats (&sums)[kRows][2]) {
  const Floats low = hn::Load(kFloats, w), high = hn::Load(kFloats, w + 8);
  HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) AddProducts(rows[r] + i, low, high, sums[r]);
}

// kRows rows of a block of columns, of which the first `count` are written.
template <size_t kRows>
HWY_INLINE void Multiply(const GemmTile& tile, size_t row, const float* HWY_RESTRICT block, size_t count, Fetch fetch,
                         float* y) {
  const size_t k = tile.k, block_floats = kColumns * (k + 1);
  const float* rows[kRows];
  HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) rows[r] = static_cast<const float*>(tile.x) + (row + r) * k;
  Floats sums[kRows][2];
  HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(2) for (size_t half = 0; half < 2; ++half) sums[r][half] = hn::Load(kFloats, block + half * 8);
  }
  const float* w = block + kColumns;
  for (size_t left = k / 8; left != 0; --left, w += 8 * kColumns) {
    if (fetch.Next()) {
      HWY_UNROLL(8) for (size_t i = 0; i < 8; ++i) hwy::Prefetch(w + block_floats + i * kColumns);
    }
    HWY_UNROLL(8) for (size_t i = 0; i < 8; ++i) AddElement(rows, i, w + i * kColumns, sums);
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) rows[r] += 8;
  }
  for (size_t left = k % 8; left != 0; --left, w += kColumns) {
    hwy::Prefetch(w + block_floats);
    AddElement(rows, 0, w, sums);
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r)++ rows[r];
  }
  HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
    float* to = y + (row + r) * tile.y_stride;
    if (count == kColumns) {
      hn::StoreU(sums[r][0], kFloats, to);
      hn::StoreU(sums[r][1], kFloats, to + 8);
    } else {
      hn::StoreN(sums[r][0], kFloats, to, HWY_MIN(count, size_t{8}));
      if (count > 8) hn::StoreN(sums[r][1], kFloats, to + 8, count - 8);
    }
  }
}

}  // namespace f32
}  // namespace packed

void GemmPackedF32(const GemmTile& tile) {
  namespace f32 = packed::f32;
  const auto* block = static_cast<const float*>(tile.weights);
  for (size_t c = 0; c < tile.columns; c += f32::kColumns, block += f32::kColumns * (tile.k + 1)) {
    const size_t count = HWY_MIN(f32::kColumns, tile.columns - c);
    packed::ForRows<6, 4, 2, 1>(tile.rows, [&](auto height, size_t row, packed::Fetch fetch) HWY_ATTR {
      f32::Multiply<height()>(tile, row, block, count, fetch, tile.y + c);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();
#endif

#endif  // toggle
