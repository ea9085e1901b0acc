// Attention sinks: a row begins as if it had seen a key of this score whose value is zero (arXiv 2309.17453; gpt-oss).
#include "runtime/attention/terms.h"

namespace fovea {

constexpr float kLog2E = 1.44269504f;

void SinkTerm::StartRow(const RowPlace& place, AttentionRow* row) {
  row->max = kLog2E * context_.spec.weighting.sinks[place.head];
}

// The weight of the sink, whose score is the maximum so far.
void SinkTerm::StartChunk(uint32_t, uint32_t, AttentionTile* tile) {
  for (uint32_t i = 0; i < tile->row_count; ++i) tile->sums[size_t{i} * kAttentionLanes] = 1.0f;
}

}  // namespace fovea
