// How many keys queries see: what the time of an attention follows.
#ifndef FOVEA_RUNTIME_ATTENTION_COUNT_H_
#define FOVEA_RUNTIME_ATTENTION_COUNT_H_

#include "runtime/attention/attention.h"

namespace fovea {

// One segment. Of the global keys, row numbers from the key space's row `key_row` on, perhaps only the number is known:
// then `global_keys` is null.
struct SegmentRows {
  uint32_t queries, keys;
  const uint32_t* global_keys;
  uint32_t global_key_count;
  uint32_t key_row;
  uint32_t start;  // position of the first query
};

// Pairs of a query and a key whose score is made, of all heads together. Exact where the pattern alone decides: windows
// of all kinds, global rows, global keys that are known, layouts (a key counts once however often its block is named,
// and again where something else shows it). At most so many: global keys that are not known, as if none lay in the
// window; windows around centers, as if none passed the ends; chunks, in which a key counts in each round and chunk
// that shows it, and those after a causal query too.
uint64_t VisiblePairs(const AttentionSpec&, const SegmentRows&);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_ATTENTION_COUNT_H_
