// A group of rows and a block of keys: the running softmax (or another weighting) of its scores and the weighted sum of
// its values. Each group size is compiled in one of the files attention_*_row*.cc and called by attention.cc, because a
// single file with all sizes takes minutes to compile.
#if defined(FOVEA_RUNTIME_KERNELS_ATTENTION_GROUP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_ATTENTION_GROUP_INL_H_
#undef FOVEA_RUNTIME_KERNELS_ATTENTION_GROUP_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_ATTENTION_GROUP_INL_H_
#endif

#include <math.h>

#include "runtime/kernels/attention_top_k-inl.h"
#include "runtime/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {

// 2^x for x <= 0; exactly 1 for 0 and exactly 0 below -126.5 and for -infinity. NaN stays NaN: if a maximum drops one
// of its operands, it drops the first.
HWY_INLINE V Weight(V x) {
  const D d;
  return FastExp2(d, hn::Max(hn::Set(d, -127.0f), x));
}

// The factor of weights at `position`, a vector of positions; 0 if the center is NaN.
HWY_INLINE V FadeAt(const AttentionTile& tile, const AttentionRow& row, V position) {
  const D d;
  const V distance = hn::Sub(position, hn::Set(d, row.center));
  const V fade = Weight(hn::Mul(hn::Set(d, tile.fade), hn::Mul(distance, distance)));
  return hn::IfThenElseZero(hn::Eq(distance, distance), fade);
}

// Multiplies the weights [from, to) of the current block, whose keys are adjacent, by FadeAt.
HWY_INLINE void Fade(const AttentionTile& tile, const AttentionRow& row, float* weights, size_t from, size_t to) {
  const D d;
  for (size_t i = from; i < to; i += kLanes) {
    const V position = hn::Iota(d, static_cast<float>(tile.first + i));
    hn::Store(hn::Mul(hn::Load(d, weights + i), FadeAt(tile, row, position)), d, weights + i);
  }
}

// The finite base of the exponent: if no key was seen so far, any base gives the weights 0.
HWY_INLINE float BaseOf(float max) { return max == kHidden ? 0.0f : max; }

// The new maxima of `count` rows: the bases of their weights, and the factors of their former sums.
HWY_INLINE void RaiseMaxima(AttentionRow* rows, size_t count, const float* scores, size_t from, size_t to,
                            float* HWY_RESTRICT bases, float* HWY_RESTRICT shrink) {
  const D d;
  HWY_ALIGN float factors[(kGroup + kLanes - 1) / kLanes * kLanes] = {};
  for (size_t r = 0; r < count; ++r) {
    const float* row_scores = scores + r * kScoreStride;
    // A NaN is either skipped or ends up in the maximum, regardless of the scores before and after it.
    V max = hn::Set(d, kHidden);
    ForWholeVectors(
        d, to - from, [=](size_t i, AllLanes) HWY_ATTR { return hn::Load(d, row_scores + from + i); },
        [&max](size_t, AllLanes, V score) HWY_ATTR { max = hn::Max(score, max); });
    const float new_max = HWY_MAX(rows[r].max, LargestLane(d, max));
    bases[r] = BaseOf(new_max);
    factors[r] = rows[r].max - bases[r];
    rows[r].max = new_max;
  }
  for (size_t i = 0; i < count; i += kLanes) hn::Store(Weight(hn::Load(d, factors + i)), d, factors + i);
  for (size_t r = 0; r < count; ++r) shrink[r] = factors[r];
}

// Replaces the scores of kM rows by weights relative to the new maximum; shrink[r] is the factor of the former sums.
template <size_t kM>
HWY_INLINE void Softmax(AttentionRow* rows, float* sums, float* scores, size_t from, size_t to,
                        float* HWY_RESTRICT shrink) {
  const D d;
  float bases[kM];
  RaiseMaxima(rows, kM, scores, from, to, bases, shrink);
  for (size_t r = 0; r < kM; ++r) {
    float* row_scores = scores + r * kScoreStride;
    const V base = hn::Set(d, bases[r]);
    V sum = hn::Mul(hn::Load(d, sums + r * kAttentionLanes), hn::Set(d, shrink[r]));
    ForWholeVectors(
        d, to - from,
        [=](size_t i, AllLanes) HWY_ATTR { return Weight(hn::Sub(hn::Load(d, row_scores + from + i), base)); },
        [=, &sum](size_t i, AllLanes, V weight) HWY_ATTR {
          hn::Store(weight, d, row_scores + from + i);
          sum = hn::Add(sum, weight);
        });
    hn::Store(sum, d, sums + r * kAttentionLanes);
  }
}

