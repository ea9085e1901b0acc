// Errors of the tools: one exception type with a formatted message.
#ifndef FOVEA_TOOLS_BASE_FAIL_H_
#define FOVEA_TOOLS_BASE_FAIL_H_

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace fovea::tools {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <typename... Args>
[[noreturn]] void Fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Failure(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_FAIL_H_
