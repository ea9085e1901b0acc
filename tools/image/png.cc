// Writes images as PNG files.
#include "tools/image/png.h"

#include <stb/stb_image_write.h>

#include "tools/base/fail.h"

namespace fovea::tools {

std::string PngOf(const Picture& picture) {
  std::string bytes;
  const auto append = [](void* to, void* data, int size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(data), static_cast<size_t>(size));
  };
  stbi_write_png_to_func(append, &bytes, static_cast<int>(picture.width), static_cast<int>(picture.height),
                         static_cast<int>(picture.channels), picture.pixels.data(),
                         static_cast<int>(picture.channels * picture.width));
  if (bytes.empty()) Fail("an image of {} x {} pixels cannot be written as PNG", picture.width, picture.height);
  return bytes;
}

}  // namespace fovea::tools
