// Selects the top-k keys of a row: a list of about 2 k keys, cut to the best k whenever it is full.
#if defined(FOVEA_RUNTIME_KERNELS_ATTENTION_TOP_K_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_ATTENTION_TOP_K_INL_H_
#undef FOVEA_RUNTIME_KERNELS_ATTENTION_TOP_K_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_ATTENTION_TOP_K_INL_H_
#endif

#include <float.h>

#include "runtime/kernels/attention_score-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {

using DU = hn::RebindToUnsigned<D>;
using Keys = hn::Vec<DU>;

// Calls f(scores, keys) for the list, kLanes entries at a time; lanes past the end have hidden scores.
template <class F>
HWY_INLINE void ForEntries(const TopKeys& top, const F f) {
  const D d;
  size_t i = 0;
  for (; i + kLanes <= top.count; i += kLanes) f(hn::LoadU(d, top.scores + i), hn::LoadU(DU(), top.keys + i));
  if (i == top.count) return;
  const size_t n = top.count - i;
  const V scores = hn::IfThenElse(hn::FirstN(d, n), hn::LoadN(d, top.scores + i, n), hn::Set(d, kHidden));
  f(scores, hn::LoadN(DU(), top.keys + i, n));
}

HWY_INLINE size_t CountAbove(const TopKeys& top, float score) {
  const V bound = hn::Set(D(), score);
  size_t count = 0;
  ForEntries(top, [&](V scores, Keys) HWY_ATTR { count += hn::CountTrue(D(), hn::Gt(scores, bound)); });
  return count;
}

// Counts the keys with this score at positions up to `key`.
HWY_INLINE size_t CountTies(const TopKeys& top, float score, uint32_t key) {
  const D d;
  const V tie = hn::Set(d, score);
  const Keys bound = hn::Set(DU(), key);
  size_t count = 0;
  ForEntries(top, [&](V scores, Keys keys) HWY_ATTR {
    count += hn::CountTrue(d, hn::And(hn::Eq(scores, tie), hn::RebindMask(d, hn::Le(keys, bound))));
  });
  return count;
}

// Finds by bisection a score that at most `keep` entries exceed: exactly `keep`, or it is the score of the next
// entries. *above: the number that exceed it.
HWY_INLINE float Threshold(const TopKeys& top, size_t* above) {
  V least = hn::Set(D(), FLT_MAX), most = hn::Set(D(), kHidden);
  ForEntries(top, [&](V scores, Keys) HWY_ATTR {
    least = hn::Min(least, hn::IfThenElse(hn::Gt(scores, hn::Set(D(), kHidden)), scores, least));
    most = hn::Max(most, scores);
  });
  float low = SmallestLane(D(), least), high = LargestLane(D(), most);
  *above = CountAbove(top, low);
  if (*above <= top.keep) return low;
  *above = CountAbove(top, FLT_MAX);
  if (*above > top.keep) return *above = 0, high;  // infinities
  high = HWY_MIN(high, FLT_MAX);
  while (*above < top.keep) {
    const float middle = 0.5f * low + 0.5f * high;
    if (!(middle > low && middle < high)) break;
    const size_t count = CountAbove(top, middle);
    if (count > top.keep) {
      low = middle;
    } else {
      high = middle, *above = count;
    }
  }
  return high;
}

// Drops all but the `keep` best: higher scores first, then lower positions. The list keeps its order.
inline HWY_NOINLINE void KeepTop(TopKeys* top) {
  if (top->count <= top->keep) return;
  const D d;
  size_t above;
  const float threshold = Threshold(*top, &above);
  // Among the keys whose score equals the threshold, keeps those up to the position `last`.
  const size_t ties = top->keep - above;
  uint32_t last = UINT32_MAX;
  if (ties == 0) {
    last = 0;
  } else if (CountTies(*top, threshold, last) > ties) {
    uint32_t low = 0;
    while (low < last) {
      const uint32_t middle = low + (last - low) / 2;
      if (CountTies(*top, threshold, middle) >= ties) {
        last = middle;
      } else {
        low = middle + 1;
      }
    }
  }
  const V bound = hn::Set(d, threshold);
  const Keys last_key = hn::Set(DU(), last);
  uint32_t count = 0;
  ForEntries(*top, [&](V scores, Keys keys) HWY_ATTR {
    auto kept = hn::Gt(scores, bound);
    if (ties > 0) kept = hn::Or(kept, hn::And(hn::Eq(scores, bound), hn::RebindMask(d, hn::Le(keys, last_key))));
    hn::CompressStore(keys, hn::RebindMask(DU(), kept), DU(), top->keys + count);
    count += static_cast<uint32_t>(hn::CompressStore(scores, kept, d, top->scores + count));
  });
  top->count = count;
  top->least = threshold;
}

// Positions of keys [i, i + kLanes) of the block; undefined past its end.
HWY_INLINE Keys PositionsAt(const AttentionTile& tile, size_t i) {
  const DU d;
  if (tile.index != nullptr) return hn::LoadU(d, tile.index + i);
  return hn::Add(hn::Set(d, tile.first), hn::Mul(hn::Iota(d, static_cast<uint32_t>(i)), hn::Set(d, tile.step)));
}

// Appends the scores of one row that reach its bound, in order.
HWY_INLINE void ChooseAmong(const AttentionTile& tile, const AttentionRow& row, const float* scores) {
  const D d;
  TopKeys& top = *row.top;
  for (size_t i = row.begin / kLanes * kLanes; i < row.end; i += kLanes) {
    const V x = hn::Load(d, scores + i);
    const auto chosen = [&]() HWY_ATTR {
      return hn::And(hn::Ge(x, hn::Set(d, top.least)), hn::Gt(x, hn::Set(d, kHidden)));
    };
    if (hn::AllFalse(d, chosen())) continue;
    if (top.count + kLanes > top.capacity) KeepTop(&top);
    const auto kept = chosen();
    hn::CompressStore(PositionsAt(tile, i), hn::RebindMask(DU(), kept), DU(), top.keys + top.count);
    top.count += static_cast<uint32_t>(hn::CompressStore(x, kept, d, top.scores + top.count));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#endif  // per target
