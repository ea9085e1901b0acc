// Terms of a score: a bias, or a mask, for each pair of query and key.
#if defined(FOVEA_RUNTIME_KERNELS_ATTENTION_TERM_PAIR_BIAS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_ATTENTION_TERM_PAIR_BIAS_INL_H_
#undef FOVEA_RUNTIME_KERNELS_ATTENTION_TERM_PAIR_BIAS_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_ATTENTION_TERM_PAIR_BIAS_INL_H_
#endif

#include "runtime/kernels/attention_distances-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {

HWY_INLINE bool HasPairBias(const AttentionTile& tile, const AttentionRow& row) {
  return row.terms.pairs != nullptr && !tile.terms.pair_mask;
}
HWY_INLINE bool HasPairMask(const AttentionTile& tile, const AttentionRow& row) {
  return row.terms.pairs != nullptr && tile.terms.pair_mask;
}

// f(i, n, position) for the entries that the row sees, up to kLanes consecutive keys at a time.
template <class F>
HWY_INLINE void ForPairs(const AttentionTile& tile, const AttentionRow& row, const F f) {
  const bool contiguous = IsContiguous(tile);
  for (uint32_t i = row.begin; i < row.end; i += contiguous ? kLanes : 1) {
    f(i, contiguous ? HWY_MIN(row.end - i, kLanes) : size_t{1}, tile.Position(i));
  }
}

HWY_INLINE void ApplyPairBias(const AttentionTile& tile, const AttentionRow& row, float* scores, size_t /*from*/,
                              size_t /*to*/) {
  const D d;
  const V unit = hn::Set(d, ScoreUnit(tile));
  ForPairs(tile, row, [&](uint32_t i, size_t n, uint32_t position) HWY_ATTR {
    const V bias = hn::LoadN(d, static_cast<const float*>(row.terms.pairs) + position, n);
    hn::StoreN(hn::MulAdd(bias, unit, hn::LoadN(d, scores + i, n)), d, scores + i, n);
  });
}

HWY_INLINE void ApplyPairMask(const AttentionTile& tile, const AttentionRow& row, float* scores, size_t /*from*/,
                              size_t /*to*/) {
  const D d;
  const hn::RebindToSigned<D> d32;
  const hn::Rebind<uint8_t, D> d8;
  ForPairs(tile, row, [&](uint32_t i, size_t n, uint32_t position) HWY_ATTR {
    const auto seen = hn::LoadN(d8, static_cast<const uint8_t*>(row.terms.pairs) + position, n);
    const auto hides = hn::RebindMask(d, hn::Eq(hn::PromoteTo(d32, seen), hn::Zero(d32)));
    hn::StoreN(hn::IfThenElse(hides, hn::Set(d, kHidden), hn::LoadN(d, scores + i, n)), d, scores + i, n);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#endif  // per target
