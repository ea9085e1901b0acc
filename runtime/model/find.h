// Finds values and metadata by name.
#ifndef FOVEA_RUNTIME_MODEL_FIND_H_
#define FOVEA_RUNTIME_MODEL_FIND_H_

#include <string.h>

#include "runtime/model/model.h"

namespace fovea {

// Index among the `count` values from `first` on, or kBlobNone.
inline uint32_t FindValue(const Blob& blob, uint32_t first, uint32_t count, const char* name) {
  for (uint32_t i = 0; i < count; ++i) {
    if (strcmp(blob.String(blob.values[first + i].name), name) == 0) return i;
  }
  return kBlobNone;
}

// Index in the program, or kBlobNone.
inline uint32_t FindValue(const Model& model, const ProgramRecord& program, const char* name) {
  return FindValue(model.blob, program.first_value, program.value_count, name);
}

// The entry under this key, or kBlobNone.
inline uint32_t FindMetadataEntry(const Blob& blob, const char* key) {
  for (uint32_t i = 0; i < blob.metadata.count; ++i) {
    if (strcmp(blob.String(blob.metadata[i].key), key) == 0) return i;
  }
  return kBlobNone;
}

// The metadata value under this key, or null.
inline const char* FindMetadata(const Blob& blob, const char* key) {
  const uint32_t entry = FindMetadataEntry(blob, key);
  return entry == kBlobNone ? nullptr : blob.String(blob.metadata[entry].value);
}

}  // namespace fovea

#endif  // FOVEA_RUNTIME_MODEL_FIND_H_
