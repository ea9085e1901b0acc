// Both products in int16: rows are words of two int16, and one instruction (VPDPWSSD) multiplies both elements of a
// word and adds them to a 32-bit lane. Queries and keys have a scale each; the value of key j is 2^level[j] times
// integers; weights are relative to the largest 2^(score + level) of their block. Sums of integers are exact.
#if defined(FOVEA_RUNTIME_KERNELS_ATTENTION_I16_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_ATTENTION_I16_INL_H_
#undef FOVEA_RUNTIME_KERNELS_ATTENTION_I16_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_ATTENTION_I16_INL_H_
#endif

#include <math.h>

#include "hwy/cache_control.h"
#include "runtime/kernels/attention_pack-inl.h"

#undef FOVEA_ATTENTION_I16
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL
#define FOVEA_ATTENTION_I16 1
#else
#define FOVEA_ATTENTION_I16 0
#endif

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {

constexpr bool kHasI16 = kAttendsProducts && FOVEA_ATTENTION_I16;
HWY_INLINE bool InI16(const AttentionTile& tile) { return kHasI16 && tile.products == Products::kI16; }

#if FOVEA_ATTENTION_I16

struct I16Step {
  HWY_INLINE V operator()(V row, V key, V /*factor*/, V sum) const {
#if HWY_COMPILER_GCC_ACTUAL
    // gcc 12 copies the sum before and after the intrinsic. Volatile: its scheduler would otherwise need more registers
    // than there are for the sums.
    asm volatile("vpdpwssd %2, %1, %0" : "+v"(sum.raw) : "v"(row.raw), "v"(key.raw));
    return sum;
#else
    const hn::RebindToSigned<D> di;
    const hn::Repartition<int16_t, D> d16;
    auto none = hn::Zero(di);
    return hn::BitCast(D(), hn::ReorderWidenMulAccumulate(di, hn::BitCast(d16, row), hn::BitCast(d16, key),
                                                          hn::BitCast(di, sum), none));
#endif
  }
};

// ---- Queries and keys

// The level of each key of the block, and 2^-level. That is NaN for a value that is not finite: then the sums of all
// rows that are multiplied with it are NaN (AttentionTile::careful).
HWY_INLINE float* Levels(const AttentionTile& tile) { return tile.value_factors; }
HWY_INLINE float* LevelFactors(const AttentionTile& tile) { return tile.value_factors + tile.block; }

// The largest integer of a query or key of d_k elements, so that an int32 holds their product.
HWY_INLINE float MostI16(size_t d_k) {
  const float most = floorf(sqrtf(2147483392.0f / static_cast<float>(d_k)));
  return HWY_MIN(most, 32767.0f);
}

// Magnitudes as integers, so that infinities and NaN are the largest.
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> Magnitude(V x) { return hn::BitCast(hn::RebindToSigned<D>(), hn::Abs(x)); }

// The nearest integer of a number that is not too large for one. (Highway's NearestInt also allows larger numbers.)
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> Integer(V x) {
  return hn::Vec<hn::RebindToSigned<D>>{_mm512_cvtps_epi32(x.raw)};
}

// Words of two integers: elements of `low`, and of `high` above them.
HWY_INLINE V Words(hn::Vec<hn::RebindToSigned<D>> low, hn::Vec<hn::RebindToSigned<D>> high) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(D(), hn::Or(hn::And(low, hn::Set(di, 0xffff)), hn::ShiftLeft<16>(high)));
}

// Magnitudes below this count as 0, because the factor that makes them integers would not be finite.
constexpr float kLeastI16 = 1e-30f;

inline void NarrowI16(const AttentionTile& tile) {
  const D d;
  const hn::RebindToSigned<D> di;
  const hn::Rebind<int16_t, D> d16;
  const size_t stride = MostWords(tile.d_k);
  const float limit = MostI16(tile.d_k);
  for (size_t r = 0; r < tile.row_count; ++r) {
    AttentionRow& row = tile.rows[r];
    float* words = tile.query_words + r * stride;
    const float* q = row.q;
    if (r + 4 < tile.row_count) {
      for (size_t j = 0; j < tile.d_k; j += 16) hwy::Prefetch(tile.rows[r + 4].q + j);
    }
    auto magnitudes = hn::Zero(di);
    ForVectors(
        d, tile.d_k, [&](size_t j, auto lanes) HWY_ATTR __attribute__((always_inline)) {
          magnitudes = hn::Max(magnitudes, Magnitude(lanes.Load(d, q + j)));
        });
    const float most = hn::GetLane(hn::BitCast(d, hn::Set(di, hn::ReduceMax(di, magnitudes))));
    const V factor = hn::Set(d, most > kLeastI16 ? limit / most : 0.0f);
    auto* to = reinterpret_cast<int16_t*>(words);
    ForVectors(
        d, tile.d_k, [=](size_t j, auto lanes) HWY_ATTR __attribute__((always_inline)) {
          lanes.Store(hn::DemoteTo(d16, Integer(hn::Mul(lanes.Load(d, q + j), factor))), d16, to + j);
        });
    if (tile.d_k % 2 != 0) to[tile.d_k] = 0;
    row.words = words;
    row.factor = most / limit;
  }
}

