// What a picture's file says before it is decoded, and whether it is whole: the decoder looks at neither checksums nor
// orientation, and makes up what is missing.
#ifndef FOVEA_TOOLS_IMAGE_FILE_CHECKS_H_
#define FOVEA_TOOLS_IMAGE_FILE_CHECKS_H_

#include <stdint.h>

namespace fovea::tools {

// As Exif counts them: 1 as it is, 2 mirrored, 3 turned by 180 degrees, .. 8.
constexpr uint32_t kUpright = 1;

// Both fail with what is wrong and return the orientation.
uint32_t CheckPng(const uint8_t* data, uint64_t size);
uint32_t CheckJpeg(const uint8_t* data, uint64_t size);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_IMAGE_FILE_CHECKS_H_
