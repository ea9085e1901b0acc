// Term of a score: a bias by the distance of query and key, for each axis (T5, Swin).
#if defined(FOVEA_RUNTIME_KERNELS_ATTENTION_TERM_DISTANCE_BIAS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_ATTENTION_TERM_DISTANCE_BIAS_INL_H_
#undef FOVEA_RUNTIME_KERNELS_ATTENTION_TERM_DISTANCE_BIAS_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_ATTENTION_TERM_DISTANCE_BIAS_INL_H_
#endif

#include "runtime/kernels/attention_distances-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {

HWY_INLINE bool HasDistanceBias(const AttentionTile& tile, const AttentionRow& row) {
  return row.terms.distance_bias != nullptr && HasDistances(tile, row);
}

HWY_INLINE void ApplyDistanceBias(const AttentionTile& tile, const AttentionRow& row, float* scores, size_t from,
                                  size_t to) {
  const D d;
  const V unit = hn::Set(d, ScoreUnit(tile));
  const TileDistances& distances = tile.terms.distances;
  const float* table = row.terms.distance_bias - distances.max_distance;
  for (size_t i = from; i < to; i += kLanes) {
    V score = hn::Load(d, scores + i);
    int64_t distance;
    if (AreConsecutive(tile, row, i, &distance)) {
      score = hn::MulAdd(hn::LoadU(d, row.terms.distance_bias + distance), unit, score);
    } else {
      for (size_t axis = 0; axis < distances.axes; ++axis) {
        const float* of_axis = table + axis * tile.terms.bias_axis_stride;
        score = hn::MulAdd(hn::GatherIndex(d, of_axis, Distances(tile, row, i, axis)), unit, score);
      }
    }
    hn::Store(score, d, scores + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#endif  // per target
