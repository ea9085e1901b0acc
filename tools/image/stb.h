// What tools/image uses of the picture library.
#ifndef FOVEA_TOOLS_IMAGE_STB_H_
#define FOVEA_TOOLS_IMAGE_STB_H_

#include <stdint.h>

#include <string>
#include <vector>

namespace fovea::tools {

inline constexpr uint64_t kMostPixels = uint64_t{1} << 26;

struct Decoded {
  uint32_t width = 0, height = 0;
  std::vector<uint8_t> rgba;
  const char* error = nullptr;
};

bool DecodePicture(const uint8_t* data, int size, Decoded* decoded);
// Nothing if it fails.
std::string EncodePng(const uint8_t* rgb, uint32_t width, uint32_t height);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_IMAGE_STB_H_
