// config.json of a directory in the one form that architectures read.
#ifndef FOVEA_TOOLS_CONVERT_PUBLISHED_CONFIG_FILE_H_
#define FOVEA_TOOLS_CONVERT_PUBLISHED_CONFIG_FILE_H_

#include <string>

#include "tools/convert/arch/config.h"
#include "tools/convert/findings.h"

namespace fovea::tools {

// Former and later spellings of a key become the one that architectures read.
Config ReadConfigFile(const std::string& directory, Findings& findings);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_PUBLISHED_CONFIG_FILE_H_
