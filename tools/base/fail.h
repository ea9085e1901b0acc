// Errors of the tools: one exception type with a formatted message.
#ifndef FOVEA_TOOLS_BASE_FAIL_H_
#define FOVEA_TOOLS_BASE_FAIL_H_

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "tools/base/printable.h"

namespace fovea::tools {

// One printable line, even if it contains names and bytes of foreign files.
struct Failure : std::runtime_error {
  static constexpr size_t kMostBytes = 2000;
  explicit Failure(const std::string& text) : std::runtime_error(Shortened(text, kMostBytes)) {}
};

template <typename... Args>
[[noreturn]] void Fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Failure(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_FAIL_H_
