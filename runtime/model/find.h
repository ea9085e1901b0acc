// Finds values, programs and metadata by name.
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

// The name of an operation, or its output's.
inline const char* StepName(const Model& model, const ProgramRecord& program, uint32_t step) {
  const uint32_t own = model.blob.operations[program.first_operation + step].name;
  const uint32_t output = model.Operation(program, step).output.index;
  return model.blob.String(own != kBlobNone ? own : model.blob.values[program.first_value + output].name);
}

inline uint32_t FindProgram(const Blob& blob, const char* name) {
  for (uint32_t i = 0; i < blob.programs.count; ++i) {
    if (strcmp(blob.String(blob.programs[i].name), name) == 0) return i;
  }
  return kBlobNone;
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

// The value under the key `prefix` + `name`, or null.
inline const char* FindMetadata(const Blob& blob, const char* prefix, const char* name) {
  const size_t size = strlen(prefix);
  for (uint32_t i = 0; i < blob.metadata.count; ++i) {
    const char* key = blob.String(blob.metadata[i].key);
    if (strncmp(key, prefix, size) == 0 && strcmp(key + size, name) == 0) return blob.String(blob.metadata[i].value);
  }
  return nullptr;
}

// The name of a class, metadata label.<index>; "" if there is none.
inline const char* LabelOf(const Blob& blob, uint32_t index) {
  char key[] = "label.4294967295";
  char digits[10];
  uint32_t count = 0;
  for (; count == 0 || index != 0; index /= 10) digits[count++] = static_cast<char>('0' + index % 10);
  char* end = key + sizeof("label.") - 1;
  while (count != 0) *end++ = digits[--count];
  *end = '\0';
  const char* label = FindMetadata(blob, key);
  return label == nullptr ? "" : label;
}

}  // namespace fovea

#endif  // FOVEA_RUNTIME_MODEL_FIND_H_
