// Keys of config.json that change no result of a converted model, with the reasons.
#ifndef FOVEA_TOOLS_CONVERT_PUBLISHED_NO_EFFECT_H_
#define FOVEA_TOOLS_CONVERT_PUBLISHED_NO_EFFECT_H_

#include <string>

#include "tools/base/json.h"

namespace fovea::tools {

// Whether this key with this value is known to change nothing for any family.
bool HasNoEffect(const std::string& key, const Json& value);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_PUBLISHED_NO_EFFECT_H_
