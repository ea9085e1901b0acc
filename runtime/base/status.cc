#include "runtime/base/status.h"

namespace fovea {

Status Reporter::Write(fovea_status code, const char* text, uint64_t expected, uint64_t found, uint64_t index) {
  if (record_ != nullptr) *record_ = fovea_error{code, section, step, tensor, index, expected, found, text};
  return Status(code);
}

Status Reporter::Write(fovea_status code) { return Write(code, "", 0, 0, 0); }

}  // namespace fovea
