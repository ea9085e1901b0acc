// Encoders of sound that make features of samples themselves.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_SOUND_FRONT_H_
#define FOVEA_TOOLS_CONVERT_ARCH_SOUND_FRONT_H_

#include "tools/convert/arch/layer_stack.h"

namespace fovea::tools {

// A front that reads samples and computes its features, if preprocessor_config.json describes them; else `front`
// itself. The features are a value of the program, called as the front's own input.
Front FromSamples(Front front, const Checkpoint& checkpoint, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_SOUND_FRONT_H_
