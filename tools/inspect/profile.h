// Profile of a build of the library that runs only certain models.
#ifndef FOVEA_TOOLS_INSPECT_PROFILE_H_
#define FOVEA_TOOLS_INSPECT_PROFILE_H_

#include <string>
#include <vector>

#include "tools/model/model.h"

namespace fovea::tools {

// Text for CMake's FOVEA_PROFILE: what any of the models needs; as comments, features that no model needs. `taps`: the
// program that uses the library requests attention weights.
std::string ProfileFor(const std::vector<const Model*>& models, bool taps);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_INSPECT_PROFILE_H_
