// The attention kernel: scores, the running softmax (or another weighting) and the weighted sum of values.
#include "runtime/kernels/attention.h"

#include <math.h>

#include <limits>

#include "runtime/base/sort_by_key.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/attention.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "runtime/kernels/attention_top_k-inl.h"
#include "runtime/kernels/kernels.h"
#include "runtime/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace {

// 2^x for x <= 0; exactly 1 for 0 and exactly 0 below -126.5 and for -infinity. NaN stays NaN: a maximum that loses one
// NaN operand loses the first.
HWY_INLINE V Weight(V x) {
  const D d;
  return FastExp2(d, hn::Max(hn::Set(d, -127.0f), x));
}

// The factors by which weights fade at `position`, a vector of numbers; 0 around a center that is NaN.
HWY_INLINE V FadeAt(const AttentionTile& tile, const AttentionRow& row, V position) {
  const D d;
  const V distance = hn::Sub(position, hn::Set(d, row.center));
  const V fade = Weight(hn::Mul(hn::Set(d, tile.fade), hn::Mul(distance, distance)));
  return hn::IfThenElseZero(hn::Eq(distance, distance), fade);
}

// Fades the weights [from, to) of the current block, whose keys are consecutive.
HWY_INLINE void Fade(const AttentionTile& tile, const AttentionRow& row, float* weights, size_t from, size_t to) {
  const D d;
  for (size_t i = from; i < to; i += kLanes) {
    const V position = hn::Iota(d, static_cast<float>(tile.first + i));
    hn::Store(hn::Mul(hn::Load(d, weights + i), FadeAt(tile, row, position)), d, weights + i);
  }
}

// Finite for any maximum: before the first key any base gives weights of 0.
HWY_INLINE float BaseOf(float max) { return max == kHidden ? 0.0f : max; }

// Replaces the scores of kM rows by weights relative to the new maximum; shrink[r] is the factor for the old sums.
template <size_t kM>
HWY_INLINE void Softmax(AttentionRow* rows, float* sums, float* scores, size_t from, size_t to,
                        float* HWY_RESTRICT shrink) {
  const D d;
  constexpr size_t kPadded = (kM + kLanes - 1) / kLanes * kLanes;
  HWY_ALIGN float factors[kPadded] = {};
  float bases[kM];
  for (size_t r = 0; r < kM; ++r) {
    const float* row_scores = scores + r * kScoreStride;
    // NaN is either skipped or becomes the maximum, regardless of the scores around it.
    V max = hn::Set(d, kHidden);
    for (size_t i = from; i < to; i += kLanes) max = hn::Max(hn::Load(d, row_scores + i), max);
    const float new_max = HWY_MAX(rows[r].max, LargestLane(d, max));
    bases[r] = BaseOf(new_max);
    factors[r] = rows[r].max - bases[r];
    rows[r].max = new_max;
  }
  for (size_t i = 0; i < kPadded; i += kLanes) hn::Store(Weight(hn::Load(d, factors + i)), d, factors + i);
  for (size_t r = 0; r < kM; ++r) {
    float* row_scores = scores + r * kScoreStride;
    const V base = hn::Set(d, bases[r]);
    V sum = hn::Mul(hn::Load(d, sums + r * kAttentionLanes), hn::Set(d, factors[r]));
    for (size_t i = from; i < to; i += kLanes) {
      const V weight = Weight(hn::Sub(hn::Load(d, row_scores + i), base));
      hn::Store(weight, d, row_scores + i);
      sum = hn::Add(sum, weight);
    }
    hn::Store(sum, d, sums + r * kAttentionLanes);
    shrink[r] = factors[r];
  }
}

// The score whose weight is the sum of both weights (log-sum-exp).
HWY_INLINE float Joined(float a, float b) {
  const float most = HWY_MAX(a, b);
  return most == kHidden ? kHidden : most + log2f(exp2f(a - most) + exp2f(b - most));
}

// The score of a key that is visited again.
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

