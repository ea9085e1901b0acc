// Full attention: every query sees every key of its segment.
#include "runtime/attention/pattern.h"

namespace fovea {

bool FullRange(const Pattern&, const QueryTile& tile, uint32_t index, KeyRange* range) {
  if (index > 0 || tile.keys == 0) return false;
  *range = {0, tile.keys, 1, kUnbounded, kUnbounded};
  return true;
}

}  // namespace fovea
