// Checks image files before decoding, since the decoder (stb_image) ignores checksums and orientation and makes up
// missing data.
#ifndef FOVEA_TOOLS_IMAGE_FILE_CHECKS_H_
#define FOVEA_TOOLS_IMAGE_FILE_CHECKS_H_

#include <stdint.h>

namespace fovea::tools {

// Both fail with a description of the fault.
uint32_t CheckPng(const uint8_t* data, uint64_t size);  // returns the orientation (orientation.h)

struct JpegFacts {
  uint32_t orientation = 1;
  uint32_t components = 0;
  bool arithmetic = false;
  bool unmarked = false;  // four channels without Adobe's marker, which specifies their meaning
};
JpegFacts CheckJpeg(const uint8_t* data, uint64_t size);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_IMAGE_FILE_CHECKS_H_
