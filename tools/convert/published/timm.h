// Directories of timm, whose config.json names an "architecture" in place of a model_type: its plain ViT.
#ifndef FOVEA_TOOLS_CONVERT_PUBLISHED_TIMM_H_
#define FOVEA_TOOLS_CONVERT_PUBLISHED_TIMM_H_

#include <string>

#include "tools/convert/arch/architecture.h"

namespace fovea::tools {

bool IsTimm(const std::string& directory);

// By architecture `vit`, with timm's configuration, names and preparation of images. Fails for other networks of timm.
Description DescribeTimm(const std::string& directory, const Reading& reading);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_PUBLISHED_TIMM_H_
