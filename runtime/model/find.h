// Values and metadata by their names.
#ifndef FOVEA_RUNTIME_MODEL_FIND_H_
#define FOVEA_RUNTIME_MODEL_FIND_H_

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

// What the blob says under this key, or null.
inline const char* FindMetadata(const Blob& blob, const char* key) {
  for (uint32_t i = 0; i < blob.metadata.count; ++i) {
    if (strcmp(blob.String(blob.metadata[i].key), key) == 0) return blob.String(blob.metadata[i].value);
  }
  return nullptr;
}

}  // namespace fovea

#endif  // FOVEA_RUNTIME_MODEL_FIND_H_