// Turns scores [from, to) of kM rows into weights; shrink[r] is the factor for the old sums.
template <size_t kM>
HWY_INLINE void WeighGroup(const AttentionTile& tile, size_t first_row, float* scores, size_t from, size_t to,
                           float* HWY_RESTRICT shrink) {
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

// sum += weight * value, [width]; sums are padded to whole vectors.
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

// The weighted sum of one row over values [begin, end), value by value: the same order, but values of weight 0 are
// skipped, so that their NaN and infinity do not matter.
HWY_NOINLINE void AddWeighed(const AttentionTile& tile, const float* weights, size_t begin, size_t end, float shrink,
                             float* sum) {
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

template <size_t kM>
HWY_NOINLINE void AttendGroup(const AttentionTile& tile, size_t first_row) {
  uint32_t begin, end;
  float* scores = ScoreGroup<kM>(tile, tile.rows + first_row, &begin, &end);
  if (scores == nullptr) return;
  float shrink[kM];
  const size_t from = begin / kLanes * kLanes, to = RoundUpTo(end, kLanes);
  WeighGroup<kM>(tile, first_row, scores, from, to, shrink);
  if (kRowsI8 && tile.value_factors != nullptr) ScaleWeights<kM>(tile, scores, from, end);

  const size_t width = RoundUpTo(tile.d_v, kAttentionLanes);
  const size_t vectors = RoundUpTo(tile.d_v, kLanes) / kLanes;
  float* out = tile.sum_of_values + first_row * width;
  const auto multiply_in_place = [&](auto element) HWY_ATTR {
    MultiplyValuesInPlace<decltype(element), kM>(tile, scores, begin, end, shrink, out);
  };
  if (WithElementInPlace<kM>(tile, multiply_in_place)) return;
  const auto multiply = [&](auto step, size_t first, size_t last) HWY_ATTR {
    const float* weights = scores + first;
    for (size_t n = 0; n < vectors; n += kColumns) {
      Columns<kM, Into::kShrunk, decltype(step)>(
          [=](size_t r, size_t i) HWY_ATTR { return weights[r * kScoreStride + i]; }, NoFactors(),
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
HWY_NOINLINE void ChooseGroup(const AttentionTile& tile, size_t first_row) {
  AttentionRow* rows = tile.rows + first_row;
  uint32_t begin, end;
  const float* scores = ScoreGroup<kM>(tile, rows, &begin, &end);
  if (scores == nullptr) return;
  for (size_t r = 0; r < kM; ++r) {
    if (rows[r].begin < rows[r].end) ChooseAmong(tile, rows[r], scores + r * kScoreStride);
  }
}

// Calls f<kM>(tile, first row) for all rows, in groups.
template <class F>
HWY_INLINE void ForGroups(const AttentionTile& tile, const F f) {
  size_t row = 0;
  const size_t count = tile.row_count;
  for (; row + kGroup <= count; row += kGroup) f.template operator()<kGroup>(tile, row);
  if constexpr (kGroup > 8 && !kSmall) {
    if (row + 8 <= count) f.template operator()<8>(tile, row), row += 8;
  }
  while (kGroup > 4 && row + 4 <= count) f.template operator()<4>(tile, row), row += 4;
  if constexpr (!kSmall) {
    if (row + 3 == count) f.template operator()<3>(tile, row), row += 3;
    if (row + 2 <= count) f.template operator()<2>(tile, row), row += 2;
  }
  for (; row < count; ++row) f.template operator()<1>(tile, row);
}

struct AttendRows {
  template <size_t kM>
  HWY_INLINE void operator()(const AttentionTile& tile, size_t row) const {
    AttendGroup<kM>(tile, row);
  }
};
struct ChooseRows {
  template <size_t kM>
  HWY_INLINE void operator()(const AttentionTile& tile, size_t row) const {
    ChooseGroup<kM>(tile, row);
  }
};

void Attend(const AttentionTile& tile) { ForGroups(tile, AttendRows()); }
void Choose(const AttentionTile& tile) {
  if constexpr (kAttendsTopK) ForGroups(tile, ChooseRows());
}

// Turns scores into weights with the final maximum and sum. Merged scores far from 0 are rounded coarsely (by 1 % at
// -1e5), but their weights are known to sum to 1.
void FinishWeights(const AttentionRow& row, size_t count, float inverse, bool joined) {
  const D d;
  const V max = hn::Set(d, BaseOf(row.max)), factor = hn::Set(d, inverse);
  V sums = hn::Zero(d);
  for (size_t i = 0; i < count; i += kLanes) {
    const size_t n = HWY_MIN(count - i, kLanes);
    const V weight = hn::Mul(Weight(hn::Sub(hn::LoadN(d, row.weights + i, n), max)), factor);
    hn::StoreN(weight, d, row.weights + i, n);
    sums = hn::Add(sums, hn::IfThenElseZero(hn::FirstN(d, n), weight));
  }
  const float sum = hn::ReduceSum(d, sums);
  if (!joined || !(sum > 0.0f)) return;
  const V again = hn::Set(d, 1.0f / sum);
  for (size_t i = 0; i < count; i += kLanes) {
    const size_t n = HWY_MIN(count - i, kLanes);
    hn::StoreN(hn::Mul(hn::LoadN(d, row.weights + i, n), again), d, row.weights + i, n);
  }
}

// Fades `count` final weights of a tap.
void FadeWeights(const AttentionTile& tile, const AttentionRow& row, size_t count) {
  const D d;
  const hn::RebindToSigned<D> di;
  for (size_t i = 0; i < count; i += kLanes) {
    const size_t n = HWY_MIN(count - i, kLanes);
    const V position = row.weight_keys == nullptr
                           ? hn::Iota(d, static_cast<float>(i))
                           : hn::ConvertTo(d, hn::LoadN(di, reinterpret_cast<const int32_t*>(row.weight_keys) + i, n));
    hn::StoreN(hn::Mul(hn::LoadN(d, row.weights + i, n), FadeAt(tile, row, position)), d, row.weights + i, n);
  }
}

void Finish(const AttentionTile& tile, uint32_t keys) {
  const D d;
  const size_t width = RoundUpTo(tile.d_v, kAttentionLanes);
  for (size_t r = 0; r < tile.row_count; ++r) {
    const AttentionRow& row = tile.rows[r];
    float inverse = 1.0f;
    if (tile.weigh == nullptr) {
      const float sum = hn::ReduceSum(d, hn::Load(d, tile.sums + r * kAttentionLanes));
      inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
    }
    const V factor = hn::Set(d, inverse);
    const float* from = tile.sum_of_values + r * width;
    size_t j = 0;
    for (; j + kLanes <= tile.d_v; j += kLanes) hn::StoreU(hn::Mul(hn::Load(d, from + j), factor), d, row.out + j);
    if (j < tile.d_v) hn::StoreN(hn::Mul(hn::Load(d, from + j), factor), d, row.out + j, tile.d_v - j);
    if (kKeepsWeights && row.weights != nullptr && tile.StoresScores()) {
      const bool dense = row.weight_keys == nullptr;
      const size_t count = dense ? keys : row.weight_count;
      if (tile.keeps_scores) {
        for (size_t i = 0; i < count; ++i) row.weights[i] /= ScoreUnit(tile);
        continue;
      }
      FinishWeights(row, count, inverse, dense && tile.repeats);
      if (kAttendsGaussian && tile.fade != 0.0f) FadeWeights(tile, row, count);
    }
  }
}

void FinishTopK(const AttentionTile& tile, const KeySource& source) {
  if constexpr (!kAttendsTopK) return;
  const D d;
  const size_t width = RoundUpTo(tile.d_v, kAttentionLanes);
  for (size_t r = 0; r < tile.row_count; ++r) {
    AttentionRow& row = tile.rows[r];
    KeepTop(row.top);
    SortByKey(row.top->keys, row.top->scores, row.top->count);
    const TopKeys& top = *row.top;
    row.max = kHidden;
    for (uint32_t i = 0; i < top.count; ++i) row.max = HWY_MAX(row.max, top.scores[i]);
    const auto store_for_taps = [&]() {
      for (uint32_t i = 0; i < top.count && row.weights != nullptr; ++i) {
        if (row.weight_keys != nullptr) row.weight_keys[i] = top.keys[i];
        row.weights[row.weight_keys != nullptr ? i : top.keys[i]] = top.scores[i];
      }
      row.weight_count = top.count;
    };
    if (tile.StoresScores()) store_for_taps();
    if (tile.weigh != nullptr) tile.weigh(top.scores, top.count, top.scores);
    if (!tile.StoresScores()) store_for_taps();
    V sum = hn::Zero(d);
    if (tile.weigh == nullptr) {
      const V max = hn::Set(d, BaseOf(row.max));
      for (size_t i = 0; i < top.count; i += kLanes) {
        const size_t n = HWY_MIN(top.count - i, kLanes);
        const V weight = hn::IfThenElseZero(hn::FirstN(d, n), Weight(hn::Sub(hn::LoadN(d, top.scores + i, n), max)));
        hn::StoreN(weight, d, top.scores + i, n);
        sum = hn::Add(sum, weight);
      }
    }
    hn::Store(sum, d, tile.sums + r * kAttentionLanes);
    float* out = tile.sum_of_values + r * width;
    for (uint32_t i = 0; i < top.count; ++i) {
      AddValue(top.scores[i], ValueRow(tile, source, top.keys[i]), tile.d_v, out);
    }
  }
}

// Whether the sum of any row is NaN.
bool Spoilt(const AttentionTile& tile) {
  const D d;
  const size_t width = RoundUpTo(tile.d_v, kAttentionLanes), used = RoundUpTo(tile.d_v, kLanes);
  auto spoilt = hn::MaskFalse(d);
  for (size_t r = 0; r < tile.row_count; ++r) {
    for (size_t j = 0; j < used; j += kLanes) {
      spoilt = hn::Or(spoilt, hn::IsNaN(hn::Load(d, tile.sum_of_values + r * width + j)));
    }
  }
  return !hn::AllFalse(d, spoilt);
}

void Unpack(const AttentionTile& tile, const KeySource& source, uint32_t begin, uint32_t end, float factor,
            float* rows) {
  for (uint32_t i = begin; i < end; ++i, rows += tile.d_k) {
    const float* key = KeyRow(tile, source, tile.Position(i));
    for (size_t j = 0; j < tile.d_k; ++j) rows[j] = factor * key[j];
  }
}

void Merge(const AttentionTile& part, uint32_t part_row, const AttentionTile& whole, uint32_t whole_row) {
  const D d;
  const AttentionRow& from = part.rows[part_row];
  AttentionRow& to = whole.rows[whole_row];
  const float max = HWY_MAX(from.max, to.max), base = BaseOf(max);
  const V from_factor = part.weigh != nullptr ? hn::Set(d, 1.0f) : Weight(hn::Set(d, from.max - base));
  const V to_factor = part.weigh != nullptr ? hn::Set(d, 1.0f) : Weight(hn::Set(d, to.max - base));
  to.max = max;
  const auto add = [&](const float* a, float* b, size_t count) HWY_ATTR {
    for (size_t i = 0; i < count; i += kLanes) {
      hn::Store(hn::MulAdd(from_factor, hn::Load(d, a + i), hn::Mul(to_factor, hn::Load(d, b + i))), d, b + i);
    }
  };
  add(part.sums + part_row * kAttentionLanes, whole.sums + whole_row * kAttentionLanes, kLanes);
  const size_t width = RoundUpTo(part.d_v, kAttentionLanes);
  add(part.sum_of_values + part_row * width, whole.sum_of_values + whole_row * width, RoundUpTo(part.d_v, kLanes));
}

}  // namespace

constexpr AttentionKernels MakeAttentionKernels() {
  return {{true, kHasBf16, kHasI8},
          static_cast<uint32_t>(kInPlaceRows),
          Narrow,
          Pack,
          Attend,
          Spoilt,
          Finish,
          Choose,
          FinishTopK,
          Unpack,
          Merge};
}

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {

FOVEA_EXPORT_KERNELS(Attention, attention)

}  // namespace fovea
#endif