#if FOVEA_ATTENTION_HALVES
// Writes weights of `count` rows in f16 to HalvesOf(scores), and keeps the scores. Sixteen keys on a grid that is fixed
// in the block are added in f16 first, so that a row's sum is the same in any group.
inline HWY_NOINLINE void SoftmaxHalves(const AttentionTile& tile, size_t first_row, size_t count, float* scores,
                                       size_t from, size_t to, float* HWY_RESTRICT shrink) {
  const D d;
  constexpr size_t kKeys = 2 * kHalfLanes;
  float bases[kGroup];
  RaiseMaxima(tile.rows + first_row, count, scores, from, to, bases, shrink);
  const size_t begin = from / kKeys * kKeys, end = RoundUpTo(to, kKeys);
  for (size_t r = 0; r < count; ++r) {
    float *row_scores = scores + r * kScoreStride, *row_sums = tile.sums + (first_row + r) * kAttentionLanes;
    uint16_t* halves = HalvesOf(scores) + r / 2 * kPairStride + r % 2 * kLanes;
    for (size_t i = begin; i < from; i += kLanes) hn::Store(hn::Set(d, kHidden), d, row_scores + i);
    for (size_t i = to; i < end; i += kLanes) hn::Store(hn::Set(d, kHidden), d, row_scores + i);
    const V base = hn::Set(d, bases[r] - kHalfHeadRoom);
    V low = hn::Zero(d), high = hn::Zero(d);
    for (size_t i = begin; i < end; i += kKeys) {
      HalfWeights weights[2];
      weights[0].Split(base, row_scores + i);
      weights[1].Split(base, row_scores + i + kHalfLanes);
      weights[0].Raise(), weights[1].Raise();
      weights[0].Store(halves + 2 * i);
      weights[1].Store(halves + 2 * (i + kHalfLanes));
      const float16x8_t sum = vreinterpretq_f16_u16(OfHalves<kHalfAdd>(weights[0].weights, weights[1].weights));
      low = hn::Add(low, V(vcvt_f32_f16(vget_low_f16(sum))));
      high = hn::Add(high, V(vcvt_high_f32_f16(sum)));
    }
    const V former = hn::Mul(hn::Load(d, row_sums), hn::Set(d, shrink[r]));
    hn::Store(hn::MulAdd(hn::Add(low, high), hn::Set(d, kHalfUnit), former), d, row_sums);
  }
}
#endif

#if FOVEA_ATTENTION_I16
// 2^x within 3e-6 of itself; 0 for -infinity. NaN stays NaN.
HWY_INLINE V WeightI16(V x) {
  const D d;
  const V r{_mm512_reduce_ps(x.raw, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)};  // x - floor(x)
  V p = hn::MulAdd(r, hn::Set(d, 1.342669e-02f), hn::Set(d, 5.224247e-02f));
  p = hn::MulAdd(r, p, hn::Set(d, 2.4128021e-01f));
  p = hn::MulAdd(r, p, hn::Set(d, 6.9304484e-01f));
  p = hn::MulAdd(r, p, hn::Set(d, 1.0f));
  return V{_mm512_scalef_ps(p.raw, x.raw)};  // p * 2^floor(x)
}

// For AttentionTile::careful: the factors of levels, 0 where the weight is, so that NaN there does not matter.
inline HWY_NOINLINE const float* FactorsOfSeen(const float* scores, float base, const float* factors, size_t from,
                                               size_t to, float* seen) {
  const D d;
  for (size_t i = from; i < to; i += kLanes) {
    const V weight = WeightI16(hn::Sub(hn::Load(d, scores + i), hn::Set(d, base)));
    hn::Store(hn::IfThenElseZero(hn::Ne(weight, hn::Zero(d)), hn::Load(d, factors + i)), d, seen + i);
  }
  return seen;
}

