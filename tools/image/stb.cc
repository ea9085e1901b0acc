// The one place where the picture reader and writer are compiled: PNG and JPEG only, from memory only.
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS 16384
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

#include "tools/image/stb.h"

namespace fovea::tools {

bool DecodePicture(const uint8_t* data, int size, Decoded* decoded) {
  int width = 0, height = 0, channels = 0;
  if (stbi_info_from_memory(data, size, &width, &height, &channels) == 0) {
    decoded->error = stbi_failure_reason();
    return false;
  }
  if (static_cast<uint64_t>(width) * static_cast<uint64_t>(height) > kMostPixels) {
    decoded->error = "too many pixels";
    return false;
  }
  stbi_uc* pixels = stbi_load_from_memory(data, size, &width, &height, &channels, 4);
  if (pixels == nullptr) {
    decoded->error = stbi_failure_reason();
    return false;
  }
  decoded->width = static_cast<uint32_t>(width);
  decoded->height = static_cast<uint32_t>(height);
  decoded->rgba.assign(pixels, pixels + size_t{4} * decoded->width * decoded->height);
  stbi_image_free(pixels);
  return true;
}

std::string EncodePng(const uint8_t* rgb, uint32_t width, uint32_t height) {
  std::string bytes;
  const auto append = [](void* to, void* data, int size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(data), static_cast<size_t>(size));
  };
  stbi_write_png_to_func(append, &bytes, static_cast<int>(width), static_cast<int>(height), 3, rgb,
                         static_cast<int>(3 * width));
  return bytes;
}

}  // namespace fovea::tools
