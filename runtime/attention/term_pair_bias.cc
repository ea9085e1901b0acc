// Bias or mask of each pair of a query and a key.
#include "runtime/attention/terms.h"

namespace fovea {

void PairBiasTerm::StartRow(const RowPlace& place, AttentionRow* row) {
  const PairBias& pairs = context_.call.pair_bias;
  const size_t in_segment = place.position - place.piece.start;
  const size_t at_row = pairs.segment_stride == PairBias::kByRow
                            ? place.row * pairs.row_stride
                            : place.piece.segment * pairs.segment_stride + in_segment * pairs.row_stride;
  row->terms.pairs = BytesAfter<const uint8_t>(pairs.data, at_row + place.head * pairs.head_stride);
}

}  // namespace fovea
