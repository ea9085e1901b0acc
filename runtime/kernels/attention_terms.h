// Terms of an attention score: what is added to the scaled product of a query and a key, or replaces it. Each term has
// a file attention_term_<name>-inl.h, which applies it to the scores of a row with a block of keys; its parameters for
// all rows of a tile and for single rows are here. attention_term_list.inc states the order in which they are applied.
#ifndef FOVEA_RUNTIME_KERNELS_ATTENTION_TERMS_H_
#define FOVEA_RUNTIME_KERNELS_ATTENTION_TERMS_H_

#include <stddef.h>
#include <stdint.h>

#include "runtime/kernels/attention_features.h"

namespace fovea {

// Distances key - query of a block's keys, clamped to max_distance: between positions, or between coordinates.
struct TileDistances {
  uint32_t max_distance;
  uint32_t axes;                   // with positions 1
  const int32_t* coordinates;      // [axes, block] of the keys, 0 where there is no key; null: positions
  const int32_t* row_coordinates;  // with coordinates: [axes] per row, from RowDistances::place on
  bool apart;                      // the block's keys have no distances
};
struct RowDistances {
  int32_t coordinate;  // the query's position, or with coordinates the first of them
  uint32_t place;      // index of the row in row_coordinates
  bool apart;          // the query has no distances to keys
};

// Relative scores: the sum over the axes of q . keys[bucket] and k . queries[bucket], for the bucket of the distance.
struct TileRelative {
  const int32_t* buckets;  // [2 * max_distance + 1] bucket of each clamped distance
  uint32_t count;          // number of buckets
  const float* of_keys;    // [block, axes, buckets] of each key of the block; or null
};

// Bias of each key: values[p * stride] is added to the score of the key at position p.
struct TileKeyBias {
  const float* values;  // or null
  size_t stride;
};

struct TileTerms {
  bool any;  // whether any term applies to the current block
  TileDistances distances;
  size_t bias_axis_stride;  // from the distance biases of an axis to the next axis, in floats
  TileRelative relative;
  TileKeyBias key_bias;
  bool pair_mask;  // the type of RowTerms::pairs
  bool has_self_score;
  float self_score;  // score of a query with the key at its own position, if has_self_score
  bool has_sinks;    // a sink takes part in the softmax, so that the weights of keys sum to less than 1
  float count_bias;  // added to every score: logarithm of how often the block's keys count
  bool causal;       // masks keys after the row's position by position, not by [begin, end)
};

struct RowTerms {
  RowDistances distances;
  float slope;  // adds slope * (key - query) at any distance (ALiBi); 0: none
  // Bias by distance along the first axis: distance_bias[key - query], distance clamped to max_distance; or null.
  const float* distance_bias;
  const float* relative;  // [axes, buckets] the query's relative scores; or null
  const void* pairs;      // by key position: f32 added to its score, or u8 (pair_mask), 0 masks the key; or null
};

// Whether this build includes any term.
#define FOVEA_ATTENTION_TERM(Name, built) || (built)
inline constexpr bool kAttendsTerms = false
#include "runtime/kernels/attention_term_list.inc"
    ;
#undef FOVEA_ATTENTION_TERM

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_ATTENTION_TERMS_H_
