// Checks image files before decoding, since the decoder (stb_image) ignores checksums and orientation and makes up
// missing data.
#ifndef FOVEA_TOOLS_IMAGE_FILE_CHECKS_H_
#define FOVEA_TOOLS_IMAGE_FILE_CHECKS_H_

#include <stdint.h>

namespace fovea::tools {

// Exif orientation: 1 upright, 2 mirrored, 3 rotated by 180 degrees, ... 8.
constexpr uint32_t kUpright = 1;

// Both return the orientation, and fail with a description of the fault.
uint32_t CheckPng(const uint8_t* data, uint64_t size);
uint32_t CheckJpeg(const uint8_t* data, uint64_t size);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_IMAGE_FILE_CHECKS_H_
