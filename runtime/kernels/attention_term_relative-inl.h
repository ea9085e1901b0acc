// Term of a score: relative scores, products of the query with a vector for the bucket of its distance to the key, and
// of the key with another (Shaw et al., arXiv 1803.02155; DeBERTa, arXiv 2006.03654). They are computed before, once
// for each row and for each key of the block.
#if defined(FOVEA_RUNTIME_KERNELS_ATTENTION_TERM_RELATIVE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_ATTENTION_TERM_RELATIVE_INL_H_
#undef FOVEA_RUNTIME_KERNELS_ATTENTION_TERM_RELATIVE_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_ATTENTION_TERM_RELATIVE_INL_H_
#endif

#include "runtime/kernels/attention_distances-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {

HWY_INLINE bool HasRelative(const AttentionTile& tile, const AttentionRow& row) {
  return kAttendsRelative && HasDistances(tile, row) &&
         (row.terms.relative != nullptr || tile.terms.relative.of_keys != nullptr);
}

// sum + the relative scores of entries [i, i + kLanes), for all axes.
HWY_INLINE V AddRelative(const AttentionTile& tile, const AttentionRow& row, size_t i, V sum) {
  const D d;
  const hn::RebindToSigned<D> di;
  const TileRelative& relative = tile.terms.relative;
  const uint32_t axes = tile.terms.distances.axes;
  const size_t per_key = size_t{axes} * relative.count;
  int64_t distance;
  const bool consecutive = AreConsecutive(tile, row, i, &distance);
  for (size_t axis = 0; axis < axes; ++axis) {
    const Int bucket = consecutive ? hn::LoadU(di, relative.buckets + tile.terms.distances.max_distance + distance)
                                   : hn::GatherIndex(di, relative.buckets, Distances(tile, row, i, axis));
    const size_t first = axis * relative.count;
    if (row.terms.relative != nullptr) sum = hn::Add(sum, hn::GatherIndex(d, row.terms.relative + first, bucket));
    if (relative.of_keys != nullptr) {
      const Int keys = hn::Mul(hn::Iota(di, 0), hn::Set(di, static_cast<int32_t>(per_key)));
      sum = hn::Add(sum, hn::GatherIndex(d, relative.of_keys + i * per_key + first, hn::Add(keys, bucket)));
    }
  }
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#endif  // per target
