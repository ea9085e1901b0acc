// Rows of a text pooled to one, and activated.
#ifndef FOVEA_RUNTIME_RESULT_POOL_H_
#define FOVEA_RUNTIME_RESULT_POOL_H_

#include <stddef.h>
#include <stdint.h>

namespace fovea {

// Whether a pooling and an activation exist and go together.
bool CanPool(uint32_t pooling, uint32_t activation);

// `count` rows, `stride` bytes apart.
struct PooledRows {
  const uint8_t* first;
  size_t stride;
  uint64_t count;
};
// Pools the first `width` numbers of rows (not FOVEA_POOLING_NONE) and activates them.
void PoolRows(uint32_t pooling, uint32_t activation, const PooledRows& rows, uint32_t width, float* out);

// Applies an activation to a row of scores in place.
void Activate(uint32_t activation, float* scores, uint32_t count);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_RESULT_POOL_H_
