// The opaque handles of the C interface, and helpers to read and write its growing structs.
#ifndef FOVEA_RUNTIME_API_HANDLES_H_
#define FOVEA_RUNTIME_API_HANDLES_H_

#include "fovea/model.h"
#include "fovea/session.h"
#include "runtime/base/structs.h"
#include "runtime/model/model.h"
#include "runtime/plan/plan.h"
#include "runtime/session/session.h"

// The magic number marks a live handle, so that a stale or wrong pointer is likely to be refused.
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

// Null if the model has no text data (or `handle` is no model).
inline const Tokenizer* TokenizerOf(const fovea_model* handle) {
  return IsLive(handle) && handle->model.has_text ? &handle->model.tokenizer : nullptr;
}

inline Status CheckAligned(const void* memory, Reporter& reporter) {
  const uint64_t over = reinterpret_cast<uintptr_t>(memory) % kAlignment;
  if (over == 0) return kOk;
  return reporter.Fail(FOVEA_E_MISALIGNED, "memory needs an alignment of 64 bytes", kAlignment, over);
}

}  // namespace fovea

#endif  // FOVEA_RUNTIME_API_HANDLES_H_
