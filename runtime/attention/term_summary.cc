// Summaries: a key for each group of keys, in a separate space, which every query sees (LongT5, arXiv 2112.07916).
#include <algorithm>
#include <utility>

#include "runtime/attention/terms.h"

namespace fovea {

void SummaryTerm::StartHead(const Piece& piece, uint32_t head, AttentionTile*) {
  const SummaryRows& rows = context_.call.summaries;
  const uint32_t kv_head = head / (context_.spec.heads / context_.spec.kv_heads);
  count_ = std::min(piece.keys / context_.spec.summaries.group, rows.segments.length(piece.segment));
  const uint32_t first = rows.segments.offsets[piece.segment];
  source_ = {};
  source_.k = rows.k.Vector<const uint8_t>(piece.segment, 0, first, kv_head), source_.k_stride = rows.k.row_stride;
  source_.v = rows.v.Vector<const uint8_t>(piece.segment, 0, first, kv_head), source_.v_stride = rows.v.row_stride;
  source_.type = context_.call.key_type;
}

// Distances are counted in groups, from the group that contains the row's position.
void SummaryTerm::Enter(uint32_t first_head, uint32_t turn, uint32_t heads, KeySource* source, AttentionTile* tile) {
  const SummaryPart& part = context_.spec.summaries;
  const uint32_t last = count_ - 1, most = part.max_distance;
  for (uint32_t i = 0; i < tile->row_count; ++i) {
    AttentionRow& row = tile->rows[i];
    const uint32_t group = static_cast<uint32_t>(row.position) / part.group;
    row.terms.distances.coordinate = static_cast<int32_t>(std::min(group, last));
    const size_t head = first_head + (turn + i) % heads;
    row.terms.distance_bias = part.bias == nullptr ? nullptr : part.bias + head * (2 * size_t{most} + 1) + most;
  }
  std::swap(*source, source_);
  tile->terms.distances.max_distance = most;
  tile->untapped = true;
}

void SummaryTerm::Leave(KeySource* source, AttentionTile* tile) {
  tile->untapped = false;
  tile->terms.distances.max_distance = context_.spec.score.max_distance;
  std::swap(*source, source_);
}

}  // namespace fovea
