// Writes images as PNG files.
#ifndef FOVEA_TOOLS_IMAGE_PNG_H_
#define FOVEA_TOOLS_IMAGE_PNG_H_

#include <string>

#include "tools/image/picture.h"

namespace fovea::tools {

// The bytes of a PNG file. Fails if the image cannot be encoded.
std::string PngOf(const Picture& picture);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_IMAGE_PNG_H_
