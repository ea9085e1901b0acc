// int8 rows times int8 or int4 weights that are read in place, on 64-bit Arm with dot products (SDOT) and without. Both
// give the same bits: sums of integers are exact, and sums of int4's blocks are scaled and added up in one order.
//
// The first rows of a tile are multiplied together with a row of ones, which gives the sums of weights. Other rows
// follow in groups of nearly equal size.
#include "hwy/cache_control.h"
#include "runtime/base/dtype.h"
#include "runtime/kernels/gemm_arm-inl.h"
#include "runtime/kernels/gemm_arm.h"

#if FOVEA_GEMM_IN_PLACE_ARM

namespace fovea {
namespace arm {
namespace {

// For lambdas, whose arrays would otherwise be kept in memory.
#define FOVEA_INLINE __attribute__((always_inline))

constexpr size_t kFour = 4;   // columns of a block
constexpr size_t kLine = 64;  // bytes that a prefetch loads

// Calls f(Constant<height>()) for a height from kLeast to kMost.
template <size_t kLeast, size_t kMost, class F>
HWY_INLINE void WithHeight(size_t height, const F& f) {
  if constexpr (kLeast < kMost) {
    if (height > kLeast) return WithHeight<kLeast + 1, kMost>(height, f);
  }
  f(Constant<kLeast>());
}

// Calls first(height) for one to kFirst rows, then rest(height, row) for groups of about kMost / 2 to kMost rows.
template <size_t kFirst, size_t kMost, class First, class Rest>
HWY_INLINE void ForGroups(size_t rows, const First& first, const Rest& rest) {
  constexpr size_t kLeast = (kMost + 1) / 2;
  if (rows == 0) return;
  size_t row = rows <= kFirst ? rows : HWY_MIN(kFirst, HWY_MIN(rows - kLeast, (rows + 1) / 2));
  WithHeight<1, kFirst>(row, first);
  for (size_t groups = (rows - row + kMost - 1) / kMost; groups != 0; --groups) {
    const size_t height = (rows - row + groups - 1) / groups;
    WithHeight<kLeast, kMost>(height, [&](auto constant) { rest(constant, row); });
    row += height;
  }
}

// Four columns of a group of rows: scales of int8 weights and biases, and where the results go.
struct Four {
  size_t c, count;  // count is less than four for a tile's last columns
  const float *scales, *bias;
  float* y;
  size_t stride;
};

// Code for less than four columns, outside of the kernels: they would be twice as large.
HWY_NOINLINE void PadFour(const float* scales, const float* bias, size_t count, float* pad) {
  memset(pad, 0, 2 * kFour * sizeof(*pad));
  if (scales != nullptr) memcpy(pad, scales, count * sizeof(*pad));
  memcpy(pad + kFour, bias, count * sizeof(*pad));
}
HWY_NOINLINE void StorePart(const float* part, size_t rows, size_t count, float* y, size_t stride) {
  for (size_t r = 0; r < rows; ++r) memcpy(y + r * stride, part + r * kFour, count * sizeof(*y));
}
// The last k % 16 weights of four columns, padded with zeros.
HWY_NOINLINE void CopyEnds(const GemmTile& tile, size_t c, size_t count, int8_t (&ends)[kFour][16]) {
  const size_t k = tile.k;
  memset(ends, 0, sizeof(ends));
  for (size_t j = 0; j < count; ++j) {
    memcpy(ends[j], static_cast<const int8_t*>(tile.weights) + (c + j) * k + k / 16 * 16, k % 16);
  }
}

constexpr float kNoBias[kFour] = {};

// Calls f for every four columns of a group of kRows rows.
template <size_t kRows, class F>
HWY_INLINE void ForFours(const GemmTile& tile, const float* scales, size_t row, const F& f) {
  float pad[(2 + kRows) * kFour];
  for (size_t c = 0; c < tile.columns; c += kFour) {
    const size_t count = HWY_MIN(kFour, tile.columns - c);
    const float* const bias = tile.bias == nullptr ? kNoBias : tile.bias + c;
    float* const y = tile.y + row * tile.y_stride + c;
    Four four = {c, count, scales == nullptr ? nullptr : scales + c, bias, y, tile.y_stride};
    if (count < kFour) {
      PadFour(four.scales, bias, count, pad);
      four = {c, count, pad, pad + kFour, pad + 2 * kFour, kFour};
    }
    f(four);
    if (count < kFour) StorePart(four.y, kRows, count, y, tile.y_stride);
  }
}

// The rows of W for four columns; past the last column it is repeated.
template <class T>
HWY_INLINE void Columns(const void* weights, size_t stride, const Four& four, const T* (&w)[kFour]) {
  w[0] = static_cast<const T*>(weights) + four.c * stride;
  HWY_UNROLL(4) for (size_t j = 1; j < kFour; ++j) w[j] = w[j - 1] + (j < four.count ? stride : 0);
}

// ---- int8: vectors along k of rows and of columns give vectors of partial sums.

// Add adds the products of 16 of k of a row with four columns to the columns' vectors of partial sums, AddOnes the 16
// weights themselves to vectors that Widen adds up, after at most kMostSteps steps of the loop.
struct Dots {
  static constexpr size_t kTurns = 2;  // in a step of the loop, 32 of k each; two where sums of weights are computed
  using Ones = int32x4_t;
  static constexpr size_t kMostSteps = kGemmIntegerDepth;
  static HWY_INLINE void Add(int32x4_t (&sums)[kFour], const int8x16_t (&columns)[kFour], int8x16_t row) {
    HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) sums[j] = AddProduct<kSdot>(sums[j], columns[j], row);
  }
  static HWY_INLINE void AddOnes(int32x4_t (&ones)[kFour], const int8x16_t (&columns)[kFour]) {
    Add(ones, columns, vdupq_n_s8(1));
  }
  static HWY_INLINE void Widen(int32x4_t (&ones)[kFour], int32x4_t (&sums)[kFour]) {
    HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) sums[j] = ones[j];
  }
};

// Two products fit 16 bits because weights are at least -127.
struct Pairs {
  static constexpr size_t kTurns = 1;
  using Ones = int16x8_t;
  static constexpr size_t kMostSteps = 32;  // eight weights per lane each, within 16 bits
  static HWY_INLINE void Add(int32x4_t (&sums)[kFour], const int8x16_t (&columns)[kFour], int8x16_t row) {
    int16x8_t two[kFour];
    HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) two[j] = vmull_s8(vget_low_s8(columns[j]), vget_low_s8(row));
    HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) two[j] = vmlal_high_s8(two[j], columns[j], row);
    HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) sums[j] = vpadalq_s16(sums[j], two[j]);
  }
  static HWY_INLINE void AddOnes(int16x8_t (&ones)[kFour], const int8x16_t (&columns)[kFour]) {
    HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) ones[j] = vpadalq_s8(ones[j], columns[j]);
  }
  static HWY_INLINE void Widen(int16x8_t (&ones)[kFour], int32x4_t (&sums)[kFour]) {
    HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) {
      sums[j] = vpadalq_s16(sums[j], ones[j]);
      ones[j] = vdupq_n_s16(0);
    }
  }
};

