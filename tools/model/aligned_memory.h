// Allocates memory for models and sessions, aligned to 64 bytes.
#ifndef FOVEA_TOOLS_MODEL_ALIGNED_MEMORY_H_
#define FOVEA_TOOLS_MODEL_ALIGNED_MEMORY_H_

#include <stdint.h>

#include <memory>

#include "ports/port.h"
#include "tools/base/fail.h"

namespace fovea::tools {

struct FreeMemory {
  void operator()(void* memory) const { fovea_port_free(memory); }
};
using Memory = std::unique_ptr<uint8_t, FreeMemory>;

inline uint64_t RoundUpTo64(uint64_t size) { return (size + 63) / 64 * 64; }

inline Memory Allocate(uint64_t size) {
  void* memory = fovea_port_memory(nullptr, size, FOVEA_BLOCK_SCRATCH);
  if (memory == nullptr) Fail("cannot allocate {} bytes", size);
  return Memory(static_cast<uint8_t*>(memory));
}

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_MODEL_ALIGNED_MEMORY_H_
