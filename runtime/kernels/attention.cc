// The attention kernel: a tile is cut into groups of rows (attention_group-inl.h), and its results are finished.
#include "runtime/kernels/attention.h"

#include <limits>

#include "runtime/base/sort_by_key.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/attention.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "runtime/kernels/attention_group-inl.h"
#include "runtime/kernels/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace {

// f<kM>(tile, first row) for all rows, in groups.
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

struct AttendGroups {
  template <size_t kM>
  HWY_INLINE void operator()(const AttentionTile& tile, size_t row) const {
    AttendGroup<kM>(tile, row);
  }
};
struct ChooseGroups {
  template <size_t kM>
  HWY_INLINE void operator()(const AttentionTile& tile, size_t row) const {
    ChooseGroup<kM>(tile, row);
  }
};

void Attend(const AttentionTile& tile) { ForGroups(tile, AttendGroups()); }
void Choose(const AttentionTile& tile) {
  if constexpr (kAttendsTopK) ForGroups(tile, ChooseGroups());
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
      if (InI16(tile) && !(sum == sum)) inverse = sum;  // sums of integers are never NaN
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
      FinishWeights(row, count, inverse, dense && tile.repeats && !tile.terms.has_sinks);
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
    if (InI16(tile)) spoilt = hn::Or(spoilt, hn::IsNaN(hn::Load(d, tile.sums + r * kAttentionLanes)));
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

#if !FOVEA_ATTENTION_ASKS && !FOVEA_ATTENTION_ASKS_HALVES
constexpr
#endif
    AttentionKernels
    MakeAttentionKernels() {
  return {{true, kHasBf16, HasI8(), kHasI16},
          static_cast<uint16_t>(kInPlaceRows),
          HasHalves(),
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
