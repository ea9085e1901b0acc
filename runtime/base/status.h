// The one error type inside the runtime: a status that must be used, and a writer for the caller's error record.
#ifndef FOVEA_RUNTIME_BASE_STATUS_H_
#define FOVEA_RUNTIME_BASE_STATUS_H_

#include <stdint.h>

#include "fovea/status.h"
#include "runtime/base/floating_point.h"
#include "runtime/base/profile.h"

namespace fovea {

struct [[nodiscard]] Status {
  fovea_status code = FOVEA_OK;
  constexpr Status() = default;
  constexpr Status(fovea_status c) : code(c) {}  // NOLINT: implicit on purpose
  constexpr bool ok() const { return code == FOVEA_OK; }
};

inline constexpr Status kOk{};

// Tracks the current section, step and tensor, so that an error raised deep in the code reports its place. `record` may
// be null. Cheap to construct; passed by reference down the call chain.
class Reporter {
 public:
  explicit Reporter(fovea_error* record) : record_(record) {}

  uint32_t section = FOVEA_NOWHERE;
  uint32_t step = FOVEA_NOWHERE;
  uint32_t tensor = FOVEA_NOWHERE;

  // The same with a fault of the space that an operation's output is in, of which the converter tries several.
  __attribute__((always_inline)) Status FailSpace(const char* text, uint64_t expected = 0, uint64_t found = 0) {
    of_output_space = true;
    return Fail(FOVEA_E_SHAPE, text, expected, found);
  }

  bool of_output_space = false;  // FailSpace was called

  // `text` must be a string literal. Inline, so that a build without error messages contains no code for them.
  __attribute__((always_inline)) Status Fail(fovea_status code, [[maybe_unused]] const char* text,
                                             [[maybe_unused]] uint64_t expected = 0,
                                             [[maybe_unused]] uint64_t found = 0, [[maybe_unused]] uint64_t index = 0) {
    if constexpr (kHasErrors) return Write(code, text, expected, found, index);
    return Write(code);
  }

 private:
  Status Write(fovea_status code);
  Status Write(fovea_status code, const char* text, uint64_t expected, uint64_t found, uint64_t index);

  fovea_error* record_;
};

}  // namespace fovea

// Leaves the enclosing function with the status of `expression` unless it is OK.
#define FOVEA_TRY(expression) FOVEA_TRY_COUNTED(expression, __COUNTER__)
#define FOVEA_TRY_COUNTED(expression, n) FOVEA_TRY_NAMED(expression, n)
#define FOVEA_TRY_NAMED(expression, n) FOVEA_TRY_AS(expression, fovea_try_##n)
#define FOVEA_TRY_AS(expression, name)         \
  do {                                         \
    const ::fovea::Status name = (expression); \
    if (!name.ok()) return name;               \
  } while (false)

#endif  // FOVEA_RUNTIME_BASE_STATUS_H_