// The next 32 bytes. By post-increment, because nine addresses would otherwise take an instruction each.
HWY_INLINE void LoadNext(const int8_t*& p, int8x16_t& low, int8x16_t& high) {
  __asm__ volatile("ldp %q0, %q1, [%2], #32"
                   : "=&w"(low), "=&w"(high), "+r"(p)
                   : "m"(*reinterpret_cast<const int8_t(*)[32]>(p)));
}

// Adds the products of 32 of k. A row is loaded before the products of the row before it.
template <class Products, size_t kRows, bool kOnes>
HWY_INLINE void Add32(const int8_t* (&x)[kRows], const int8_t* (&w)[kFour], int32x4_t (&sums)[kRows + kOnes][kFour],
                      typename Products::Ones (&ones)[kFour]) {
  int8x16_t columns[2][kFour], row[2][2];
  LoadNext(x[0], row[0][0], row[0][1]);
  HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) LoadNext(w[j], columns[0][j], columns[1][j]);
  HWY_UNROLL(8) for (size_t r = 0; r < kRows + kOnes; ++r) {
    if (r + 1 < kRows) LoadNext(x[r + 1], row[(r + 1) % 2][0], row[(r + 1) % 2][1]);
    HWY_UNROLL(2) for (size_t half = 0; half < 2; ++half) {
      if (r < kRows) {
        Products::Add(sums[r], columns[half], row[r % 2][half]);
      } else {
        Products::AddOnes(ones, columns[half]);
      }
    }
  }
}