// Replaces the scores of kM rows by words of weights: keys i and i + 1 are at i / 2. A sum of weights times values is
// multiplied by gains[r] and added to shrink[r] times the former sums. A row's maximum is that of score + level.
template <size_t kM>
HWY_INLINE void SoftmaxI16(const AttentionTile& tile, AttentionRow* rows, float* sums, float* scores, size_t from,
                           size_t to, float* HWY_RESTRICT shrink, float* HWY_RESTRICT gains) {
  const D d;
  const hn::RebindToSigned<D> di;
  const hn::Repartition<int16_t, D> d16;
  constexpr size_t kPadded = (kM + kLanes - 1) / kLanes * kLanes;
  HWY_ALIGN float factors[2 * kPadded] = {};
  HWY_ALIGN float seen[kAttentionMaxBlock];
  float bases[kM];
  const float *levels = Levels(tile), bits = WeightBits(tile.block);
  for (size_t r = 0; r < kM; ++r) {
    float* row_scores = scores + r * kScoreStride;
    V most = hn::Set(d, kHidden);
    const auto raise = [&](size_t i) HWY_ATTR __attribute__((always_inline)) {
      const V score = hn::Add(hn::Load(d, row_scores + i), hn::Load(d, levels + i));
      hn::Store(score, d, row_scores + i);
      most = hn::Max(score, most);
    };
    size_t i = from;
    for (; i + kLanes < to; i += 2 * kLanes) raise(i), raise(i + kLanes);
    if (i < to) raise(i);
    const float block_max = LargestLane(d, most), max = HWY_MAX(rows[r].max, block_max), base = BaseOf(max);
    bases[r] = (block_max == kHidden ? base : block_max) - bits;
    factors[r] = rows[r].max - base;
    factors[kPadded + r] = bases[r] - base;
    rows[r].max = max;
  }
  for (size_t i = 0; i < 2 * kPadded; i += kLanes) hn::Store(Weight(hn::Load(d, factors + i)), d, factors + i);
  for (size_t r = 0; r < kM; ++r) {
    float* row_scores = scores + r * kScoreStride;
    const float* level_factors = LevelFactors(tile);
    if (tile.careful) level_factors = FactorsOfSeen(row_scores, bases[r], level_factors, from, to, seen);
    const V base = hn::Set(d, bases[r]);
    V sum = hn::Zero(d);
    const auto weigh = [&](size_t i) HWY_ATTR __attribute__((always_inline)) {
      const V weight = WeightI16(hn::Sub(hn::Load(d, row_scores + i), base));
      sum = hn::MulAdd(weight, hn::Load(d, level_factors + i), sum);
      return Integer(weight);
    };
    size_t i = from;
    for (; i + kLanes < to; i += 2 * kLanes) {
      const auto low = weigh(i), high = weigh(i + kLanes);
      hn::StoreU(hn::BitCast(d, hn::OrderedDemote2To(d16, low, high)), d, row_scores + i / 2);
    }
    if (i < to) hn::StoreU(hn::BitCast(d, hn::OrderedDemote2To(d16, weigh(i), hn::Zero(di))), d, row_scores + i / 2);
    float* row_sums = sums + r * kAttentionLanes;
    const V former = hn::Mul(hn::Load(d, row_sums), hn::Set(d, factors[r]));
    hn::Store(hn::MulAdd(sum, hn::Set(d, factors[kPadded + r]), former), d, row_sums);
    shrink[r] = factors[r];
    gains[r] = factors[kPadded + r];
  }
}
#endif

// The score whose weight is the sum of the weights of a and b: log2(2^a + 2^b).
HWY_INLINE float Joined(float a, float b) {
  const float most = HWY_MAX(a, b);
  return most == kHidden ? kHidden : most + log2f(exp2f(a - most) + exp2f(b - most));
}

// The score to keep for a key that is seen again.
HWY_INLINE float Repeated(const AttentionTile& tile, float before, float now) {
  return !tile.keeps_scores ? Joined(before, now) : before == kHidden ? now : before;
}

// Stores scores, or final weights, for a tap.
HWY_INLINE void StoreForTap(const AttentionTile& tile, AttentionRow* row, const float* values) {
  const bool scores = tile.StoresScores();
  for (uint32_t i = row->begin; i < row->end; ++i) {
    const uint32_t position = tile.Position(i);
    if (row->weight_keys != nullptr) {
      if (scores && values[i] == kHidden) continue;
      row->weight_keys[row->weight_count] = position;
      row->weights[row->weight_count++] = values[i];
    } else if (!scores) {
      row->weights[position] += values[i];
    } else {
      row->weights[position] = tile.repeats ? Repeated(tile, row->weights[position], values[i]) : values[i];
    }
  }
}

