// What metadata says about generation must fit the programs: the same rules as of include/fovea/generate.h, but known at
// conversion, and with key and value in the message.
#ifndef FOVEA_TOOLS_CONVERT_GENERATION_RULES_H_
#define FOVEA_TOOLS_CONVERT_GENERATION_RULES_H_

#include "tools/blob/blob.h"

namespace fovea::tools {

// Fails with the first entry "generate.*" that does not fit.
void CheckGeneration(const BlobContent& content);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_GENERATION_RULES_H_
