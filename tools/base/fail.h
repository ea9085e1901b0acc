// Errors of the tools: one exception type with a formatted message.
#ifndef FOVEA_TOOLS_BASE_FAIL_H_
#define FOVEA_TOOLS_BASE_FAIL_H_

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "tools/base/printable.h"

namespace fovea::tools {

// Messages quote files and arguments, whose bytes may be anything.
struct Failure : std::runtime_error {
  explicit Failure(const std::string& message) : std::runtime_error(Printable(message)) {}
};

template <typename... Args>
[[noreturn]] void Fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Failure(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_FAIL_H_
