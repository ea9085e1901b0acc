// Bias by the distance of query and key (T5, arXiv 1910.10683; Swin, arXiv 2103.14030).
#include "runtime/attention/terms.h"

namespace fovea {

void DistanceBiasTerm::Start(AttentionTile* tile) {
  tile->terms.bias_axis_stride = context_.spec.heads * (2 * size_t{context_.spec.score.max_distance} + 1);
}

void DistanceBiasTerm::StartRow(const RowPlace& place, AttentionRow* row) {
  const size_t most = context_.spec.score.max_distance;
  row->terms.distance_bias = context_.spec.score.distance_bias + place.head * (2 * most + 1) + most;
}

}  // namespace fovea
