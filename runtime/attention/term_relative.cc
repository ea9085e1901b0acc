// Scores by distance and content (Shaw et al., arXiv 1803.02155; DeBERTa, arXiv 2006.03654).
#include <algorithm>

#include "runtime/attention/terms.h"
#include "runtime/kernels/kernels.h"

namespace fovea {

void RelativeTerm::Start(AttentionTile* tile) {
  const RelativeScores& relative = context_.spec.score.relative;
  tile->terms.relative.buckets = relative.buckets;
  tile->terms.relative.count = relative.bucket_count;
}

// y[i][axis][j] = row i of `copied` . row j of the head's table of the axis, for rows [begin, end) of the table.
void RelativeTerm::Multiply(uint32_t rows, const void* tables, DType type, uint32_t head, uint32_t begin, uint32_t end,
                            float* y) const {
  const AttentionSpec& spec = context_.spec;
  const uint32_t buckets = spec.score.relative.bucket_count, axes = spec.positions.axes;
  const auto multiply = type == DType::kF16 ? context_.kernels.gemm.f16 : context_.kernels.gemm.f32;
  GemmTile gemm = {};
  gemm.rows = rows;
  gemm.k = spec.d_k;
  gemm.x = context_.Scratch<float>(ScratchPart::kCopied);
  gemm.y_stride = size_t{axes} * buckets;
  for (size_t axis = 0; axis < axes; ++axis) {
    const size_t before = (axis * spec.heads + head) * RowBytes(type, uint64_t{buckets} * spec.d_k);
    for (uint32_t first = begin; first < end; first += kGemmTileColumns) {
      gemm.columns = std::min<size_t>(kGemmTileColumns, end - first);
      gemm.weights = static_cast<const uint8_t*>(tables) + before + RowBytes(type, uint64_t{first} * spec.d_k);
      gemm.y = y + axis * buckets + first;
      multiply(gemm);
    }
  }
}

// The buckets that the tile's rows need for keys at positions [first, last], which are few if keys and rows are all
// near or all far apart. Rounded to whole groups of columns, so that the matmul has the same bits in every range.
void RelativeTerm::BucketRange(const AttentionTile& tile, int64_t first, int64_t last, uint32_t* begin,
                               uint32_t* end) const {
  constexpr uint32_t kColumns = 16;
  const uint32_t buckets = tile.terms.relative.count;
  *begin = 0, *end = last < first ? 0 : buckets;
  if (last < first || context_.spec.positions.HasCoordinates()) return;
  const auto coordinate = [&](uint32_t i) { return int64_t{tile.rows[i].terms.distances.coordinate}; };
  int64_t low = coordinate(0), high = low;
  for (uint32_t i = 1; i < tile.row_count; ++i) {
    low = std::min(low, coordinate(i));
    high = std::max(high, coordinate(i));
  }
  const int64_t most = context_.spec.score.max_distance;
  const auto column = [&](int64_t distance) { return std::max(-most, std::min(distance, most)) + most; };
  const int32_t* all = tile.terms.relative.buckets;
  const auto range = std::minmax_element(all + column(first - high), all + column(last - low) + 1);
  *begin = static_cast<uint32_t>(*range.first) / kColumns * kColumns;
  *end = std::min((static_cast<uint32_t>(*range.second) / kColumns + 1) * kColumns, buckets);
}

void RelativeTerm::StartChunk(uint32_t head, uint32_t keys, AttentionTile* tile) {
  const AttentionSpec& spec = context_.spec;
  const RelativeScores& scores = spec.score.relative;
  if (scores.keys == nullptr) return;
  const size_t products = size_t{spec.positions.axes} * scores.bucket_count;
  auto* copied = context_.Scratch<float>(ScratchPart::kCopied);
  auto* relative = context_.Scratch<float>(ScratchPart::kRelative);
  for (uint32_t i = 0; i < tile->row_count; ++i) {
    AttentionRow& row = tile->rows[i];
    for (uint32_t j = 0; j < spec.d_k; ++j) copied[size_t{i} * spec.d_k + j] = spec.score.scale * row.q[j];
    row.terms.relative = relative + i * products;
  }
  uint32_t begin, end;
  BucketRange(*tile, 0, int64_t{keys} - 1, &begin, &end);
  Multiply(tile->row_count, scores.keys, scores.keys_type, head, begin, end, relative);
}

void RelativeTerm::StartBlock(uint32_t head, const KeySource& source, uint32_t from, uint32_t to, AttentionTile* tile) {
  const AttentionSpec& spec = context_.spec;
  const RelativeScores& scores = spec.score.relative;
  if (scores.queries == nullptr || tile->terms.distances.apart) return;
  const size_t products = size_t{spec.positions.axes} * scores.bucket_count;
  auto* of_keys = context_.Scratch<float>(ScratchPart::kKeyRelative);
  context_.kernels.attention.unpack(*tile, source, from, to, spec.score.scale,
                                    context_.Scratch<float>(ScratchPart::kCopied));
  uint32_t begin, end;
  BucketRange(*tile, tile->Position(from), tile->Position(to - 1), &begin, &end);
  Multiply(to - from, scores.queries, scores.queries_type, head, begin, end, of_keys + from * products);
  tile->terms.relative.of_keys = of_keys;
}

}  // namespace fovea
