// The attention engine: for each query of a tile, the keys its pattern allows are streamed once with a running maximum
// and sum, so no score matrix exists. Self, cross and pooling attention differ only in their row spaces.
//
// An attention has four parts, which the operation, the C function and the cost model share: the pattern (which keys),
// the score (how a pair is scored), the weighting (how scores become weights), the positions of queries and keys.
#ifndef FOVEA_RUNTIME_ATTENTION_ATTENTION_H_
#define FOVEA_RUNTIME_ATTENTION_ATTENTION_H_

#include <stddef.h>
#include <stdint.h>

#include "runtime/attention/layout.h"
#include "runtime/attention/pattern.h"
#include "runtime/base/dtype.h"
#include "runtime/kernels/attention.h"

namespace fovea {

struct Kernels;  // runtime/kernels/kernels.h

// How a query finds its segment of keys.
enum class Pairing : uint32_t {
  // query segment i sees key segment i (the same space, or two spaces with equal segment counts), or the key segment of
  // the row above it (AttentionCall::above)
  kPaired = 0,
  kParent = 1,  // query row i sees key segment i (the query space is the parent of the key space)
};

// Scores that depend on the distance between query and key besides their content (disentangled attention):
// scale * (q . keys[head][b(key - query)] + k . queries[head][b(key - query)]) is added, where b is a table of buckets.
// With several axes, this is added for each axis.
struct RelativeScores {
  const void* keys;        // [axes, heads, buckets, d_k], or null
  const void* queries;     // [axes, heads, buckets, d_k], or null
  const int32_t* buckets;  // [2 * max_distance + 1], by clamped key - query; each below bucket_count
  uint32_t bucket_count;
  DType keys_type, queries_type;  // f32 or f16
};

// How a query and a key are scored: the score of the given kind times the scale, capped; then the biases are added;
// then self_score replaces the score of the key at the query's position.
struct ScorePart {
  Score kind = Score::kDot;
  float scale = 1.0f;
  float cap = 0.0f;                    // scores become cap * tanh(score / cap); 0: no cap
  Products products = Products::kF32;  // requested; f32 where the CPU lacks the instruction
  bool may_round = false;              // with products kF32: kRounded is allowed where it is faster
  const float* additive = nullptr;     // [heads, d_k], Score::kAdditive
  uint32_t max_distance = 0;           // for distance_bias and relative
  // Bias by distance, or null: bias[axis][head][clamp(key - query, -max_distance, max_distance) + max_distance] is
  // added for each axis.
  const float* distance_bias = nullptr;
  // A slope for each head, or null: slope * (key - query) is added, at any distance.
  const float* slopes = nullptr;
  RelativeScores relative = {};
  bool has_self_score = false;
  float self_score = 0.0f;  // score of a query with the key at its position, if has_self_score
};

// How scores become weights.
struct WeightingPart {
  Activation kind = Activation::kNone;  // kNone: softmax; else applied to each score, not normalised
  // [heads], or null: a score that belongs to no key and takes part in the softmax (attention sink).
  const float* sinks = nullptr;
  bool gaussian = false;  // weights are multiplied by exp(-(key - center)^2 / (2 (left / 2)^2)), with left = right
};

// Positions of queries and keys.
struct PositionsPart {
  Origin origin = Origin::kZero;  // position of the first query of a segment
  // Without coordinates, distances of the query at position p > apart are measured from position
  // apart + (p - apart) * query_stride of the keys.
  uint32_t query_stride = 1;
  uint32_t apart = 0;  // the first rows of a segment, of queries and of keys, which have no distances
  // Distances are between coordinates, not positions, along one or several axes: block `segment % coordinate_sets` of
  // [coordinate_sets, axes, positions]; with row_coordinates, AttentionCall::row_coordinates.
  const int32_t* coordinates = nullptr;
  uint32_t coordinate_sets = 0, coordinate_positions = 0;
  uint32_t axes = 1;
  bool row_coordinates = false;