// Turns scores [from, to) of kM rows into weights; shrink[r] is the factor of the former sums, gains[r] with products
// in int16 that of the sums over this block.
template <size_t kM>
HWY_INLINE void WeighGroup(const AttentionTile& tile, size_t first_row, float* scores, size_t from, size_t to,
                           float* HWY_RESTRICT shrink, [[maybe_unused]] float* HWY_RESTRICT gains) {
  AttentionRow* rows = tile.rows + first_row;
  const auto store_for_taps = [&]() HWY_ATTR {
    for (size_t r = 0; kKeepsWeights && r < kM; ++r) {
      if (rows[r].weights != nullptr && !tile.untapped) StoreForTap(tile, &rows[r], scores + r * kScoreStride);
    }
  };
  const auto fade = [&]() HWY_ATTR {
    for (size_t r = 0; kAttendsGaussian && r < kM && tile.fade != 0.0f; ++r)
      Fade(tile, rows[r], scores + r * kScoreStride, from, to);
  };
  if (!kAttendsActivation || tile.weigh == nullptr) {
    store_for_taps();
#if FOVEA_ATTENTION_I16
    if (InI16(tile)) {
      SoftmaxI16<kM>(tile, rows, tile.sums + first_row * kAttentionLanes, scores, from, to, shrink, gains);
      return;
    }
#endif
#if FOVEA_ATTENTION_HALVES
    if (InHalves(tile)) return SoftmaxHalves(tile, first_row, kM, scores, from, to, shrink);
#endif
    Softmax<kM>(rows, tile.sums + first_row * kAttentionLanes, scores, from, to, shrink);
    fade();
    return;
  }
  if (tile.keeps_scores) store_for_taps();
  for (size_t r = 0; r < kM; ++r) {
    float* row_scores = scores + r * kScoreStride + from;
    tile.weigh(row_scores, to - from, row_scores);
    shrink[r] = 1.0f;
  }
  fade();
  if (!tile.keeps_scores) store_for_taps();
}

// sum += weight * value, [width]; sums are whole vectors.
HWY_INLINE void AddValue(float weight, const float* value, size_t width, float* sum) {
  const D d;
  const V factor = hn::Set(d, weight);
  size_t j = 0;
  for (; j + kLanes <= width; j += kLanes) {
    hn::Store(hn::MulAdd(factor, hn::LoadU(d, value + j), hn::Load(d, sum + j)), d, sum + j);
  }
  if (j < width) {
    hn::Store(hn::MulAdd(factor, hn::LoadN(d, value + j, width - j), hn::Load(d, sum + j)), d, sum + j);
  }
}

// The weighted sum of one row over values [begin, end), value by value in the same order, except that a weight of 0
// adds nothing, even if the value is not finite.
inline HWY_NOINLINE void AddWeighed(const AttentionTile& tile, const float* weights, size_t begin, size_t end,
                                    float shrink, float* sum) {
  const D d;
  const size_t width = RoundUpTo(tile.d_v, kAttentionLanes);
  for (size_t j = 0; j < width; j += kLanes) hn::Store(hn::Mul(hn::Load(d, sum + j), hn::Set(d, shrink)), d, sum + j);
  const auto add_pairs = [&](auto step) HWY_ATTR {
    for (size_t i = begin / 2; i < (end + 1) / 2; ++i) {
      AddValuePair(step, weights[i], tile.packed_values + i * width, RoundUpTo(tile.d_v, kLanes), sum);
    }
  };
  if (WithValueStep(tile, add_pairs)) return;
  for (size_t i = begin; i < end; ++i) {
    if (weights[i] != 0.0f) AddValue(weights[i], tile.packed_values + i * width, width, sum);
  }
}

// Multiplies weights [from, end) of kM rows by the scales of their values, in whole vectors. A weight of 0 stays 0.
template <size_t kM>
HWY_INLINE void ScaleWeights(const AttentionTile& tile, float* weights, size_t from, size_t end) {
  const D d;
  for (size_t i = from; i < end; i += kLanes) {
    if (const KeySource* source = tile.source; source != nullptr) {
      const KeyVector<kLanes> keys(tile, *source, i, end);
      for (size_t lane = 0; lane < kLanes; ++lane) {
        tile.value_factors[i + lane] = source->v_scales[keys.rows[lane] * source->v_scale_stride];
      }
    }
    const V factors = hn::Load(d, tile.value_factors + i);
    for (size_t r = 0; r < kM; ++r) {
      float* at = weights + r * kScoreStride + i;
      const V weight = hn::Load(d, at);
      hn::Store(hn::IfThenElseZero(hn::Ne(weight, hn::Zero(d)), hn::Mul(weight, factors)), d, at);
    }
  }
}