// Weights of int8, multiplied by Products.
template <class Products>
struct I8 {
  using Sum = int32x4_t;  // a vector for four columns
  static const float* Scales(const GemmTile& tile) { return static_cast<const float*>(tile.scales); }

  // The sums of products of kRows rows, and with kOnes of ones, with columns c to c + 3.
  template <size_t kRows, bool kOnes>
  static HWY_INLINE void Sums(const GemmTile& tile, const int8_t* from, const Four& four,
                              int32x4_t (&folded)[kRows + kOnes]) {
    const size_t k = tile.k;
    const int8_t *x[kRows], *w[kFour];
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) x[r] = from + r * k;
    Columns(tile.weights, k, four, w);
    int8_t ends[kFour][16];
    if (k % 16 != 0) CopyEnds(tile, four.c, four.count, ends);
    int32x4_t sums[kRows + kOnes][kFour];
    HWY_UNROLL(8) for (size_t r = 0; r < kRows + kOnes; ++r) {
      HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) sums[r][j] = vdupq_n_s32(0);
    }
    typename Products::Ones ones[kFour] = {};
    constexpr size_t kTurns = kOnes ? 2 : Products::kTurns, kStep = 32 * kTurns;
    for (size_t steps = k / kStep; steps != 0;) {
      const size_t part = kOnes ? HWY_MIN(steps, Products::kMostSteps) : steps;
      steps -= part;
      for (size_t turns = part; turns != 0; --turns) {
        if (kOnes) {
          HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) hwy::Prefetch(w[j] + kFour * k);
        }
        HWY_UNROLL(2) for (size_t turn = 0; turn < kTurns; ++turn) Add32<Products, kRows, kOnes>(x, w, sums, ones);
      }
      if constexpr (kOnes) Products::Widen(ones, sums[kRows]);
    }
    size_t left = k % kStep;
    if (kTurns > 1 && left >= 32) {
      Add32<Products, kRows, kOnes>(x, w, sums, ones);
      left -= 32;
    }
    for (; left != 0; left -= HWY_MIN(left, 16)) {
      int8x16_t columns[kFour];
      HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) {
        columns[j] = LoadBytes(left < 16 ? ends[j] : w[j]);
        w[j] += 16;
      }
      HWY_UNROLL(8) for (size_t r = 0; r < kRows + kOnes; ++r) {
        if (r < kRows) {
          Products::Add(sums[r], columns, LoadBytes(x[r]));
          x[r] += 16;
        } else {
          Products::AddOnes(ones, columns);
        }
      }
    }
    if constexpr (kOnes) Products::Widen(ones, sums[kRows]);
    HWY_UNROLL(8) for (size_t r = 0; r < kRows + kOnes; ++r) {
      folded[r] = vpaddq_s32(vpaddq_s32(sums[r][0], sums[r][1]), vpaddq_s32(sums[r][2], sums[r][3]));
    }
  }

  template <size_t kRows>
  static HWY_INLINE void Finish(const QuantParams* params, const Four& four, const int32x4_t* sums,
                                int32x4_t weight_sums) {
    const float32x4_t scales = LoadFloats(four.scales), bias = LoadFloats(four.bias);
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
      const float32x4_t exact = vcvtq_f32_s32(vmlsq_n_s32(sums[r], weight_sums, params[r].zero_point));
      vst1q_f32(four.y + r * four.stride, vfmaq_f32(bias, exact, vmulq_n_f32(scales, params[r].scale)));
    }
  }
};

