// Chooses the architecture whose file reads a model: by its model_type, or all that its tensors fit.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_CHOOSE_ARCHITECTURE_H_
#define FOVEA_TOOLS_CONVERT_ARCH_CHOOSE_ARCHITECTURE_H_

#include <functional>
#include <string>

#include "tools/convert/arch/architecture.h"

namespace fovea::tools {

struct Architecture {
  const char* model_type;
  const char* name;
  DescribeArchitecture describe;
};

// Null: there is none.
const Architecture* FindArchitecture(const std::string& model_type);
// All of them, as a list in a message.
std::string KnownArchitectures();

// Fails for an unknown model_type, and names the architectures of which all tensors and shapes fit. Tensors do not
// determine the computation, so a person has to decide that it is the same (--as). `describe` may fail. `options`: what
// the command needs besides --as.
[[noreturn]] void FailUnknown(const std::string& model_type, const std::string& options,
                              const std::function<Description(const Architecture&)>& describe);

// Drops the model's own name, which an architecture for another model_type does not expect, from the front of tensors
// ("ernie.encoder.layer.0").
void DropOwnPrefix(const std::string& model_type, Weights& weights);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_CHOOSE_ARCHITECTURE_H_