#if FOVEA_ATTENTION_HALVES
// Adds weights times `count` values to the sums of a row. Weights of 0 are skipped: the value may be infinite or NaN.
HWY_INLINE void AddValues(const float* weights, const float* const* values, size_t count, size_t d_v, float* out) {
  const D d;
  constexpr size_t kVectors = 8, kChunk = kVectors * kLanes;
  size_t j = 0;
  for (; j + kChunk <= d_v; j += kChunk) {
    V sums[kVectors];
    HWY_UNROLL(8) for (size_t n = 0; n < kVectors; ++n) sums[n] = hn::Load(d, out + j + n * kLanes);
    for (size_t i = 0; i < count; ++i) {
      if (weights[i] == 0.0f) continue;
      const V weight = hn::Set(d, weights[i]);
      const float* value = values[i] + j;
      HWY_UNROLL(8) for (size_t n = 0; n < kVectors; ++n) {
        sums[n] = hn::MulAdd(weight, hn::LoadU(d, value + n * kLanes), sums[n]);
      }
    }
    HWY_UNROLL(8) for (size_t n = 0; n < kVectors; ++n) hn::Store(sums[n], d, out + j + n * kLanes);
  }
  for (size_t i = 0; j < d_v && i < count; ++i) {
    if (weights[i] != 0.0f) AddValue(weights[i], values[i] + j, d_v - j, out + j);
  }
}

// Adds weights times outliers of [begin, end) to the sums of `count` rows, in f32.
inline HWY_NOINLINE void AddOutliers(const AttentionTile& tile, size_t first_row, size_t count, const float* scores,
                                     size_t begin, size_t end, float* out) {
  constexpr size_t kMost = 16;
  const D d;
  const uint32_t* outliers = Outliers(tile);
  for (uint32_t n = 1; n <= outliers[0];) {
    uint32_t keys[kMost];
    const float* values[kMost];
    size_t found = 0;
    for (; n <= outliers[0] && found < kMost; ++n) {
      if (outliers[n] < begin || outliers[n] >= end) continue;
      keys[found] = outliers[n];
      values[found++] = PlainValueRow(tile, *tile.halves, tile.Position(outliers[n]));
    }
    for (size_t r = 0; r < count; ++r) {
      const V base = hn::Set(d, BaseOf(tile.rows[first_row + r].max));
      HWY_ALIGN float weights[kMost];
      for (size_t i = 0; i < kMost; ++i) weights[i] = i < found ? scores[r * kScoreStride + keys[i]] : kHidden;
      for (size_t i = 0; i < found; i += kLanes) {
        hn::Store(Weight(hn::Sub(hn::Load(d, weights + i), base)), d, weights + i);
      }
      AddValues(weights, values, found, tile.d_v, out + r * RoundUpTo(tile.d_v, kAttentionLanes));
    }
  }
}
#endif

