// Term of a score: a bias that is linear in the distance of query and key, at any distance (ALiBi, arXiv 2108.12409).
#if defined(FOVEA_RUNTIME_KERNELS_ATTENTION_TERM_SLOPE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_ATTENTION_TERM_SLOPE_INL_H_
#undef FOVEA_RUNTIME_KERNELS_ATTENTION_TERM_SLOPE_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_ATTENTION_TERM_SLOPE_INL_H_
#endif

#include "runtime/kernels/attention_distances-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {

HWY_INLINE bool HasSlope(const AttentionTile& tile, const AttentionRow& row) {
  return row.terms.slope != 0.0f && HasDistances(tile, row);
}

HWY_INLINE void ApplySlope(const AttentionTile& tile, const AttentionRow& row, float* scores, size_t from, size_t to) {
  const D d;
  const V slope = hn::Set(d, row.terms.slope * ScoreUnit(tile));
  const int64_t own = row.terms.distances.coordinate;
  for (size_t i = from; i < to; i += kLanes) {
    V distance;
    if (tile.index == nullptr && !HasCoordinates(tile)) {
      const int64_t first = int64_t{tile.first} + static_cast<int64_t>(i) * tile.step - own;
      const V step = hn::Set(d, static_cast<float>(tile.step));
      distance = hn::MulAdd(hn::Iota(d, 0), step, hn::Set(d, static_cast<float>(first)));
    } else {
      HWY_ALIGN int32_t at[kLanes];
      HWY_ALIGN float lanes[kLanes];
      hn::Store(HasCoordinates(tile) ? hn::LoadU(hn::RebindToSigned<D>(), tile.terms.distances.coordinates + i)
                                     : Positions(tile, row, i),
                hn::RebindToSigned<D>(), at);
      for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] = static_cast<float>(at[lane] - own);
      distance = hn::Load(d, lanes);
    }
    hn::Store(hn::MulAdd(slope, distance, hn::Load(d, scores + i)), d, scores + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#endif  // per target
