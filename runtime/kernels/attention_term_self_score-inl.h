// Term of a score: a constant instead of the score of a query with the key at its own position (Reformer).
#if defined(FOVEA_RUNTIME_KERNELS_ATTENTION_TERM_SELF_SCORE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_ATTENTION_TERM_SELF_SCORE_INL_H_
#undef FOVEA_RUNTIME_KERNELS_ATTENTION_TERM_SELF_SCORE_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_ATTENTION_TERM_SELF_SCORE_INL_H_
#endif

#include "runtime/kernels/attention_distances-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {

HWY_INLINE bool HasSelfScore(const AttentionTile& tile, const AttentionRow& /*row*/) {
  return tile.terms.has_self_score;
}

HWY_INLINE void ApplySelfScore(const AttentionTile& tile, const AttentionRow& row, float* scores, size_t from,
                               size_t to) {
  const D d;
  const V self = hn::Set(d, ScoreUnit(tile) * tile.terms.self_score);
  const Int own = hn::Set(hn::RebindToSigned<D>(), row.position);
  for (size_t i = from; i < to; i += kLanes) {
    const auto is_self = hn::RebindMask(d, hn::Eq(Positions(tile, row, i), own));
    hn::Store(hn::IfThenElse(is_self, self, hn::Load(d, scores + i)), d, scores + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#endif  // per target
