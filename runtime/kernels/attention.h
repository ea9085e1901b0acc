// Streaming attention over packed blocks of keys: scores, running softmax and weighted sum of values, in f32.
//
// A tile is up to some hundred rows; a row is one query of one head, and all rows of a tile share one key/value head.
// The caller walks over the keys in blocks: it packs a block once and lets every row of the tile attend to it.
// What a row gets depends on the row and on the sequence of its blocks only, never on the rows beside it.
#ifndef FOVEA_RUNTIME_KERNELS_ATTENTION_H_
#define FOVEA_RUNTIME_KERNELS_ATTENTION_H_

#include <stddef.h>
#include <stdint.h>

namespace fovea {

// Bounds over all targets, so that sizes do not depend on the CPU.
inline constexpr uint32_t kAttentionLanes = 16;      // packed widths are multiples of it
inline constexpr uint32_t kAttentionGroup = 12;      // rows whose scores are held together
inline constexpr uint32_t kAttentionKeyStep = 64;    // keys per block are a multiple of it ...
inline constexpr uint32_t kAttentionMaxBlock = 256;  // ... and at most this many

struct AttentionRow {
  const float* q;       // [d_k]
  const float* bias;    // by distance: bias[key - position], distance clamped to [-reach, reach]; or null
  float* weights;       // [keys of the segment], or null; see AttentionKernels
  float* out;           // [d_v]
  int32_t position;     // of the query in its segment
  uint32_t begin, end;  // keys of the present block that the row sees; begin >= end: none
  float max;            // running maximum of the row's scores (in units of log 2); starts as -infinity
};

struct AttentionTile {
  uint32_t d_k, d_v;
  uint32_t block;  // keys per block, a multiple of kAttentionKeyStep
  float scale;     // of the scores
  uint32_t reach;  // of the rows' bias
  // Scratch, 64-aligned. [..] are floats; d_v' is d_v rounded up to kAttentionLanes.
  float* packed_keys;    // [block * d_k]
  float* packed_values;  // [block, d_v']
  float* scores;         // [kAttentionScoreFloats]
  float* sums;           // [row_count, kAttentionLanes], starts as 0
  float* sum_of_values;  // [row_count, d_v'], starts as 0
  AttentionRow* rows;    // [row_count]
  uint32_t row_count;
  // The present block. Key i of it stands at position first + i * step of the segment.
  uint32_t first, step;
};

inline constexpr uint32_t kAttentionScoreFloats =
    kAttentionGroup * (kAttentionMaxBlock + kAttentionLanes) + kAttentionLanes;

struct AttentionKernels {
  // Packs keys [begin, end) of the present block, begin < end <= block. k and v are key 0 of the block, the strides are
  // floats from a key to the next. Reads keys [begin rounded down to lanes, end).
  void (*pack)(const AttentionTile&, const float* k, size_t k_stride, const float* v, size_t v_stride, uint32_t begin,
               uint32_t end);
  // Each row takes in its keys of the packed block. Rows with weights get the block's scores there, unscaled by max.
  void (*attend)(const AttentionTile&);
  // Writes the rows' outputs (zeros for a row that saw no key) and turns the first `keys` weights from scores (which
  // must be -infinity where nothing was stored) into weights.
  void (*finish)(const AttentionTile&, uint32_t keys);
};

// The kernels for this CPU.
AttentionKernels GetAttentionKernels();

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_ATTENTION_H_