template <size_t kM>
HWY_INLINE void AttendRows(const AttentionTile& tile, size_t first_row) {
  uint32_t begin, end;
  float* scores = ScoreGroup<kM>(tile, tile.rows + first_row, &begin, &end);
  if (scores == nullptr) return;
  float shrink[kM], gains[kM];
  const size_t from = begin / kLanes * kLanes, to = RoundUpTo(end, kLanes);
  WeighGroup<kM>(tile, first_row, scores, from, to, shrink, gains);
  if (kRowsI8 && !InI16(tile) && tile.value_factors != nullptr) ScaleWeights<kM>(tile, scores, from, end);

  const size_t width = RoundUpTo(tile.d_v, kAttentionLanes);
  const size_t vectors = RoundUpTo(tile.d_v, kLanes) / kLanes;
  float* out = tile.sum_of_values + first_row * width;
#if FOVEA_ATTENTION_I16
  if (InI16(tile)) {
    for (size_t key = begin; key < end;) {
      const size_t part_end = HWY_MIN(key / kI16Part * kI16Part + kI16Part, end);
      const size_t first = key / 2, last = (part_end + 1) / 2;
      for (size_t n = 0; n < vectors; n += kColumns) {
        Columns<kM, Into::kValues, I16Step>(
            [=](size_t r, size_t i) HWY_ATTR { return scores + first + r * kScoreStride + i; }, NoFactors(),
            tile.packed_values + first * width + n * kLanes, width, last - first, out + n * kLanes, width,
            HWY_MIN(vectors - n, kColumns), shrink, gains);
      }
      for (float& factor : shrink) factor = 1.0f;
      key = part_end;
    }
    return;
  }
#endif
#if FOVEA_ATTENTION_HALVES
  if (InHalves(tile)) {
    AddHalfValues<kM>(tile, HalvesOf(scores), begin, end, shrink, out);
    if (Outliers(tile)[0] != 0) AddOutliers(tile, first_row, kM, scores, begin, end, out);
    return;
  }
#endif
  const auto multiply_in_place = [&](auto element) HWY_ATTR {
    MultiplyValuesInPlace<decltype(element), kM>(tile, scores, begin, end, shrink, out);
  };
  if (WithElementInPlace<kM>(tile, multiply_in_place)) return;
  const auto multiply = [&](auto step, size_t first, size_t last) HWY_ATTR {
    const float* weights = scores + first;
    for (size_t n = 0; n < vectors; n += kColumns) {
      Columns<kM, Into::kShrunk, decltype(step)>(
          [=](size_t r, size_t i) HWY_ATTR { return weights + r * kScoreStride + i; }, NoFactors(),
          tile.packed_values + first * width + n * kLanes, width, last - first, out + n * kLanes, width,
          HWY_MIN(vectors - n, kColumns), shrink);
    }
  };
  const auto multiply_pairs = [&](auto step) HWY_ATTR { multiply(step, begin / 2, (end + 1) / 2); };
  WithValueStep(tile, [&](auto) HWY_ATTR {
    for (size_t r = 0; r < kM; ++r) NarrowWeights(scores + r * kScoreStride, from, to);
  });
  if (tile.careful) {
    for (size_t r = 0; r < kM; ++r) {
      AddWeighed(tile, scores + r * kScoreStride, begin, end, shrink[r], out + r * width);
    }
    return;
  }
  if (!WithValueStep(tile, multiply_pairs)) multiply(DotStep(), begin, end);
}

template <size_t kM>
HWY_INLINE void ChooseRows(const AttentionTile& tile, size_t first_row) {
  AttentionRow* rows = tile.rows + first_row;
  uint32_t begin, end;
  const float* scores = ScoreGroup<kM>(tile, rows, &begin, &end);
  if (scores == nullptr) return;
  for (size_t r = 0; r < kM; ++r) {
    if (rows[r].begin < rows[r].end) ChooseAmong(tile, rows[r], scores + r * kScoreStride);
  }
}

// Whether a tile of this target has groups of kM rows.
template <size_t kM>
constexpr bool kIsGroup = kM == kGroup || kM == 1 || (kM == 4 && kGroup > 4) ||
                          (!kSmall && (kM == 2 || kM == 3 || (kM == 8 && kGroup > 8)));

// Adds the visible keys and values of a block to rows [first_row, first_row + kM) of a tile.
template <size_t kM>
HWY_NOINLINE void AttendGroup(const AttentionTile& tile, size_t first_row) {
  if constexpr (kIsGroup<kM>) AttendRows<kM>(tile, first_row);
}
// For top-k keys: the same rows select keys of a block.
template <size_t kM>
HWY_NOINLINE void ChooseGroup(const AttentionTile& tile, size_t first_row) {
  if constexpr (kIsGroup<kM> && kAttendsTopK) ChooseRows<kM>(tile, first_row);
}

// Groups of kM rows are compiled in another file if `storage` is extern, and in this file if it is empty.
#undef FOVEA_ATTENTION_GROUP
#define FOVEA_ATTENTION_GROUP(storage, kM)                             \
  storage template void AttendGroup<kM>(const AttentionTile&, size_t); \
  storage template void ChooseGroup<kM>(const AttentionTile&, size_t);

FOVEA_ATTENTION_GROUP(extern, 1)
FOVEA_ATTENTION_GROUP(extern, 2)
FOVEA_ATTENTION_GROUP(extern, 3)
FOVEA_ATTENTION_GROUP(extern, 4)
FOVEA_ATTENTION_GROUP(extern, 6)
FOVEA_ATTENTION_GROUP(extern, 8)
FOVEA_ATTENTION_GROUP(extern, 12)

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#endif  // per target
