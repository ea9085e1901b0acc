// Attention of few rows over keys and values in place: a vector of keys is transposed in registers and multiplied at
// once, values are read in their stored type. Sums have the same order as with a packed block, so bits are the same.
#if defined(FOVEA_RUNTIME_KERNELS_ATTENTION_IN_PLACE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_ATTENTION_IN_PLACE_INL_H_
#undef FOVEA_RUNTIME_KERNELS_ATTENTION_IN_PLACE_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_ATTENTION_IN_PLACE_INL_H_
#endif

#include <type_traits>

#include "runtime/kernels/attention_words-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {

// Larger tiles use packed blocks, because all groups of rows share the cost of packing. Tuned by time on x86; by
// instructions on Arm, where packing f32 pays from 3 rows on; by code size without SIMD.
constexpr size_t kInPlaceRows = !kAttendsInPlace ? 0 : kGroup > 8 ? 8 : HWY_TARGET == HWY_SCALAR ? 1 : 4;

// Calls f(element, rows) and returns true if kM rows can read keys and values in place.
template <size_t kM, class F>
HWY_INLINE bool WithElementInPlace(const AttentionTile& tile, const F f) {
  if constexpr (kM <= kInPlaceRows) {
    if (tile.source == nullptr) return false;
    WithElement(tile.source->type, f);
    return true;
  }
  return false;
}

// Rows of one head are not contiguous, so hardware prefetchers do not follow them: rows this many keys ahead are
// prefetched into L2, a line at a time between other work.
constexpr size_t kFetchAhead = 64;
HWY_INLINE void Fetch(const uint8_t* line) { __builtin_prefetch(line, 0, 2); }

// Distance in bytes from the rows of `count` keys, from `key` on, to the rows to prefetch; 0: do not prefetch. With
// pages the distance is the same for all of them, unless the keys have gaps: then a prefetch may be useless.
HWY_INLINE size_t BytesAhead(const AttentionTile& tile, size_t key, size_t count, size_t stride) {
  if (key + count + kFetchAhead > tile.existing) return 0;
  const size_t position = tile.Position(static_cast<uint32_t>(key)), ahead = kFetchAhead * tile.step;
  return (tile.source->Row(position + ahead) - tile.source->Row(position)) * stride;
}

// ---- Keys

// Products of kM rows with kN vectors of the keys [key, end), written to scores [key, ...); lanes past the end repeat
// the last key.
template <typename T, size_t kM, size_t kN, class DB>
HWY_INLINE void MultiplyKeys(DB d, const AttentionTile& tile, const AttentionRow* rows, size_t key, size_t end,
                             float* HWY_RESTRICT scores) {
  using W = hn::Vec<DB>;
  constexpr size_t kVector = hn::MaxLanes(DB()), kKeys = kN * kVector;
  const KeySource& source = *tile.source;
  const size_t ahead = BytesAhead(tile, key, kKeys, source.k_stride);
  const uint8_t* keys[kKeys];
  W factors[kN], first[kM][kN], second[kM][kN];
  HWY_UNROLL(4)
  for (size_t n = 0; n < kN; ++n) {
    const KeyVector<kVector> vector(tile, source, key + n * kVector, end);
    vector.Find(source, keys + n * kVector);
    factors[n] = vector.template Factors<T>(d, source, KeyScale(tile));
    HWY_UNROLL(8)
    for (size_t r = 0; r < kM; ++r) first[r][n] = second[r][n] = hn::Zero(d);
  }
  // Must be inlined: otherwise sums would be kept in memory.
  const auto add = [&](auto part, size_t j, size_t count, W(&sums)[kM][kN]) HWY_ATTR __attribute__((always_inline)) {
    HWY_UNROLL(4)
    for (size_t n = 0; n < kN; ++n) {
      TransposeElements<decltype(part)::value, T>(d, keys + n * kVector, j, count, [&](size_t e, W x) HWY_ATTR {
        HWY_UNROLL(8)
        for (size_t r = 0; r < kM; ++r) sums[r][n] = hn::MulAdd(hn::Set(d, rows[r].q[j + e]), x, sums[r][n]);
      });
    }
  };
  constexpr size_t kLoads = 64 / 16;  // per line
  const auto add_whole = [&](size_t j, W(&sums)[kM][kN]) HWY_ATTR __attribute__((always_inline)) {
    if (ahead != 0) {
      // Prefetch the last byte of the line: if rows are not aligned, its first part belongs to the previous head.
      const size_t from = j / kLoaded<T> % kLoads * kKeys / kLoads;
      const size_t byte = HWY_MIN(j * sizeof(T) / 64 * 64 + 64, tile.d_k * sizeof(T)) - 1;
      for (size_t i = from; i < from + HWY_MAX(kKeys / kLoads, 1); ++i) Fetch(keys[i] + ahead + byte);
    }
    add(std::false_type(), j, kLoaded<T>, sums);
  };
  const size_t half = FirstHalf(tile.d_k);
  size_t j = half;
  for (; j + kLoaded<T> <= tile.d_k; j += kLoaded<T>) {
    if (j < 2 * half) add_whole(j - half, first);
    add_whole(j, second);
  }
  if (j < tile.d_k) add(std::true_type(), j, tile.d_k - j, second);
  HWY_UNROLL(8)
  for (size_t r = 0; r < kM; ++r) {
    HWY_UNROLL(4)
    for (size_t n = 0; n < kN; ++n) {
      const W sum = hn::Mul(hn::Add(first[r][n], second[r][n]), factors[n]);
      hn::Store(sum, d, scores + r * kScoreStride + key + n * kVector);
    }
  }
}

