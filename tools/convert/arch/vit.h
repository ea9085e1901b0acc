// The stack of ViT and DeiT, which reads the patches of a picture.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_VIT_H_
#define FOVEA_TOOLS_CONVERT_ARCH_VIT_H_

#include <string>

#include "tools/convert/arch/layer_stack.h"

namespace fovea::tools {

// `prefix`: of stored names. Says which of them must be used, and the size of pictures in the metadata.
LayerStack VitStack(const Checkpoint& checkpoint, const std::string& prefix, Description& description);
// A layer of it whose names begin with `at`.
StackLayer VitLayer(const std::string& at);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_VIT_H_
