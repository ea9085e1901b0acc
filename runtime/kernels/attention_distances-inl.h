// Positions and distances of the keys of a block, a vector at a time, for the terms of a score.
#if defined(FOVEA_RUNTIME_KERNELS_ATTENTION_DISTANCES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_ATTENTION_DISTANCES_INL_H_
#undef FOVEA_RUNTIME_KERNELS_ATTENTION_DISTANCES_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_ATTENTION_DISTANCES_INL_H_
#endif

#include "runtime/kernels/attention_words-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {

using Int = hn::Vec<hn::RebindToSigned<D>>;

// Whether the block's keys are at consecutive positions.
HWY_INLINE bool IsContiguous(const AttentionTile& tile) { return tile.index == nullptr && tile.step == 1; }

HWY_INLINE bool HasCoordinates(const AttentionTile& tile) {
  return kAttendsCoordinates && tile.terms.distances.coordinates != nullptr;
}

// Whether the row has distances to the block's keys.
HWY_INLINE bool HasDistances(const AttentionTile& tile, const AttentionRow& row) {
  return !tile.terms.distances.apart && !row.terms.distances.apart;
}

// Positions of the keys of entries [i, i + kLanes); 0 for entries that the row does not see.
HWY_INLINE Int Positions(const AttentionTile& tile, const AttentionRow& row, size_t i) {
  const hn::RebindToSigned<D> di;
  const Int entry = hn::Add(hn::Iota(di, 0), hn::Set(di, static_cast<int32_t>(i)));
  Int position;
  if (tile.index != nullptr) {
    position = hn::LoadU(di, reinterpret_cast<const int32_t*>(tile.index) + i);
  } else {
    const Int first = hn::Set(di, static_cast<int32_t>(tile.first));
    position = hn::Add(first, hn::Mul(entry, hn::Set(di, static_cast<int32_t>(tile.step))));
  }
  const auto seen = hn::And(hn::Ge(entry, hn::Set(di, static_cast<int32_t>(row.begin))),
                            hn::Lt(entry, hn::Set(di, static_cast<int32_t>(row.end))));
  return hn::IfThenElseZero(seen, position);
}

// Clamped distances of entries [i, i + kLanes) along an axis, plus max_distance; in bounds for entries without a key.
HWY_INLINE Int Distances(const AttentionTile& tile, const AttentionRow& row, size_t i, size_t axis) {
  const hn::RebindToSigned<D> di;
  const TileDistances& distances = tile.terms.distances;
  const bool coordinates = HasCoordinates(tile);
  const int64_t most = distances.max_distance;
  const int64_t own =
      coordinates ? distances.row_coordinates[row.terms.distances.place + axis] : row.terms.distances.coordinate;
  const Int at = coordinates ? hn::LoadU(di, distances.coordinates + axis * tile.block + i) : Positions(tile, row, i);
  // Differences within these bounds are at most max_distance, so none overflows.
  const auto low = static_cast<int32_t>(HWY_MAX(own - most, int64_t{INT32_MIN}));
  const auto high = static_cast<int32_t>(HWY_MIN(own + most, int64_t{INT32_MAX}));
  const Int bounded = hn::Max(hn::Set(di, low), hn::Min(at, hn::Set(di, high)));
  return hn::Add(hn::Sub(bounded, hn::Set(di, static_cast<int32_t>(own))), hn::Set(di, static_cast<int32_t>(most)));
}

// Sets *distance to the distance of entry i, and returns true if the distances of entries [i, i + kLanes) follow it one
// by one, without being clamped.
HWY_INLINE bool AreConsecutive(const AttentionTile& tile, const AttentionRow& row, size_t i, int64_t* distance) {
  const int64_t most = tile.terms.distances.max_distance;
  *distance = int64_t{tile.first} + static_cast<int64_t>(i) - row.terms.distances.coordinate;
  return IsContiguous(tile) && !HasCoordinates(tile) && *distance >= -most &&
         *distance + static_cast<int64_t>(kLanes) - 1 <= most;
}

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#endif  // per target
