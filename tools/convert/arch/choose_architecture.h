// Which architecture's file reads a model: the one of its model_type, or those that its tensors fit.
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

// Fails for a model_type that is not known, and names the architectures of which all tensors and shapes fit. What the
// model computes cannot be told by its tensors: a person has to say that it is the same. `describe` may fail.
[[noreturn]] void FailUnknown(const std::string& model_type,
                              const std::function<Description(const Architecture&)>& describe);

// A model that is read as one of another architecture has its own name at the front of tensors ("ernie.encoder.."),
// which none of that architecture's have: they lose it.
void DropOwnPrefix(const std::string& model_type, Weights& weights);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_CHOOSE_ARCHITECTURE_H_