  bool HasCoordinates() const { return coordinates != nullptr || row_coordinates; }
};

// Further keys, one for each `group` of keys. Keys left over at the end belong to the last group; fewer than `group`
// keys have no such key. Every query sees all of them.
struct SummaryPart {
  uint32_t group = 0;           // 0: no such keys
  const float* bias = nullptr;  // like distance_bias, by the distance from the group of the query; or null
  uint32_t max_distance = 0;    // for bias
};

// Constants of an attention operation. The defaults are plain dot-product attention; shapes and scale have to be
// set.
struct AttentionSpec {
  uint32_t heads = 1;     // query heads
  uint32_t kv_heads = 1;  // divides heads: head h uses key/value head h / (heads / kv_heads)
  uint32_t d_k = 0;
  uint32_t d_v = 0;
  Pairing pairing = Pairing::kPaired;
  Pattern pattern;
  ScorePart score;
  WeightingPart weighting;
  PositionsPart positions;
  SummaryPart summaries;
};

// Segment i of a row space is rows [offsets[i], offsets[i + 1]).
struct Segments {
  const uint32_t* offsets;  // [count + 1], ascending, offsets[0] = 0
  uint32_t count;

  uint32_t length(uint32_t i) const { return offsets[i + 1] - offsets[i]; }
  // The segment that contains a row: the last one that starts at or before it.
  uint32_t Of(uint32_t row) const {
    uint32_t low = 0, high = count;
    while (high - low > 1) {
      const uint32_t middle = low + (high - low) / 2;
      (offsets[middle] <= row ? low : high) = middle;
    }
    return low;
  }
};

// Rows of a segment that are kept from run to run (paged KV cache) are stored in pages of kPageRows rows. Page n of the
// sequence that segment i belongs to is tables[texts[i] * table_size + (n & (table_size - 1))], counted from the first
// row of the keys.
struct KeyPages {
  const uint32_t* tables;
  const uint32_t* texts;
  uint32_t table_size;  // a power of 2

  const uint32_t* TableOf(uint32_t segment) const { return tables + size_t{texts[segment]} * table_size; }
  // The row that stores a position of the table's sequence.
  size_t Row(const uint32_t* table, size_t position) const { return PagedRow(table, table_size - 1, position); }
};

// `offset` bytes after the start of rows.
template <typename T, typename From>
T* BytesAfter(From* data, size_t offset) {
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(data) + offset);
}

// Rows of heads in the caller's memory. Strides in bytes: from a row to the next, from a head to the next, from the
// first row of a segment to that of the next, or 0 where the rows of all segments are contiguous.
template <typename T>
struct HeadMatrix {
  T* data;
  size_t row_stride, head_stride, segment_stride;

  // Offset of row `row`, the position-th of its segment.
  size_t RowOffset(uint32_t segment, size_t position, size_t row) const {
    return segment_stride == 0 ? row * row_stride : segment * segment_stride + position * row_stride;
  }
  // The vector of a head in that row.
  template <typename U>
  U* Vector(uint32_t segment, size_t position, size_t row, size_t head) const {
    return BytesAfter<U>(data, RowOffset(segment, position, row) + head * head_stride);
  }
};
using HeadRows = HeadMatrix<const void>;

// A bias for each pair of a query and a key: the entry of key j is at data + RowOffset(query) + head * head_stride
// + j elements. A stride of 0 shares one row; segment_stride kByRow: rows of all segments are contiguous.
struct PairBias {
  const void* data;  // null: none
  bool mask;         // u8, 0 hides the key; else f32, added to the score; -infinity hides
  uint32_t keys;     // entries of a row
  size_t row_stride, head_stride, segment_stride;

  static constexpr size_t kByRow = SIZE_MAX;
};

// For clustered patterns: the keys of each segment in sorted order, and the place of each query in that order. Null is
// allowed with one round: keys stay in their present order.
struct Clusters {
  const int32_t* order;  // order[row * stride + column]: the row at this place of the sorted segment
  const int32_t* rank;   // rank[row * stride + column]: the row's place in its segment; `order` is checked with it
  size_t stride;         // column = head * rounds + round
};

