// A pattern says which keys a query may see, as a short list of key ranges for a tile of queries: never a matrix.
#ifndef FOVEA_RUNTIME_ATTENTION_PATTERN_H_
#define FOVEA_RUNTIME_ATTENTION_PATTERN_H_

#include <stdint.h>

#include "runtime/attention/attention.h"

namespace fovea {

// Consecutive queries of one segment.
struct QueryTile {
  uint32_t first, count;  // positions in the query segment
  uint32_t keys;          // length of the key segment
};

// Keys at positions first, first + stride, ... (`count` of them, all below QueryTile::keys). Of these the query at
// position p sees those in [p - left, p + right]; kUnbounded: no bound on that side.
struct KeyRange {
  uint32_t first, count, stride;
  uint32_t left, right;
};

// Gives the range with this index and true, or false past the last one. A key is in one range at most. A query's keys
// must come in the same order of ranges in whatever tile it is, and a range may hold keys that only some of the
// tile's queries see; both is what keeps a query's result free of its tile.
using PatternRange = bool (*)(const Pattern&, const QueryTile&, uint32_t index, KeyRange*);

// By PatternKind; one per line of pattern_list.inc.
PatternRange FindPattern(PatternKind);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_ATTENTION_PATTERN_H_
