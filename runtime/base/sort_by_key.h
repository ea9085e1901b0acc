// Sorts an array of keys together with an array of values.
#ifndef FOVEA_RUNTIME_BASE_SORT_BY_KEY_H_
#define FOVEA_RUNTIME_BASE_SORT_BY_KEY_H_

#include <stdint.h>

#include <algorithm>
#include <utility>

namespace fovea {

// Restores a max-heap over [0, count) by key: sifts the entry at `root` down.
inline void SiftDown(uint32_t* keys, float* values, uint32_t root, uint32_t count) {
  for (uint32_t child; (child = 2 * root + 1) < count; root = child) {
    if (child + 1 < count && keys[child] < keys[child + 1]) ++child;
    if (keys[root] >= keys[child]) return;
    std::swap(keys[root], keys[child]);
    std::swap(values[root], values[child]);
  }
}

// Heap sort by key, in place; input that is already sorted costs one pass.
inline void SortByKey(uint32_t* keys, float* values, uint32_t count) {
  if (std::is_sorted(keys, keys + count)) return;
  for (uint32_t i = count / 2; i-- > 0;) SiftDown(keys, values, i, count);
  for (uint32_t i = count; i-- > 1;) {
    std::swap(keys[0], keys[i]);
    std::swap(values[0], values[i]);
    SiftDown(keys, values, 0, i);
  }
}

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BASE_SORT_BY_KEY_H_
