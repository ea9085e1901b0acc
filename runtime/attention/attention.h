// The attention engine: for each query of a tile, the keys its pattern allows are streamed once with a running maximum
// and sum, so no score matrix exists. Self, cross and pooling attention differ only in their row spaces.
#ifndef FOVEA_RUNTIME_ATTENTION_ATTENTION_H_
#define FOVEA_RUNTIME_ATTENTION_ATTENTION_H_

#include <stddef.h>
#include <stdint.h>

#include "runtime/attention/pattern.h"
#include "runtime/base/dtype.h"
#include "runtime/kernels/kernels.h"

namespace fovea {

// How a query finds its segment of keys.
enum class Pairing : uint32_t {
  kPaired = 0,  // query segment i sees key segment i (the same space, or two spaces with equal segment counts)
  kParent = 1,  // query row i sees key segment i (the query space is the parent of the key space)
};

// Scores that depend on the distance between query and key besides their content (disentangled attention):
// scale * (q . keys[head][b(key - query)] + k . queries[head][b(key - query)]) is added, b a table of buckets.
struct RelativeScores {
  const void* keys;        // [heads, buckets, d_k], or null
  const void* queries;     // [heads, buckets, d_k], or null
  const int32_t* buckets;  // [2 * reach + 1], by key - query clamped to [-reach, reach]; each below bucket_count
  uint32_t bucket_count;
  DType keys_type, queries_type;  // f32 or f16
};

// What is constant for an attention operation. Zero fields mean plain scaled dot-product attention.
struct AttentionSpec {
  uint32_t heads;     // query heads
  uint32_t kv_heads;  // divides heads: head h uses key/value head h / (heads / kv_heads)
  uint32_t d_k;
  uint32_t d_v;
  float scale;  // of scores
  Pairing pairing;
  Pattern pattern;
  Score score;
  Products products;      // wanted; f32 where the CPU has no instruction for them, and for rows by themselves
  float cap;              // scores become cap * tanh(score / cap); 0: they do not
  Activation weighting;   // kNone: softmax; relu, gelu, gelu_tanh, silu, sigmoid: of each score, not normalised
  const float* additive;  // [heads, d_k], Score::kAdditive
  // Bias by distance, or null: score += bias[head][clamp(key - query, -reach, reach) + reach], [heads, 2 * reach + 1].
  const float* distance_bias;
  uint32_t distance_reach;  // of distance_bias and relative
  RelativeScores relative;
  // Distances are between coordinates, not positions: row `segment % coordinate_sets` of [coordinate_sets, positions].
  const int32_t* coordinates;
  uint32_t coordinate_sets, coordinate_positions;
  // The first rows of a segment, of queries and of keys, that know no distances: nothing is added for them.
  uint32_t apart;
  // Without coordinates the query at position p > apart is where the key at apart + (p - apart) * query_stride is;
  // 0: 1.
  uint32_t query_stride;
  float self_score;  // of a query with the key at its own position, if has_self_score
  bool has_self_score;
  Centers centers;
  bool gaussian;  // weights are multiplied by exp(-(key - p)^2 / (2 (left / 2)^2)), with left = right
};

// Segment i of a row space is rows [offsets[i], offsets[i + 1]).
struct Segments {
  const uint32_t* offsets;  // [count + 1], ascending, offsets[0] = 0
  uint32_t count;
};

// Rows of heads in the caller's memory. Strides in bytes: from a row to the next, from a head to the next.
template <typename T>
struct HeadMatrix {
  T* data;
  size_t row_stride, head_stride;
};
using HeadRows = HeadMatrix<const void>;

// For clustered patterns: the keys of each segment in sorted order, and where each query stands in it. Null with one
// round: the order in which they stand.
struct Clusters {
  const int32_t* order;  // order[row * stride + column]: the row at this place of the sorted segment
  const int32_t* rank;   // rank[row * stride + column]: the row's place in its segment; what `order` is checked with
  size_t stride;         // column = head * rounds + round
};

struct WeightSink;  // tap.h

struct AttentionCall {
  const AttentionSpec* spec;
  Segments query_segments;  // unused when pairing is kParent
  Segments key_segments;
  uint32_t row_begin, row_end;  // query rows of this tile; may start or end inside a segment and span several
  HeadRows q;                   // row row_begin; f32 [heads, d_k] a row
  HeadRows k;                   // row 0 of the key space; [kv_heads, d_k]
  HeadRows v;                   // row 0 of the key space; [kv_heads, d_v]
  KeyType key_type;             // of k and v
  HeadRows k_scales, v_scales;  // kI8: one f32 for each row and head
  HeadMatrix<void> out;         // row row_begin; f32 [heads, d_v]; must not overlap q
  HeadRows key_bias;     // row 0 of the key space; f32 [heads, or 1 with a head stride of 0], added to scores; or null
  const float* centers;  // spec.centers: of row 0 of the query space; no key is seen around what is no number
  size_t center_stride;  // in bytes
  const uint32_t* listed;         // pattern.listed: rows of the key space, ascending
  Segments listed_segments;       // which of them belong to a segment of keys
  Clusters clusters;              // pattern.rounds
  uint32_t head_begin, head_end;  // clustered: query heads of this tile; 0 and 0: all
  uint32_t tile_rows;             // what scratch is for, if this tile may have more rows; else 0
  const WeightSink* weights;      // where the weights go, or null
  void* scratch;                  // AttentionScratchBytes, 64-aligned, one per worker
};

// Dense f32 rows.
template <typename T>
HeadMatrix<T> DenseHeads(T* data, uint32_t heads, uint32_t width) {
  return {data, size_t{heads} * width * sizeof(float), size_t{width} * sizeof(float)};
}

// Enough for calls of up to `tile_rows` query rows. Independent of the lengths of segments and of the CPU. Grows with
// the rows up to a few hundred; clustered in several rounds always: what a row has is kept until all its rounds are
// over.
uint64_t AttentionScratchBytes(const AttentionSpec&, uint32_t tile_rows = UINT32_MAX);
// A query with no visible key gets zeros. Results of a query do not depend on the tile it is in.
void RunAttention(const Kernels&, const AttentionCall&);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_ATTENTION_ATTENTION_H_
