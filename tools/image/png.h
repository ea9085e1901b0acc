// Pictures as PNG files.
#ifndef FOVEA_TOOLS_IMAGE_PNG_H_
#define FOVEA_TOOLS_IMAGE_PNG_H_

#include <string>

#include "tools/image/picture.h"

namespace fovea::tools {

// The bytes of a file. Fails where that cannot be made.
std::string PngOf(const Picture& picture);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_IMAGE_PNG_H_