// ---- int4: sixteen bytes of a column hold a block of 32 of k, even elements in the low halves of bytes and odd ones
// in the high halves. `x` has the even and the odd elements of rows.

// The words of four columns are transposed, so that each lane of sums belongs to one column, and rows are multiplied by
// lane: sums need no fold before they are scaled. Weights are 16 (q - 8).
struct DotBlock {
  static HWY_INLINE void Load(const uint8_t* const (&w)[kFour], size_t at, int8x16_t (&even)[4], int8x16_t (&odd)[4]) {
    int32x4_t v[kFour];
    HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) v[j] = vreinterpretq_s32_u8(vld1q_u8(w[j] + at));
    const int64x2_t word02[2] = {vreinterpretq_s64_s32(vtrn1q_s32(v[0], v[1])),
                                 vreinterpretq_s64_s32(vtrn1q_s32(v[2], v[3]))};
    const int64x2_t word13[2] = {vreinterpretq_s64_s32(vtrn2q_s32(v[0], v[1])),
                                 vreinterpretq_s64_s32(vtrn2q_s32(v[2], v[3]))};
    const int64x2_t words[4] = {vtrn1q_s64(word02[0], word02[1]), vtrn1q_s64(word13[0], word13[1]),
                                vtrn2q_s64(word02[0], word02[1]), vtrn2q_s64(word13[0], word13[1])};
    HWY_UNROLL(4) for (size_t i = 0; i < 4; ++i) {
      const int8x16_t bytes = veorq_s8(vreinterpretq_s8_s64(words[i]), vdupq_n_s8(static_cast<int8_t>(0x88)));
      even[i] = vshlq_n_s8(bytes, 4);
      odd[i] = vandq_s8(bytes, vdupq_n_s8(-16));
    }
  }
  static constexpr size_t kAtOnce = 2;  // a product waits for the one before in its sum
  template <size_t kRows, bool kOnes>
  static HWY_INLINE void Multiply(const int8x16_t (&even)[4], const int8x16_t (&odd)[4],
                                  const int8x16x2_t (&x)[kRows + kOnes], float32x4_t (&sums)[kRows + kOnes]) {
    int32x4_t exact[kRows + kOnes];
    HWY_UNROLL(2) for (size_t r = 0; r < kRows + kOnes; ++r) exact[r] = vdupq_n_s32(0);
    Add<0>(even, odd, x, exact), Add<1>(even, odd, x, exact);
    Add<2>(even, odd, x, exact), Add<3>(even, odd, x, exact);
    HWY_UNROLL(2) for (size_t r = 0; r < kRows + kOnes; ++r) sums[r] = vcvtq_n_f32_s32(exact[r], 4);
  }

 private:
  template <uint32_t kWord, size_t kSums>
  static HWY_INLINE void Add(const int8x16_t (&even)[4], const int8x16_t (&odd)[4], const int8x16x2_t (&x)[kSums],
                             int32x4_t (&sums)[kSums]) {
    HWY_UNROLL(2) for (size_t r = 0; r < kSums; ++r) sums[r] = DotWithLane<kWord>(sums[r], even[kWord], x[r].val[0]);
    HWY_UNROLL(2) for (size_t r = 0; r < kSums; ++r) sums[r] = DotWithLane<kWord>(sums[r], odd[kWord], x[r].val[1]);
  }
};

