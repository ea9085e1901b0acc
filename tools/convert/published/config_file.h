// config.json of a directory in the one form that architectures read.
#ifndef FOVEA_TOOLS_CONVERT_PUBLISHED_CONFIG_FILE_H_
#define FOVEA_TOOLS_CONVERT_PUBLISHED_CONFIG_FILE_H_

#include <string>

#include "tools/convert/arch/config.h"
#include "tools/convert/findings.h"

namespace fovea::tools {

// Former and later spellings of a key become the one that architectures read. `text_part`, if not null: of a model that
// also reads pictures or sound the part for texts is returned, and this reports whether it was.
Config ReadConfigFile(const std::string& directory, Findings& findings, bool* text_part = nullptr);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_PUBLISHED_CONFIG_FILE_H_
