// f32 rows times packed f32 weights on 64-bit Arm, with the bits of XNNPACK's kernels for several rows. These have 8
// columns at once: with 16, elements of x are loaded half as often.
//
// A block is eight columns: the bias of each, then for each of k a weight of each.
#include "runtime/kernels/gemm_arm-inl.h"
#include "runtime/kernels/gemm_arm.h"

#if FOVEA_GEMM_PACKED_ARM

namespace fovea {
namespace arm {
namespace {

constexpr size_t kColumns = 8;

// Adds element kLane of x times four weights, in the order of the source: gcc would load too many vectors early.
template <int kLane>
HWY_INLINE void AddProducts(float32x4_t weights, float32x4_t x, float32x4_t& sum) {
  __asm__ volatile("fmla %0.4s, %1.4s, %2.s[%c3]" : "+w"(sum) : "w"(weights), "w"(x), "i"(kLane));
}

// Adds the element of k that x has in kLane, whose weights are kOffset bytes further.
template <int kLane, int kOffset, size_t kRows, size_t kBlocks>
HWY_INLINE void AddElement(const float* const (&w)[kBlocks], const float32x4_t (&x)[kRows],
                           float32x4_t (&sums)[2 * kBlocks][kRows]) {
  HWY_UNROLL(2) for (size_t b = 0; b < kBlocks; ++b) {
    int8x16_t two[2];
    LoadPair<kOffset>(reinterpret_cast<const uint8_t*>(w[b]), two[0], two[1]);
    HWY_UNROLL(2) for (size_t j = 0; j < 2; ++j) {
      const float32x4_t weights = vreinterpretq_f32_s8(two[j]);
      HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) AddProducts<kLane>(weights, x[r], sums[2 * b + j][r]);
    }
  }
}

// Four elements of k, which are four times kTurn further.
template <int kTurn, size_t kRows, size_t kBlocks>
HWY_INLINE void AddFour(const float* const (&w)[kBlocks], const float* x, size_t k,
                        float32x4_t (&sums)[2 * kBlocks][kRows]) {
  float32x4_t four[kRows];
  HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) four[r] = vld1q_f32(x + r * k);
  AddElement<0, 128 * kTurn>(w, four, sums);
  AddElement<1, 128 * kTurn + 32>(w, four, sums);
  AddElement<2, 128 * kTurn + 64>(w, four, sums);
  AddElement<3, 128 * kTurn + 96>(w, four, sums);
}

template <size_t kBlocks>
HWY_INLINE void Skip(size_t elements, const float* (&w)[kBlocks]) {
  HWY_UNROLL(2) for (size_t b = 0; b < kBlocks; ++b) w[b] += kColumns * elements;
}

template <size_t kRows, size_t kBlocks>
HWY_INLINE void Multiply(const GemmTile& tile, size_t row, const Block& block) {
  const size_t k = tile.k;
  const float* x = static_cast<const float*>(tile.x) + row * k;
  const float* w[kBlocks];
  float32x4_t sums[2 * kBlocks][kRows];
  HWY_UNROLL(2) for (size_t b = 0; b < kBlocks; ++b) {
    w[b] = reinterpret_cast<const float*>(block.weights) + b * kColumns * (k + 1);
    HWY_UNROLL(2) for (size_t j = 0; j < 2; ++j) {
      const float32x4_t biases = vld1q_f32(w[b] + 4 * j);
      HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) sums[2 * b + j][r] = biases;
    }
  }
  Skip(1, w);
  for (const float* const last = x + k / 8 * 8; x != last; x += 8, Skip(8, w)) {
    AddFour<0>(w, x, k, sums);
    AddFour<1>(w, x + 4, k, sums);
  }
  if (k % 8 >= 4) AddFour<0>(w, x, k, sums), x += 4, Skip(4, w);
  for (size_t left = k % 4; left != 0; --left, ++x, Skip(1, w)) {
    float32x4_t one[kRows];
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) one[r] = vld1q_dup_f32(x + r * k);
    AddElement<0, 0>(w, one, sums);
  }
  float* y = block.y;
  HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r, y += block.stride) {
    HWY_UNROLL(2) for (size_t b = 0; b < kBlocks; ++b) StorePair(sums[2 * b][r], sums[2 * b + 1][r], y + 8 * b);
  }
}

}  // namespace
}  // namespace arm

void GemmArmF32(const GemmTile& tile) {
  const size_t block_bytes = arm::kColumns * (tile.k + 1) * sizeof(float);
  const auto* weights = static_cast<const uint8_t*>(tile.weights);
  for (size_t c = 0; c < tile.columns; c += 16, weights += 2 * block_bytes) {
    if (tile.columns - c > 8) {
      arm::ForRows<6, 4, 3, 2, 1>(tile, weights, c, 16, [&](auto height, size_t row, const arm::Block& block) {
        arm::Multiply<height(), 2>(tile, row, block);
      });
    } else {
      arm::ForRows<6, 1>(tile, weights, c, 8, [&](auto height, size_t row, const arm::Block& block) {
        arm::Multiply<height(), 1>(tile, row, block);
      });
    }
  }
}

}  // namespace fovea

#endif  // FOVEA_GEMM_PACKED_ARM
