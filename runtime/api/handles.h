// What the opaque handles of the C interface are, and how its growing structs are read and written.
#ifndef FOVEA_RUNTIME_API_HANDLES_H_
#define FOVEA_RUNTIME_API_HANDLES_H_

#include <string.h>

#include "fovea/model.h"
#include "fovea/session.h"
#include "runtime/model/model.h"
#include "runtime/plan/plan.h"
#include "runtime/session/session.h"

// Marks memory as holding a live handle, so that a stale or wrong pointer is likely to be refused.
struct fovea_model {
  static constexpr uint32_t kMark = 0x4d766f66;
  uint32_t mark = 0;
  fovea::Model model;
  fovea::ProgramPlan* plans = nullptr;
};

struct fovea_session {
  static constexpr uint32_t kMark = 0x53766f66;
  uint32_t mark = 0;
  fovea::Session* session = nullptr;
};

namespace fovea {

inline bool IsLive(const fovea_model* handle) { return handle != nullptr && handle->mark == fovea_model::kMark; }
inline bool IsLive(const fovea_session* handle) { return handle != nullptr && handle->mark == fovea_session::kMark; }

// Null when the model has no text data (or `handle` is no model).
inline const Tokenizer* TokenizerOf(const fovea_model* handle) {
  return IsLive(handle) && handle->model.has_text ? &handle->model.tokenizer : nullptr;
}

inline Status CheckAligned(const void* memory, Reporter& reporter) {
  const uint64_t over = reinterpret_cast<uintptr_t>(memory) % kAlignment;
  if (over == 0) return kOk;
  return reporter.Fail(FOVEA_E_MISALIGNED, "memory must start on a multiple of 64 bytes", kAlignment, over);
}

// Reads a caller's struct of any version: absent fields are zero, fields from the future must be.
template <typename T>
Status ReadStruct(const T* given, T* options, Reporter& reporter) {
  *options = T();
  options->struct_size = sizeof(T);
  if (given == nullptr) return kOk;
  const size_t size = given->struct_size;
  if (size < sizeof(size_t)) return reporter.Fail(FOVEA_E_STRUCT_SIZE, "struct_size is not set", sizeof(T), size);
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(given);
  for (size_t i = sizeof(T); i < size; ++i) {
    if (bytes[i] != 0)
      return reporter.Fail(FOVEA_E_STRUCT_SIZE, "an option is newer than this library", sizeof(T), size, i);
  }
  memcpy(static_cast<void*>(options), given, size < sizeof(T) ? size : sizeof(T));
  options->struct_size = sizeof(T);
  return kOk;
}

// Fills a caller's struct of any version: as many fields as it has; those from the future are zero.
template <typename T>
fovea_status WriteStruct(T values, T* out) {
  if (out == nullptr) return FOVEA_E_NULL;
  const size_t size = out->struct_size;
  if (size < sizeof(size_t)) return FOVEA_E_STRUCT_SIZE;
  values.struct_size = size;
  memset(static_cast<void*>(out), 0, size);
  memcpy(static_cast<void*>(out), &values, size < sizeof(T) ? size : sizeof(T));
  return FOVEA_OK;
}

}  // namespace fovea

#endif  // FOVEA_RUNTIME_API_HANDLES_H_
