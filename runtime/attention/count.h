// Number of keys that queries see, which determines the time of an attention.
#ifndef FOVEA_RUNTIME_ATTENTION_COUNT_H_
#define FOVEA_RUNTIME_ATTENTION_COUNT_H_

#include "runtime/attention/attention.h"

namespace fovea {

// One segment. `global_keys` are row numbers, counted from row `key_row` of the key space; null if only their number is
// known.
struct SegmentRows {
  uint32_t queries, keys;
  const uint32_t* global_keys;
  uint32_t global_key_count;
  uint32_t key_row;
  uint32_t start;  // position of the first query
};

// Number of scored pairs of a query and a key, over all heads. Exact where the pattern alone decides: windows of all
// kinds, global rows, known global keys, layouts (a key counts once regardless of how often its block is named, and
// again where another member shows it). An upper bound for: unknown global keys, counted as if none were in the window;
// windows around centers, as if none passed the ends; chunks, in which a key counts in each round and chunk that shows
// it, including keys after a causal query.
uint64_t VisiblePairs(const AttentionSpec&, const SegmentRows&);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_ATTENTION_COUNT_H_
