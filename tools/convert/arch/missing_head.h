// The refusal of a head that is not supported.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_MISSING_HEAD_H_
#define FOVEA_TOOLS_CONVERT_ARCH_MISSING_HEAD_H_

#include <functional>
#include <string>

#include "tools/convert/arch/architecture.h"

namespace fovea::tools {

// Fails with the class that `architectures` names, and with the task that converts the encoder without that head if
// one does. `describe` is called with such tasks.
[[noreturn]] void FailMissingHead(const Config& config, const std::function<Description(Task)>& describe);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_MISSING_HEAD_H_
