// Writes images as PNG files.
#ifndef FOVEA_TOOLS_IMAGE_PNG_H_
#define FOVEA_TOOLS_IMAGE_PNG_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "tools/image/picture.h"

namespace fovea::tools {

// The bytes of a PNG file. Fails if the image cannot be encoded.
std::string PngOf(const Picture& picture);

// The same for indices, row by row. Up to 256 different ones have a palette, whose colours are the Pascal VOC data
// set's; larger indices are greys of 16 bits.
std::string IndexedPngOf(const std::vector<uint16_t>& indices, uint32_t height, uint32_t width);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_IMAGE_PNG_H_
