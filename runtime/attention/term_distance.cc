// Positions and coordinates of queries and keys, between which distances are measured.
#include <algorithm>

#include "runtime/attention/terms.h"
#include "runtime/base/nearest.h"

namespace fovea {

void DistanceTerm::Start(AttentionTile* tile) {
  const PositionsPart& positions = context_.spec.positions;
  TileDistances& distances = tile->terms.distances;
  distances.max_distance = context_.spec.score.max_distance;
  distances.axes = positions.axes;
  if (kAttendsCoordinates && positions.HasCoordinates()) {
    distances.coordinates = context_.Scratch<int32_t>(ScratchPart::kCoordinates);
    distances.row_coordinates = context_.Scratch<int32_t>(ScratchPart::kRowCoordinates);
  }
}

void DistanceTerm::StartHead(const Piece& piece, uint32_t, AttentionTile*) {
  const PositionsPart& positions = context_.spec.positions;
  if (kAttendsCoordinates && positions.coordinates != nullptr) {
    const size_t set = piece.segment % positions.coordinate_sets;
    coordinates_ = positions.coordinates + set * positions.axes * positions.coordinate_positions;
  }
  if (kAttendsCoordinates && positions.row_coordinates) {
    row_coordinates_ = context_.call.row_coordinates + size_t{piece.key_row} * positions.axes;
  }
}

void DistanceTerm::StartRow(const RowPlace& place, AttentionRow* row) {
  const PositionsPart& positions = context_.spec.positions;
  RowDistances& distances = row->terms.distances;
  distances.apart = place.position < positions.apart;
  distances.coordinate = row->position;
  if (kAttendsCoordinates && positions.HasCoordinates()) {
    distances.place = place.index * positions.axes;
    auto* coordinates = context_.Scratch<int32_t>(ScratchPart::kRowCoordinates) + distances.place;
    CoordinatesAt(place.position, 1, coordinates);
    distances.coordinate = coordinates[0];
  } else if (positions.query_stride > 1 && place.position > positions.apart) {
    const uint64_t at = positions.apart + uint64_t{place.position - positions.apart} * positions.query_stride;
    distances.coordinate = static_cast<int32_t>(std::min<uint64_t>(at, INT32_MAX));
  }
}

void DistanceTerm::CoordinatesAt(uint32_t position, size_t step, int32_t* to) const {
  const PositionsPart& positions = context_.spec.positions;
  for (size_t axis = 0; axis < positions.axes; ++axis) {
    to[axis * step] = coordinates_ != nullptr ? coordinates_[axis * positions.coordinate_positions + position]
                                              : NearestWhole(row_coordinates_[position * positions.axes + axis]);
  }
}

void DistanceTerm::PlaceKeys(uint32_t from, uint32_t to, AttentionTile* tile) const {
  auto* coordinates = context_.Scratch<int32_t>(ScratchPart::kCoordinates);
  // The kernels read whole vectors.
  const auto before = from / kAttentionLanes * kAttentionLanes;
  const auto after = static_cast<uint32_t>(RoundUp(to, kAttentionLanes));
  for (size_t axis = 0; axis < tile->terms.distances.axes; ++axis) {
    std::fill(coordinates + axis * tile->block + before, coordinates + axis * tile->block + from, 0);
    std::fill(coordinates + axis * tile->block + to, coordinates + axis * tile->block + after, 0);
  }
  for (uint32_t i = from; i < to; ++i) CoordinatesAt(tile->Position(i), tile->block, coordinates + i);
}

}  // namespace fovea
