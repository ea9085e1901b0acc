// The attention engine: for each query of a tile, the keys its pattern allows are streamed once with a running maximum
// and sum, so no score matrix exists. Self, cross and pooling attention differ only in their row spaces.
#ifndef FOVEA_RUNTIME_ATTENTION_ATTENTION_H_
#define FOVEA_RUNTIME_ATTENTION_ATTENTION_H_

#include <stddef.h>
#include <stdint.h>

#include "runtime/kernels/attention.h"

namespace fovea {

// Which keys of its segment a query may see. The numbers are part of the blob format.
enum class PatternKind : uint32_t {
  kFull = 0,
  kWindow = 1,  // key position in [p - left, p + right], p the query's own position; right = 0 is a causal window
};
inline constexpr uint32_t kUnbounded = 0xffffffffu;
struct Pattern {
  PatternKind kind = PatternKind::kFull;
  uint32_t left = kUnbounded;   // kWindow: keys to the left, kUnbounded: all (left unbounded and right 0 is causal)
  uint32_t right = kUnbounded;  // kWindow: keys to the right
};

// How a query finds its segment of keys.
enum class Pairing : uint32_t {
  kPaired = 0,  // query segment i sees key segment i (the same space, or two spaces with equal segment counts)
  kParent = 1,  // query row i sees key segment i (the query space is the parent of the key space)
};

// What is constant for an attention operation.
struct AttentionSpec {
  uint32_t heads;     // query heads
  uint32_t kv_heads;  // divides heads: head h uses key/value head h / (heads / kv_heads)
  uint32_t d_k;
  uint32_t d_v;
  float scale;  // scores are scale * q.k
  Pairing pairing;
  Pattern pattern;
  // Bias by distance, or null: score += bias[head][clamp(key - query, -reach, reach) + reach], [heads, 2 * reach + 1].
  const float* distance_bias;
  uint32_t distance_reach;
};

// Segment i of a row space is rows [offsets[i], offsets[i + 1]).
struct Segments {
  const uint32_t* offsets;  // [count + 1], ascending, offsets[0] = 0
  uint32_t count;
};

struct AttentionCall {
  const AttentionSpec* spec;
  Segments query_segments;  // unused when pairing is kParent
  Segments key_segments;
  uint32_t row_begin, row_end;  // query rows of this tile; may start or end inside a segment and span several
  const float* q;               // row row_begin; [.., heads * d_k]
  const float* k;               // row 0 of the key space; [.., kv_heads * d_k]
  const float* v;               // row 0 of the key space; [.., kv_heads * d_v]
  float* out;                   // row row_begin; [.., heads * d_v]; must not overlap q
  // Weights as used for the output, or null: weights[((row * heads) + head) * weights_stride + key position in
  // segment], row counted from 0 of the query space; keys that the pattern hides get 0, up to the segment's length.
  float* weights;
  uint32_t weights_stride;
  void* scratch;  // AttentionScratchBytes, 64-aligned, one per worker
};

// Enough for calls of up to `tile_rows` query rows. Independent of the lengths of segments and of the CPU.
uint64_t AttentionScratchBytes(const AttentionSpec&, uint32_t tile_rows = UINT32_MAX);
// A query with no visible key gets zeros. Results of a query do not depend on the tile it is in.
void RunAttention(const AttentionKernels&, const AttentionCall&);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_ATTENTION_ATTENTION_H_
