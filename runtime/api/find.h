// Values by their names.
#ifndef FOVEA_RUNTIME_API_FIND_H_
#define FOVEA_RUNTIME_API_FIND_H_

#include <string.h>

#include "runtime/model/model.h"

namespace fovea {

// Index in the program, or kBlobNone.
inline uint32_t FindValue(const Model& model, const ProgramRecord& program, const char* name) {
  for (uint32_t i = 0; i < program.value_count; ++i) {
    if (strcmp(model.blob.String(model.blob.values[program.first_value + i].name), name) == 0) return i;
  }
  return kBlobNone;
}

}  // namespace fovea

#endif  // FOVEA_RUNTIME_API_FIND_H_