// Packs keys [key, end), at most kLanes; lanes past the end repeat the last key.
HWY_INLINE void PackKeysI16(const AttentionTile& tile, const KeySource& source, size_t key, size_t end, float* to) {
  const D d;
  const hn::RebindToSigned<D> di;
  const KeyVector<kLanes> keys(tile, source, key, end);
  const uint8_t* rows[kLanes];
  keys.Find(source, rows);
  float* transposed = tile.key_words;
  V factors;
  WithElement(source.type, [&](auto element) HWY_ATTR {
    using T = decltype(element);
    factors = keys.template Factors<T>(d, source, KeyScale(tile));
    PackRows<T, kLanes>(
        rows, tile.d_k, [](V x) HWY_ATTR { return x; }, transposed);
  });
  // Keys whose values are not packed have weights of 0.
  hn::Store(hn::Zero(d), d, Levels(tile) + key);
  hn::Store(hn::Zero(d), d, LevelFactors(tile) + key);
  const size_t d_k = tile.d_k;
  auto magnitudes = hn::Zero(di);
  for (size_t j = 0; j < d_k; ++j) magnitudes = hn::Max(magnitudes, Magnitude(hn::Load(d, transposed + j * kLanes)));
  const V most = hn::BitCast(d, magnitudes), limit = hn::Set(d, MostI16(d_k));
  hn::Store(hn::Mul(hn::Div(most, limit), factors), d, tile.key_factors + key);
  const V factor = hn::IfThenElseZero(hn::Gt(most, hn::Set(d, kLeastI16)), hn::Div(limit, most));
  const auto rounded = [=](size_t j)
                           HWY_ATTR { return Integer(hn::Mul(factor, hn::Load(d, transposed + j * kLanes))); };
  for (size_t j = 0; j + 1 < d_k; j += 2, to += kPanel) hn::Store(Words(rounded(j), rounded(j + 1)), d, to);
  if (d_k % 2 != 0) hn::Store(Words(rounded(d_k - 1), hn::Zero(di)), d, to);
}

// ---- Values

// Integers of values are at most 2^12, and weights such that an int32 holds the sum over kI16Part keys, or a shorter
// block: the log 2 of the largest weight, less what rounding may add.
constexpr int32_t kValueBits = 12;
constexpr size_t kI16Part = 128;
HWY_INLINE float WeightBits(uint32_t block) { return (block <= 64 ? 13.0f : 12.0f) - 0.003f; }

// The level of values whose largest elements have these magnitudes: 2^kValueBits times 2^level exceeds them. Not lower
// than -90, so that sums over values of 0 are finite.
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> LevelsOf(hn::Vec<hn::RebindToSigned<D>> magnitudes) {
  const hn::RebindToSigned<D> di;
  return hn::Max(hn::Sub(hn::ShiftRight<23>(magnitudes), hn::Set(di, 126 + kValueBits)), hn::Set(di, -90));
}

// Packs the values of keys `key`, which is even, and key + 1 (zeros past the end): one word per element.
HWY_INLINE void PackValuesI16(const AttentionTile& tile, const KeySource& source, size_t key, size_t end, float* to) {
  const D d;
  const hn::RebindToSigned<D> di;
  const float* even = ValueRow(tile, source, tile.Position(static_cast<uint32_t>(key)));
  const bool both = key + 1 < end;
  const float* odd = both ? ValueRow(tile, source, tile.Position(static_cast<uint32_t>(key + 1)), 1) : even;
  const size_t d_v = tile.d_v;
  auto evens = hn::Zero(di), odds = hn::Zero(di);
  ForVectors(
      d, d_v, [&](size_t j, auto lanes) HWY_ATTR __attribute__((always_inline)) {
        evens = hn::Max(evens, Magnitude(lanes.Load(d, even + j)));
        odds = hn::Max(odds, Magnitude(lanes.Load(d, odd + j)));
      });
  // The magnitudes of both in every pair of lanes.
  auto most = hn::Max(hn::InterleaveLower(di, evens, odds), hn::InterleaveUpper(di, evens, odds));
  most = hn::Max(most, hn::Shuffle1032(most));
  most = hn::Max(most, hn::ReverseBlocks(di, most));
  most = hn::Max(most, hn::SwapAdjacentBlocks(most));
  const auto infinite = hn::Ge(most, hn::Set(di, 0x7f800000));
  const auto levels = hn::IfThenZeroElse(infinite, LevelsOf(most));
  const V factors = hn::BitCast(d, hn::ShiftLeft<23>(hn::Sub(hn::Set(di, 127), levels)));  // 2^-level
  const size_t count = both ? 2 : 1;
  hn::StoreN(hn::ConvertTo(d, levels), d, Levels(tile) + key, count);
  hn::StoreN(hn::IfThenElse(hn::RebindMask(d, infinite), hn::Set(d, NAN), factors), d, LevelFactors(tile) + key, count);
  const V even_factor = hn::DupEven(factors), odd_factor = both ? hn::DupOdd(factors) : hn::Zero(d);
  ForVectors(
      d, d_v, [=](size_t j, auto lanes) HWY_ATTR __attribute__((always_inline)) {
        const auto low = Integer(hn::Mul(lanes.Load(d, even + j), even_factor));
        const auto high = Integer(hn::Mul(lanes.Load(d, odd + j), odd_factor));
        hn::Store(Words(low, high), d, to + j);
      });
}

// Packs a vector of keys from `key` on, and their values as far as they are among [begin, end).
HWY_INLINE void PackI16(const AttentionTile& tile, const KeySource& source, size_t key, size_t begin, size_t end) {
  const size_t words = (tile.d_k + 1) / 2, width = RoundUpTo(tile.d_v, kAttentionLanes);
  PackKeysI16(tile, source, key, end, tile.packed_keys + key / kPanel * kPanel * words + key % kPanel);
  for (size_t i = HWY_MAX(key, begin / 2 * 2); i < HWY_MIN(key + kLanes, end); i += 2) {
    PackValuesI16(tile, source, i, end, tile.packed_values + i / 2 * width);
  }
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#endif  // per target
