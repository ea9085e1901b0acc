// The profile of a build of the library that runs certain models and nothing else.
#ifndef FOVEA_TOOLS_INSPECT_PROFILE_H_
#define FOVEA_TOOLS_INSPECT_PROFILE_H_

#include <string>
#include <vector>

#include "tools/common/model.h"

namespace fovea::tools {

// A text for CMake's FOVEA_PROFILE: what any of the models needs, and what no model asks for as comments. `taps`: the
// program that uses the library asks for attention weights.
std::string ProfileFor(const std::vector<const Model*>& models, bool taps);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_INSPECT_PROFILE_H_
