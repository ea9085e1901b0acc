// Blocks of memory for models and sessions, on multiples of 64 bytes.
#ifndef FOVEA_TOOLS_COMMON_MEMORY_H_
#define FOVEA_TOOLS_COMMON_MEMORY_H_

#include <stdint.h>
#include <stdlib.h>

#include <memory>

#include "tools/base/fail.h"

namespace fovea::tools {

struct FreeMemory {
  void operator()(void* memory) const { free(memory); }
};
using Memory = std::unique_ptr<uint8_t, FreeMemory>;

inline uint64_t RoundUpTo64(uint64_t size) { return (size + 63) / 64 * 64; }

inline Memory Allocate(uint64_t size) {
  void* memory = nullptr;
  if (size > SIZE_MAX / 2 || posix_memalign(&memory, 64, size == 0 ? 64 : static_cast<size_t>(size)) != 0) {
    Fail("cannot get {} bytes of memory", size);
  }
  return Memory(static_cast<uint8_t*>(memory));
}

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMON_MEMORY_H_