// spec->summaries: keys and values from row 0 of the summaries' space, and the summaries of each key segment.
struct SummaryRows {
  HeadRows k, v;  // of AttentionCall::key_type, which must not be kI8
  Segments segments;
};

// pattern.centers: a number for each row of the query space, from row 0. Around NaN no key is seen.
struct CenterRows {
  const float* values;
  size_t stride;  // in bytes

  float Of(size_t row) const { return *BytesAfter<const float>(values, row * stride); }
};

// pattern.global_keys: rows of the key space, ascending, and which of them are in each key segment.
struct GlobalKeys {
  const uint32_t* rows;
  Segments segments;
};

struct WeightSink;  // tap.h

struct AttentionCall {
  const AttentionSpec* spec;
  const AttentionLayout* layout;  // for the spec and the most rows that a tile has; null: computed
  Segments query_segments;        // unused when pairing is kParent
  Segments key_segments;
  // If query segments belong to a space below the space that key segments belong to: the segments of the spaces from
  // there up. Empty: both belong to the same space.
  const Segments* above;
  uint32_t levels;
  const uint32_t* starts;       // Origin::kStarts: position of the first query of each segment
  uint32_t row_begin, row_end;  // query rows of this tile; may start or end inside a segment, and span several
  HeadRows q;                   // row row_begin, or with segment strides row 0; f32 [heads, d_k] a row
  HeadRows k;                   // row 0 of the key space; [kv_heads, d_k]
  HeadRows v;                   // row 0 of the key space; [kv_heads, d_v]
  DType key_type;               // type of k and v: kF32, kF16, kBf16 or kI8
  HeadRows k_scales, v_scales;  // kI8: one f32 for each row and head
  const KeyPages* key_pages;    // pages of keys, values and their scales; null: offsets and strides apply
  SummaryRows summaries;
  HeadMatrix<void> out;  // as q; f32 [heads, d_v]; must not overlap q
  HeadRows key_bias;     // row 0 of the key space; f32 [heads, or 1 with a head stride of 0], added to scores; or null
  PairBias pair_bias;    // by query row of the space
  // positions.row_coordinates, where queries and keys are the same rows: from row 0, `axes` numbers for each row. They
  // are rounded to the nearest integer and clamped to 2^24; NaN counts as 0.
  const float* row_coordinates;
  CenterRows centers;
  GlobalKeys global_keys;
  Clusters clusters;              // pattern.rounds
  uint32_t head_begin, head_end;  // clustered: query heads of this tile; 0 and 0: all
  uint32_t tile_rows;             // rows that scratch was sized for, if a tile may have more; else 0
  const WeightSink* weights;      // receives the attention weights, or null
  void* scratch;                  // AttentionScratchBytes, 64-aligned, one per worker

  // The key segment of a query segment.
  uint32_t KeySegmentOf(uint32_t segment) const {
    for (uint32_t i = 0; i < levels; ++i) segment = above[i].Of(segment);
    return segment;
  }
  // Position of the first query of a segment.
  uint32_t StartOf(uint32_t segment, uint32_t queries, uint32_t keys) const {
    if (spec->positions.origin == Origin::kStarts) return starts[segment];
    return spec->positions.origin == Origin::kEnd && keys > queries ? keys - queries : 0;
  }
};

// Dense f32 rows.
template <typename T>
HeadMatrix<T> DenseHeads(T* data, uint32_t heads, uint32_t width) {
  return {data, size_t{heads} * width * sizeof(float), size_t{width} * sizeof(float), 0};
}

// Bytes of scratch for calls of up to `tile_rows` query rows. Independent of the lengths of segments and of the CPU.
// Grows with the rows up to a few hundred rows; for clusters in several rounds without a bound, since the state of each
// row is kept until its last round.
uint64_t AttentionScratchBytes(const AttentionSpec&, uint32_t tile_rows = UINT32_MAX);
// A query with no visible key gets zeros. The result of a query does not depend on the tile it is in, nor on keys and
// values that it does not see.
void RunAttention(const Kernels&, const AttentionCall&);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_ATTENTION_ATTENTION_H_
