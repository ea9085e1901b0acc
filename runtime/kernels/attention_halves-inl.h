// Exponentials, and weights times values, in half precision on 64-bit Arm with FEAT_FP16: eight elements at once.
// Sums in f16 run over at most kHalfPart keys and are then added to sums in f32. Values that f16 does not hold well
// (outliers) are multiplied in f32, from where they are stored. All this depends on a key alone, and each element's
// sum is in the order of the keys, so a row has the same bits beside any other rows and keys.
#if defined(FOVEA_RUNTIME_KERNELS_ATTENTION_HALVES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_ATTENTION_HALVES_INL_H_
#undef FOVEA_RUNTIME_KERNELS_ATTENTION_HALVES_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_ATTENTION_HALVES_INL_H_
#endif

#include <string.h>

#include <type_traits>

#include "runtime/base/arm_extensions.h"
#include "runtime/kernels/attention_lanes-inl.h"

// Whether this is compiled, and whether the processor is asked for the instruction at run time.
#undef FOVEA_ATTENTION_HALVES
#undef FOVEA_ATTENTION_ASKS_HALVES
#if FOVEA_ATTENTION_SDOT && defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC)
#define FOVEA_ATTENTION_HALVES 1
#define FOVEA_ATTENTION_ASKS_HALVES 0
#elif FOVEA_ATTENTION_SDOT && !defined(HWY_COMPILE_ONLY_STATIC)
#define FOVEA_ATTENTION_HALVES 1
#define FOVEA_ATTENTION_ASKS_HALVES 1
#else
#define FOVEA_ATTENTION_HALVES 0
#define FOVEA_ATTENTION_ASKS_HALVES 0
#endif

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {

constexpr bool kHasHalves = kAttendsProducts && FOVEA_ATTENTION_HALVES;
#if FOVEA_ATTENTION_ASKS_HALVES
inline bool HasHalves() { return kHasHalves && ArmHasHalfVectors(); }
#else
constexpr bool HasHalves() { return kHasHalves; }
#endif
HWY_INLINE bool InHalves(const AttentionTile& tile) { return kHasHalves && tile.halves != nullptr; }

#if FOVEA_ATTENTION_HALVES

// Keys of a block [32 i, 32 i + 32) are one sum in f16. Weights are multiplied by 2^3 and values are below 2^6, so that
// it is at most 2^14; products of weights down to 2^-9 with values of 2^-8, the least that is no outlier, have all
// digits of f16.
constexpr size_t kHalfPart = 32;
constexpr int kHalfHeadRoom = 3;
constexpr float kHalfUnit = 1.0f / (1 << kHalfHeadRoom);
constexpr uint16_t kLeastHalf = 0x1c00, kOutlierHalf = 0x5400;  // 2^-8 and 2^6 as bits

using DHalves = hn::Repartition<uint16_t, D>;  // f16 as bits
constexpr size_t kHalfLanes = 2 * kLanes;

HWY_INLINE hn::Vec<DHalves> ToHalves(V low, V high) {
  return hn::Vec<DHalves>(vreinterpretq_u16_f16(vcvt_high_f16_f32(vcvt_f16_f32(low.raw), high.raw)));
}

// FMLA of f16 by a lane, which is of a register from v0 to v15 ("x").
constexpr uint32_t HalfByLane(uint32_t lane) { return 0x4f001000u | (lane & 3) << 20 | (lane >> 2) << 11; }

// Adds b * a lane of c to `sum`.
template <uint32_t kInstruction>
HWY_INLINE uint16x8_t AddHalfProduct(uint16x8_t sum, uint16x8_t b, uint16x8_t c) {
  __asm__ volatile(FOVEA_REGISTER_NUMBERS ".inst %c3 | .Lfovea_%0 | .Lfovea_%1 << 5 | .Lfovea_%2 << 16"
                   : "+w"(sum)
                   : "w"(b), "x"(c), "i"(kInstruction));
  return sum;
}

// Operations in f16 on each lane.
constexpr uint32_t kHalfAdd = 0x4e401400u, kHalfMul = 0x6e401c00u;
template <uint32_t kInstruction>
HWY_INLINE uint16x8_t OfHalves(uint16x8_t a, uint16x8_t b) {
  uint16x8_t result;
  __asm__(FOVEA_REGISTER_NUMBERS ".inst %c3 | .Lfovea_%0 | .Lfovea_%1 << 5 | .Lfovea_%2 << 16"
          : "=w"(result)
          : "w"(a), "w"(b), "i"(kInstruction));
  return result;
}
// sum + a * b
HWY_INLINE uint16x8_t AddOfHalves(uint16x8_t sum, uint16x8_t a, uint16x8_t b) {
  __asm__(FOVEA_REGISTER_NUMBERS ".inst %c3 | .Lfovea_%0 | .Lfovea_%1 << 5 | .Lfovea_%2 << 16"
          : "+w"(sum)
          : "w"(a), "w"(b), "i"(0x4e400c00u));
  return sum;
}

// ---- Values

// Values are packed as [32 columns][key][kHalfPanel], so that the distance of keys is constant.
constexpr size_t kHalfPanel = 32;

// Positions in the block of the outliers, in order, after their number: where a larger group would have its scores.
HWY_INLINE uint32_t* Outliers(const AttentionTile& tile) {
  static_assert(kAttentionLanes + 3 * kGroup / 2 * kScoreStride + kAttentionMaxBlock < kAttentionScoreFloats, "");
  return reinterpret_cast<uint32_t*>(tile.scores + kAttentionLanes + 3 * kGroup / 2 * kScoreStride);
}

// Writes a value, with zeros up to a multiple of kAttentionLanes, and returns whether f16 holds it well: magnitudes
// below 2^6, the largest at least 2^-8, or zeros only.
HWY_INLINE bool PackHalfValue(const float* from, size_t width, size_t panel_stride, uint16_t* to) {
  const D d;
  const DHalves dh;
  auto most = hn::Zero(dh);
  const auto pack = [&](size_t j, V low, V high) HWY_ATTR __attribute__((always_inline)) {
    const auto halves = ToHalves(low, high);
    most = hn::Max(most, hn::Add(halves, halves));  // without the sign
    hn::Store(halves, dh, to + j / kHalfPanel * panel_stride + j % kHalfPanel);
  };
  size_t j = 0;
  for (; j + kHalfLanes <= width; j += kHalfLanes) pack(j, hn::LoadU(d, from + j), hn::LoadU(d, from + j + kLanes));
  for (; j < RoundUpTo(width, kAttentionLanes); j += kHalfLanes) {
    const size_t n = width - HWY_MIN(j, width);
    pack(j, hn::LoadN(d, from + j, n), n > kLanes ? hn::LoadN(d, from + j + kLanes, n - kLanes) : hn::Zero(d));
  }
  const uint32_t largest = vmaxvq_u16(most.raw) / 2u;
  if (largest >= kLeastHalf) return largest < kOutlierHalf;
  for (j = 0; largest == 0 && j < width; ++j) {
    if (from[j] != 0.0f) return false;
  }
  return largest == 0;
}

// Packs the values of keys [begin, end), and zeros around them up to whole vectors of keys.
inline void PackHalfValues(const AttentionTile& tile, const KeySource& source, uint32_t begin, uint32_t end) {
  const size_t panel_stride = tile.block * kHalfPanel, panels = (tile.d_v + kHalfPanel - 1) / kHalfPanel;
  auto* values = reinterpret_cast<uint16_t*>(tile.packed_values);
  uint32_t *outliers = Outliers(tile), count = 0;
  const auto clear = [=](size_t key, size_t to) HWY_ATTR {
    for (size_t p = 0; key < to && p < panels; ++p) {
      memset(values + p * panel_stride + key * kHalfPanel, 0, (to - key) * kHalfPanel * sizeof(uint16_t));
    }
  };
  clear(begin / kLanes * kLanes, begin);
  clear(end, RoundUpTo(end, kLanes));
  for (uint32_t key = begin; key < end; ++key) {
    const float* from = PlainValueRow(tile, source, tile.Position(key));
    if (PackHalfValue(from, tile.d_v, panel_stride, values + key * kHalfPanel)) continue;
    clear(key, key + 1);
    outliers[++count] = key;
  }
  outliers[0] = count;
}

// ---- Weights times values

// Weights of a group in f16 are after its scores, in room for the scores of further rows, as [pair of rows][four keys]
// [row of the pair][key], so that a vector has weights of two rows.
constexpr size_t kPairStride = 2 * kScoreStride;  // in halves
static_assert(kGroup + kGroup / 2 <= kAttentionGroup, "");
HWY_INLINE uint16_t* HalvesOf(float* scores) { return reinterpret_cast<uint16_t*>(scores + kGroup * kScoreStride); }

// 2^x in f16 for scores x of eight keys, within 7e-4 of itself (2.2e-4 on average, rounding alone would be 2.1e-4); 0
// below -22.5. NaN stays NaN.
struct HalfWeights {
  uint16x8_t rests, powers, weights;

  // x = n + rest: rests, and 2^(n + 8) or, for the least n, 0.
  HWY_INLINE void Split(V base, const float* scores) {
    // In f32 the lowest bits of n + kMagic are the exponent of 2^(n + 8) in f16.
    constexpr float kLeast = -23.0f, kMagic = 0x1.8p23f + 23.0f;
    const D d;
    const V magic = hn::Set(d, kMagic), least = hn::Set(d, kLeast);
    V x0 = hn::Sub(hn::Load(d, scores), base), x1 = hn::Sub(hn::Load(d, scores + kLanes), base);
    x0 = V(vmaxq_f32(x0.raw, least.raw)), x1 = V(vmaxq_f32(x1.raw, least.raw));
    const V n0 = hn::Add(x0, magic), n1 = hn::Add(x1, magic);
    rests = ToHalves(hn::Sub(x0, hn::Sub(n0, magic)), hn::Sub(x1, hn::Sub(n1, magic))).raw;
    const uint16x8_t low = vuzp1q_u16(vreinterpretq_u16_f32(n0.raw), vreinterpretq_u16_f32(n1.raw));
    powers = vshlq_n_u16(low, 10);
  }
  HWY_INLINE void Raise() {
    const auto constant = [](uint16_t bits) HWY_ATTR { return vdupq_n_u16(bits); };
    uint16x8_t p = AddOfHalves(constant(0x33c0), constant(0x2b0b), rests);          // 0.2422, 0.05502
    p = AddOfHalves(constant(0x398c), p, rests);                                    // 0.6934
    p = AddOfHalves(constant(0x3c00), p, rests);                                    // 1
    weights = OfHalves<kHalfMul>(OfHalves<kHalfMul>(p, powers), constant(0x1c00));  // 2^-8
  }
  // Weights of one row.
  HWY_INLINE void Store(uint16_t* to) const {
    vst1_u16(to, vget_low_u16(weights));
    vst1_u16(to + kHalfLanes, vget_high_u16(weights));
  }
};

// c [kM][kAttentionLanes] += weights / 2^kHalfHeadRoom * values of 4 * `fours` keys.
template <size_t kM>
HWY_INLINE void AddHalves(const uint16_t* weights, const uint16_t* values, size_t fours, float* c, size_t c_stride) {
  const D d;
  const DHalves dh;
  constexpr size_t kN = kAttentionLanes / kHalfLanes;
  hn::Vec<DHalves> sums[kM][kN];
  HWY_UNROLL(6)
  for (size_t r = 0; r < kM; ++r) {
    HWY_UNROLL(2)
    for (size_t n = 0; n < kN; ++n) sums[r][n] = hn::Zero(dh);
  }
  const auto add = [&](auto key, const hn::Vec<DHalves>* pairs) HWY_ATTR __attribute__((always_inline)) {
    constexpr uint32_t kKey = decltype(key)::value;
    HWY_UNROLL(2)
    for (size_t n = 0; n < kN; ++n) {
      const auto column = hn::Load(dh, values + kKey * kHalfPanel + n * kHalfLanes);
      HWY_UNROLL(6)
      for (size_t r = 0; r < kM; ++r) {
        auto& sum = sums[r][n].raw;
        sum = r % 2 == 0 ? AddHalfProduct<HalfByLane(kKey)>(sum, column.raw, pairs[r / 2].raw)
                         : AddHalfProduct<HalfByLane(kLanes + kKey)>(sum, column.raw, pairs[r / 2].raw);
      }
    }
  };
  for (; fours > 0; --fours, weights += kHalfLanes, values += kLanes * kHalfPanel) {
    hn::Vec<DHalves> pairs[(kM + 1) / 2];
    HWY_UNROLL(3)
    for (size_t p = 0; p < (kM + 1) / 2; ++p) pairs[p] = hn::LoadU(dh, weights + p * kPairStride);
    add(std::integral_constant<uint32_t, 0>(), pairs);
    add(std::integral_constant<uint32_t, 1>(), pairs);
    add(std::integral_constant<uint32_t, 2>(), pairs);
    add(std::integral_constant<uint32_t, 3>(), pairs);
  }
  const V unit = hn::Set(d, kHalfUnit);
  HWY_UNROLL(6)
  for (size_t r = 0; r < kM; ++r) {
    HWY_UNROLL(2)
    for (size_t n = 0; n < kN; ++n) {
      const float16x8_t sum = vreinterpretq_f16_u16(sums[r][n].raw);
      float* to = c + r * c_stride + n * kHalfLanes;
      const V low = hn::Load(d, to), high = hn::Load(d, to + kLanes);
      hn::Store(hn::MulAdd(V(vcvt_f32_f16(vget_low_f16(sum))), unit, low), d, to);
      hn::Store(hn::MulAdd(V(vcvt_high_f32_f16(sum)), unit, high), d, to + kLanes);
    }
  }
}

// The same for six rows and a whole panel, whose sums, weights and two pairs of columns take 31 of 32 registers, more
// than gcc 12 keeps there: v0 to v2 are weights, v3 to v6 columns, and v8 + 4 r + n is a sum. The first key's products
// are not added but set.
// clang-format off
#define FOVEA_HALVES_FMLA "0x4f001000"
#define FOVEA_HALVES_FMUL "0x4f009000"
// Products of six weights for a key and column n of its value.
#define FOVEA_HALVES(instruction, key, n, column)                                                                     \
  ".irp r,0,1,2,3,4,5\n\t"                                                                                            \
  ".inst " instruction " | (" key " << 20) | ((\\r & 1) << 11) | ((\\r >> 1) << 16) | (" column " << 5) | (8 + " n    \
  " + 4 * \\r)\n\t"                                                                                                   \
  ".endr\n\t"
#define FOVEA_HALVES_KEY(instruction, key, second, next) \
  "ldp q5, q6, [%[values], #" second "]\n\t"             \
  FOVEA_HALVES(instruction, key, "0", "3")               \
  FOVEA_HALVES(instruction, key, "1", "4")               \
  next                                                   \
  FOVEA_HALVES(instruction, key, "2", "5")               \
  FOVEA_HALVES(instruction, key, "3", "6")
#define FOVEA_HALVES_KEYS(first)                                                           \
  "ldp q3, q4, [%[values]], #256\n\t"                                                      \
  "ldr q1, [%[weights], %[pair]]\n\t"                                                      \
  "ldr q2, [%[weights], %[pairs]]\n\t"                                                     \
  "ldr q0, [%[weights]], #16\n\t"                                                          \
  FOVEA_HALVES_KEY(first, "0", "-224", "ldp q3, q4, [%[values], #-192]\n\t")               \
  FOVEA_HALVES_KEY(FOVEA_HALVES_FMLA, "1", "-160", "ldp q3, q4, [%[values], #-128]\n\t")   \
  FOVEA_HALVES_KEY(FOVEA_HALVES_FMLA, "2", "-96", "ldp q3, q4, [%[values], #-64]\n\t")     \
  FOVEA_HALVES_KEY(FOVEA_HALVES_FMLA, "3", "-32", "")
// Adds sums a and b to 16 floats of c.
#define FOVEA_HALVES_WIDEN(a, b, at)            \
  "ldp q0, q1, [%[c], #" at "]\n\t"             \
  "ldp q2, q3, [%[c], #" at " + 32]\n\t"        \
  "fcvtl v4.4s, v" a ".4h\n\t"                  \
  "fcvtl2 v" a ".4s, v" a ".8h\n\t"             \
  "fcvtl v5.4s, v" b ".4h\n\t"                  \
  "fcvtl2 v" b ".4s, v" b ".8h\n\t"             \
  "fmla v0.4s, v4.4s, v6.4s\n\t"                \
  "fmla v1.4s, v" a ".4s, v6.4s\n\t"            \
  "fmla v2.4s, v5.4s, v6.4s\n\t"                \
  "fmla v3.4s, v" b ".4s, v6.4s\n\t"            \
  "stp q0, q1, [%[c], #" at "]\n\t"             \
  "stp q2, q3, [%[c], #" at " + 32]\n\t"
#define FOVEA_HALVES_ROW(s0, s1, s2, s3) \
  FOVEA_HALVES_WIDEN(s0, s1, "0")        \
  FOVEA_HALVES_WIDEN(s2, s3, "64")       \
  "add %[c], %[c], %[c_stride]\n\t"
// clang-format on

HWY_INLINE void AddSixHalves(const uint16_t* weights, const uint16_t* values, size_t fours, float* c, size_t c_stride) {
  static_assert(kHalfUnit == 0.125f && kHalfPanel == 32 && kLanes == 4, "");
  __asm__ volatile(FOVEA_HALVES_KEYS(FOVEA_HALVES_FMUL)
                   "subs %[fours], %[fours], #1\n\t"
                   "b.eq 2f\n\t"
                   "1:\n\t"
                   FOVEA_HALVES_KEYS(FOVEA_HALVES_FMLA)
                   "subs %[fours], %[fours], #1\n\t"
                   "b.ne 1b\n\t"
                   "2:\n\t"
                   "fmov v6.4s, #0.125\n\t"
                   FOVEA_HALVES_ROW("8", "9", "10", "11")
                   FOVEA_HALVES_ROW("12", "13", "14", "15")
                   FOVEA_HALVES_ROW("16", "17", "18", "19")
                   FOVEA_HALVES_ROW("20", "21", "22", "23")
                   FOVEA_HALVES_ROW("24", "25", "26", "27")
                   FOVEA_HALVES_ROW("28", "29", "30", "31")
                   : [weights] "+r"(weights), [values] "+r"(values), [fours] "+r"(fours), [c] "+r"(c)
                   : [c_stride] "r"(c_stride * sizeof(float)), [pair] "i"(kPairStride * sizeof(uint16_t)),
                     [pairs] "i"(2 * kPairStride * sizeof(uint16_t))
                   : "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v8", "v9", "v10", "v11", "v12", "v13",
                     "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27",
                     "v28", "v29", "v30", "v31");
}

// The sums of kM rows times shrink[r], plus weights times values [begin, end) of the block, without outliers.
template <size_t kM>
HWY_NOINLINE void AddHalfValues(const AttentionTile& tile, const uint16_t* weights, size_t begin, size_t end,
                                const float* shrink, float* out) {
  const D d;
  const size_t width = RoundUpTo(tile.d_v, kAttentionLanes);
  for (size_t r = 0; r < kM; ++r) {
    float* sums = out + r * width;
    if (shrink[r] == 1.0f) continue;
    const V factor = hn::Set(d, shrink[r]);
    for (size_t j = 0; j < width; j += 2 * kLanes) {
      const V low = hn::Load(d, sums + j), high = hn::Load(d, sums + j + kLanes);
      hn::Store(hn::Mul(low, factor), d, sums + j);
      hn::Store(hn::Mul(high, factor), d, sums + j + kLanes);
    }
  }
  const auto* panel = reinterpret_cast<const uint16_t*>(tile.packed_values);
  begin = begin / kLanes * kLanes, end = RoundUpTo(end, kLanes);
  for (size_t column = 0; column < width; column += kHalfPanel, panel += tile.block * kHalfPanel, out += kHalfPanel) {
    const size_t columns = HWY_MIN(width - column, kHalfPanel);
    for (size_t key = begin, part_end; key < end; key = part_end) {
      part_end = HWY_MIN(key / kHalfPart * kHalfPart + kHalfPart, end);
      const uint16_t *w = weights + 2 * key, *values = panel + key * kHalfPanel;
      const size_t fours = (part_end - key) / kLanes;
      if (kM == 6 && columns == kHalfPanel) {
        AddSixHalves(w, values, fours, out, width);
        continue;
      }
      for (size_t j = 0; j < columns; j += kAttentionLanes) AddHalves<kM>(w, values + j, fours, out + j, width);
    }
  }
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#endif  // per target