// A vector of sums of four products in 16 bits for each column. Weights are q - 8.
struct ShortBlock {
  static HWY_INLINE void Load(const uint8_t* const (&w)[kFour], size_t at, int8x16_t (&even)[4], int8x16_t (&odd)[4]) {
    HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) {
      const int8x16_t bytes = veorq_s8(vreinterpretq_s8_u8(vld1q_u8(w[j] + at)), vdupq_n_s8(static_cast<int8_t>(0x88)));
      even[j] = vshrq_n_s8(vshlq_n_s8(bytes, 4), 4);
      odd[j] = vshrq_n_s8(bytes, 4);
    }
  }
  static constexpr size_t kAtOnce = 1;
  template <size_t kRows, bool kOnes>
  static HWY_INLINE void Multiply(const int8x16_t (&even)[4], const int8x16_t (&odd)[4], const int8x16x2_t (&x)[1],
                                  float32x4_t (&sums)[1]) {
    int32x4_t exact;
    if constexpr (kOnes) {
      int8x16_t two[kFour];
      HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) two[j] = vaddq_s8(even[j], odd[j]);
      exact = vpaddlq_s16(vpaddlq_s8(vpaddq_s8(vpaddq_s8(two[0], two[1]), vpaddq_s8(two[2], two[3]))));
    } else {
      int16x8_t four[kFour];
      const int8x16_t x0 = x[0].val[0], x1 = x[0].val[1];
      HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) four[j] = vmull_s8(vget_low_s8(even[j]), vget_low_s8(x0));
      HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) four[j] = vmlal_high_s8(four[j], even[j], x0);
      HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) {
        four[j] = vmlal_s8(four[j], vget_low_s8(odd[j]), vget_low_s8(x1));
      }
      HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) four[j] = vmlal_high_s8(four[j], odd[j], x1);
      exact = vpaddlq_s16(vpaddq_s16(vpaddq_s16(four[0], four[1]), vpaddq_s16(four[2], four[3])));
    }
    sums[0] = vcvtq_f32_s32(exact);
  }
};

// The next bf16 scale of each column, of which `scales` has room in the upper halves of its lanes.
template <int kLane>
HWY_INLINE void LoadScale(const uint16_t*& p, uint16x8_t& scales) {
  __asm__("ld1 {%0.h}[%c3], [%1], #2" : "+w"(scales), "+r"(p) : "m"(*p), "i"(kLane));
}

// Calls f(Constant<first>(), Constant<height>(), std::bool_constant<last_is_ones>()) for parts of kAll rows.
template <size_t kFirst, size_t kAll, bool kOnes, size_t kMost, class F>
HWY_INLINE void ForParts(const F& f) {
  if constexpr (kFirst < kAll) {
    constexpr size_t kHeight = HWY_MIN(kMost, kAll - kFirst);
    f(Constant<kFirst>(), Constant<kHeight>(), std::bool_constant < kOnes && kFirst + kHeight == kAll > ());
    ForParts<kFirst + kHeight, kAll, kOnes, kMost>(f);
  }
}

// Weights of int4, multiplied by Block.
template <class Block>
struct I4 {
  using Sum = float32x4_t;                                         // a vector for four columns
  static const float* Scales(const GemmTile&) { return nullptr; }  // each block of k has its own