// Products of kM rows with keys [from, end) of the block; `from` is a multiple of kLanes.
template <typename T, size_t kM>
HWY_NOINLINE void MultiplyKeysInPlace(const AttentionTile& tile, const AttentionRow* rows, size_t from, size_t end,
                                      float* scores) {
  // Several chains of multiply-adds hide the latency of one. More keys might not stay in L1 between the steps that each
  // read a line: at some strides all lines map to few cache sets.
  constexpr size_t kN = HWY_MIN(HWY_MAX(16 / kLanes / kM, 1), 4);
  if constexpr (kM == 1 && kLanes > 4) {
    const hn::CappedTag<float, 4> narrow;
    if (end - from <= 4) return MultiplyKeys<T, kM, 1>(narrow, tile, rows, from, end, scores);
  }
  size_t key = from;
  for (; key + (kN - 1) * kLanes < end; key += kN * kLanes) MultiplyKeys<T, kM, kN>(D(), tile, rows, key, end, scores);
  if constexpr (kN > 1) {
    for (; key < end; key += kLanes) MultiplyKeys<T, kM, 1>(D(), tile, rows, key, end, scores);
  }
}

// ---- Values

// Values are processed column by column, few at a time, so that they stay in L1 for any stride.
struct ValueRows {
  static constexpr size_t kMost = 16;

  const uint8_t* rows[kMost];
  size_t count, ahead;

  ValueRows(const AttentionTile& tile, size_t key, size_t end) {
    const KeySource& source = *tile.source;
    const auto at = [&](size_t i) { return size_t{tile.Position(static_cast<uint32_t>(key + i))}; };
    count = HWY_MIN(kMost, end - key);
    if (tile.index == nullptr && tile.step == 1) {
      count = HWY_MIN(count, kPageRows - at(0) % kPageRows);  // contiguous
      const uint8_t* row = source.v + source.Row(at(0)) * source.v_stride;
      for (size_t i = 0; i < count; ++i, row += source.v_stride) rows[i] = row;
    } else {
      for (size_t i = 0; i < count; ++i) rows[i] = source.v + source.Row(at(i)) * source.v_stride;
    }
    ahead = BytesAhead(tile, key, count, source.v_stride);
  }
};

// kN vectors of columns of the sums of kM rows: sums * shrink + weights * values.
template <typename T, size_t kM, size_t kN, class Lanes>
HWY_INLINE void AddColumns(const ValueRows& values, size_t column, Lanes lanes, const float* weights,
                           const float* shrink, size_t width, float* HWY_RESTRICT out) {
  const D d;
  V sums[kM][kN];
  HWY_UNROLL(8)
  for (size_t r = 0; r < kM; ++r) {
    HWY_UNROLL(8)
    for (size_t n = 0; n < kN; ++n) {
      sums[r][n] = hn::Mul(hn::Load(d, out + r * width + n * kLanes), hn::Set(d, shrink[r]));
    }
  }
  for (size_t i = 0; i < values.count; ++i) {
    const uint8_t* value = values.rows[i] + column * sizeof(T);
    for (size_t byte = 0; values.ahead != 0 && byte < kN * kLanes * sizeof(T); byte += 64) {
      Fetch(value + values.ahead + byte);
    }
    HWY_UNROLL(8)
    for (size_t n = 0; n < kN; ++n) {
      const V x = LoadElements(d, reinterpret_cast<const T*>(value) + n * kLanes, lanes);
      HWY_UNROLL(8)
      for (size_t r = 0; r < kM; ++r) {
        sums[r][n] = hn::MulAdd(hn::Set(d, weights[r * kScoreStride + i]), x, sums[r][n]);
      }
    }
  }
  HWY_UNROLL(8)
  for (size_t r = 0; r < kM; ++r) {
    HWY_UNROLL(8)
    for (size_t n = 0; n < kN; ++n) hn::Store(sums[r][n], d, out + r * width + n * kLanes);
  }
}

// Scales the sums of kM rows by shrink, then adds values [begin, end) of the block.
template <typename T, size_t kM>
HWY_NOINLINE void MultiplyValuesInPlace(const AttentionTile& tile, const float* weights, size_t begin, size_t end,
                                        const float* shrink, float* out) {
  constexpr size_t kN = kM <= 2 ? 8 / kM : 2;
  const size_t width = RoundUpTo(tile.d_v, kAttentionLanes);
  float factors[kM];
  for (size_t r = 0; r < kM; ++r) factors[r] = shrink[r];
  for (size_t key = begin; key < end;) {
    const ValueRows values(tile, key, end);
    size_t j = 0;
    const auto add = [&](auto vectors, auto lanes) HWY_ATTR {
      AddColumns<T, kM, decltype(vectors)::value>(values, j, lanes, weights + key, factors, width, out + j);
      j += decltype(vectors)::value * kLanes;
    };
    while (j + kN * kLanes <= tile.d_v) add(std::integral_constant<size_t, kN>(), AllLanes());
    if (kN > 4 && j + 4 * kLanes <= tile.d_v) add(std::integral_constant<size_t, 4>(), AllLanes());
    if (kN > 2 && j + 2 * kLanes <= tile.d_v) add(std::integral_constant<size_t, 2>(), AllLanes());
    if (j + kLanes <= tile.d_v) add(std::integral_constant<size_t, 1>(), AllLanes());
    if (j < tile.d_v) add(std::integral_constant<size_t, 1>(), FirstLanes{tile.d_v - j});
    for (size_t r = 0; r < kM; ++r) factors[r] = 1.0f;
    key += values.count;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#endif  // per target
