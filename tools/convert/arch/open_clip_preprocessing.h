// The preparation of images in open_clip_config.json, for directories that have no file of an image processor.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_OPEN_CLIP_PREPROCESSING_H_
#define FOVEA_TOOLS_CONVERT_ARCH_OPEN_CLIP_PREPROCESSING_H_

#include <optional>
#include <string>

#include "tools/image/preparation.h"

namespace fovea::tools {

// Nothing if the directory has no such file, or the file no preparation. Fails with the key that is not supported.
std::optional<Preparation> ReadOpenClipPreprocessing(const std::string& directory);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_OPEN_CLIP_PREPROCESSING_H_