  // The scaled sums of kRows rows, and with kOnes of ones, with columns c to c + 3.
  template <size_t kRows, bool kOnes>
  static HWY_INLINE void Sums(const GemmTile& tile, const int8_t* from, const Four& four,
                              float32x4_t (&sums)[kRows + kOnes]) {
    constexpr size_t kAll = kRows + kOnes;
    const size_t k = tile.k;
    const int8_t* x[kRows];
    const uint8_t* w[kFour];
    const uint16_t* s[kFour];
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) x[r] = from + r * k;
    Columns(tile.weights, k / 2, four, w);
    Columns(tile.scales, k / kI4Block, four, s);
    HWY_UNROLL(8) for (size_t r = 0; r < kAll; ++r) sums[r] = vdupq_n_f32(0);
    uint16x8_t scales = vdupq_n_u16(0);
    for (size_t at = 0; at != k / 2; at += 16) {
      if (kOnes && at % kLine == 0) {
        HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) hwy::Prefetch(w[j] + at + kFour * (k / 2));
      }
      int8x16_t even[4], odd[4];
      Block::Load(w, at, even, odd);
      LoadScale<1>(s[0], scales), LoadScale<3>(s[1], scales), LoadScale<5>(s[2], scales), LoadScale<7>(s[3], scales);
      const auto multiply = [&](auto first, auto height, auto of_ones) FOVEA_INLINE {
        constexpr size_t kHeight = height(), kReal = kHeight - of_ones();
        int8x16x2_t operands[kHeight];
        HWY_UNROLL(2) for (size_t i = 0; i < kReal; ++i) {
          operands[i] = vld2q_s8(x[first() + i]);
          x[first() + i] += kI4Block;
        }
        if constexpr (of_ones()) operands[kReal] = {{vdupq_n_s8(1), vdupq_n_s8(1)}};
        float32x4_t exact[kHeight];
        Block::template Multiply<kReal, of_ones()>(even, odd, operands, exact);
        HWY_UNROLL(2) for (size_t i = 0; i < kHeight; ++i) {
          sums[first() + i] = vfmaq_f32(sums[first() + i], exact[i], vreinterpretq_f32_u16(scales));
        }
      };
      ForParts<0, kAll, kOnes, Block::kAtOnce>(multiply);
    }
  }

  template <size_t kRows>
  static HWY_INLINE void Finish(const QuantParams* params, const Four& four, const float32x4_t* sums,
                                float32x4_t weight_sums) {
    const float32x4_t bias = LoadFloats(four.bias);
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
      const float32x4_t exact = vfmsq_n_f32(sums[r], weight_sums, static_cast<float>(params[r].zero_point));
      vst1q_f32(four.y + r * four.stride, vfmaq_n_f32(bias, exact, params[r].scale));
    }
  }
};

// ---- Both: a tile of rows

// The group of kRows rows from `row` on. With kOnes it is the first and also computes the sums of weights. Not inlined:
// gcc would keep addresses of one group in memory for the sake of the other groups.
template <class Layer, size_t kRows, bool kOnes>
HWY_NOINLINE void Group(const GemmTile& tile, size_t row, typename Layer::Sum* weight_sums) {
  const auto* x = static_cast<const int8_t*>(tile.x) + row * tile.k;
  const QuantParams* params = tile.params + row;
  ForFours<kRows>(tile, Layer::Scales(tile), row, [=, &tile](Four four) FOVEA_INLINE {
    typename Layer::Sum sums[kRows + kOnes];
    Layer::template Sums<kRows, kOnes>(tile, x, four, sums);
    if constexpr (kOnes) weight_sums[four.c / kFour] = sums[kRows];
    Layer::template Finish<kRows>(params, four, sums, kOnes ? sums[kRows + kOnes - 1] : weight_sums[four.c / kFour]);
  });
}

template <class Layer, size_t kFirst, size_t kMost>
HWY_INLINE void Tile(const GemmTile& tile) {
  static_assert(kGemmTileColumns % kFour == 0, "");
  typename Layer::Sum sums[kGemmTileColumns / kFour];
  ForGroups<kFirst, kMost>(
      tile.rows, [&](auto height) { Group<Layer, height(), true>(tile, 0, sums); },
      [&](auto height, size_t row) { Group<Layer, height(), false>(tile, row, sums); });
}

}  // namespace
}  // namespace arm

void GemmInPlaceDotI8(const GemmTile& tile) { arm::Tile<arm::I8<arm::Dots>, 4, 4>(tile); }
void GemmInPlaceDotI4(const GemmTile& tile) { arm::Tile<arm::I4<arm::DotBlock>, 4, 8>(tile); }
void GemmInPlaceI8(const GemmTile& tile) { arm::Tile<arm::I8<arm::Pairs>, 2, 4>(tile); }
void GemmInPlaceI4(const GemmTile& tile) { arm::Tile<arm::I4<arm::ShortBlock>, 2, 4>(tile); }

}  // namespace fovea

#endif  // FOVEA_GEMM_IN_PLACE_ARM
