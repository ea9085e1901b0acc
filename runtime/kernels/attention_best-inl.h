// The best-scoring keys of a row: a list of about twice as many, cut to the best whenever it is full.
#if defined(FOVEA_RUNTIME_KERNELS_ATTENTION_BEST_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_ATTENTION_BEST_INL_H_
#undef FOVEA_RUNTIME_KERNELS_ATTENTION_BEST_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_ATTENTION_BEST_INL_H_
#endif

#include <float.h>

#include "runtime/kernels/attention_score-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {

using DU = hn::RebindToUnsigned<D>;
using Keys = hn::Vec<DU>;

// f(scores, keys) for the list, kLanes entries at a time; lanes past the end have hidden scores.
template <class F>
HWY_INLINE void ForEntries(const BestKeys& best, const F f) {
  const D d;
  size_t i = 0;
  for (; i + kLanes <= best.count; i += kLanes) f(hn::LoadU(d, best.scores + i), hn::LoadU(DU(), best.keys + i));
  if (i == best.count) return;
  const size_t n = best.count - i;
  const V scores = hn::IfThenElse(hn::FirstN(d, n), hn::LoadN(d, best.scores + i, n), hn::Set(d, kHidden));
  f(scores, hn::LoadN(DU(), best.keys + i, n));
}

HWY_INLINE size_t CountAbove(const BestKeys& best, float score) {
  const V bound = hn::Set(D(), score);
  size_t count = 0;
  ForEntries(best, [&](V scores, Keys) HWY_ATTR { count += hn::CountTrue(D(), hn::Gt(scores, bound)); });
  return count;
}

// Of those with this score, the keys up to `key`.
HWY_INLINE size_t CountTies(const BestKeys& best, float score, uint32_t key) {
  const D d;
  const V tie = hn::Set(d, score);
  const Keys bound = hn::Set(DU(), key);
  size_t count = 0;
  ForEntries(best, [&](V scores, Keys keys) HWY_ATTR {
    count += hn::CountTrue(d, hn::And(hn::Eq(scores, tie), hn::RebindMask(d, hn::Le(keys, bound))));
  });
  return count;
}

// A score that no more than `keep` of the list exceed, by bisection: exactly so many, or it is the score of the next
// ones. *above: how many do.
HWY_INLINE float Threshold(const BestKeys& best, size_t* above) {
  V least = hn::Set(D(), FLT_MAX), most = hn::Set(D(), kHidden);
  ForEntries(best, [&](V scores, Keys) HWY_ATTR {
    least = hn::Min(least, hn::IfThenElse(hn::Gt(scores, hn::Set(D(), kHidden)), scores, least));
    most = hn::Max(most, scores);
  });
  float low = hn::ReduceMin(D(), least), high = hn::ReduceMax(D(), most);
  *above = CountAbove(best, low);
  if (*above <= best.keep) return low;
  *above = CountAbove(best, FLT_MAX);
  if (*above > best.keep) return *above = 0, high;  // infinities
  high = HWY_MIN(high, FLT_MAX);
  while (*above < best.keep) {
    const float middle = 0.5f * low + 0.5f * high;
    if (!(middle > low && middle < high)) break;
    const size_t count = CountAbove(best, middle);
    if (count > best.keep) {
      low = middle;
    } else {
      high = middle, *above = count;
    }
  }
  return high;
}

// Drops all but the `keep` best: higher scores first, then lower positions. Their order stays.
HWY_NOINLINE void KeepBest(BestKeys* best) {
  if (best->count <= best->keep) return;
  const D d;
  size_t above;
  const float threshold = Threshold(*best, &above);
  // Of the keys with the very threshold those up to the position `last`.
  const size_t ties = best->keep - above;
  uint32_t last = UINT32_MAX;
  if (ties == 0) {
    last = 0;
  } else if (CountTies(*best, threshold, last) > ties) {
    uint32_t low = 0;
    while (low < last) {
      const uint32_t middle = low + (last - low) / 2;
      if (CountTies(*best, threshold, middle) >= ties) {
        last = middle;
      } else {
        low = middle + 1;
      }
    }
  }
  const V bound = hn::Set(d, threshold);
  const Keys last_key = hn::Set(DU(), last);
  uint32_t count = 0;
  ForEntries(*best, [&](V scores, Keys keys) HWY_ATTR {
    auto kept = hn::Gt(scores, bound);
    if (ties > 0) kept = hn::Or(kept, hn::And(hn::Eq(scores, bound), hn::RebindMask(d, hn::Le(keys, last_key))));
    hn::CompressStore(keys, hn::RebindMask(DU(), kept), DU(), best->keys + count);
    count += static_cast<uint32_t>(hn::CompressStore(scores, kept, d, best->scores + count));
  });
  best->count = count;
  best->least = threshold;
}

// Positions of keys [i, i + kLanes) of the block; of those past its end anything.
HWY_INLINE Keys PositionsAt(const AttentionTile& tile, size_t i) {
  const DU d;
  if (tile.index != nullptr) return hn::LoadU(d, tile.index + i);
  return hn::Add(hn::Set(d, tile.first), hn::Mul(hn::Iota(d, static_cast<uint32_t>(i)), hn::Set(d, tile.step)));
}

// The scores of one row that reach its bar, as they come.
HWY_INLINE void ChooseAmong(const AttentionTile& tile, const AttentionRow& row, const float* scores) {
  const D d;
  BestKeys& best = *row.best;
  for (size_t i = row.begin / kLanes * kLanes; i < row.end; i += kLanes) {
    const V x = hn::Load(d, scores + i);
    const auto chosen = [&]() HWY_ATTR {
      return hn::And(hn::Ge(x, hn::Set(d, best.least)), hn::Gt(x, hn::Set(d, kHidden)));
    };
    if (hn::AllFalse(d, chosen())) continue;
    if (best.count + kLanes > best.capacity) KeepBest(&best);
    const auto kept = chosen();
    hn::CompressStore(PositionsAt(tile, i), hn::RebindMask(DU(), kept), DU(), best.keys + best.count);
    best.count += static_cast<uint32_t>(hn::CompressStore(x, kept, d, best.scores + best.count));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#endif  // per target
