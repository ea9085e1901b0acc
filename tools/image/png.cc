// Writes images as PNG files.
#include "tools/image/png.h"

#include <stb/stb_image_write.h>
#include <zlib.h>

#include <algorithm>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

std::string Big(uint64_t number, int bytes) {
  std::string made;
  for (int i = bytes - 1; i >= 0; --i) made += static_cast<char>(number >> 8 * i & 255);
  return made;
}

std::string Chunk(std::string type, const std::string& content) {
  type += content;
  const uLong crc = crc32(0, reinterpret_cast<const Bytef*>(type.data()), static_cast<uInt>(type.size()));
  return Big(content.size(), 4) + type + Big(crc, 4);
}

// Each bit of an index goes to one of the colours, from the highest bit of the colour on.
std::string Colours() {
  std::string colours;
  for (uint32_t index = 0; index < 256; ++index) {
    for (uint32_t c = 0; c < 3; ++c) {
      uint32_t colour = 0;
      for (uint32_t bit = 0; 3 * bit + c < 8; ++bit) colour |= (index >> (3 * bit + c) & 1) << (7 - bit);
      colours += static_cast<char>(colour);
    }
  }
  return colours;
}

}  // namespace

std::string IndexedPngOf(const std::vector<uint16_t>& indices, uint32_t height, uint32_t width) {
  enum : uint8_t { kGrey = 0, kPalette = 3 };
  const bool palette = std::all_of(indices.begin(), indices.end(), [](uint16_t index) { return index < 256; });
  std::string rows;
  rows.reserve((uint64_t{width} * (palette ? 1 : 2) + 1) * height);
  for (uint64_t y = 0; y < height; ++y) {
    rows += '\0';  // the row's filter: none
    for (uint64_t x = 0; x < width; ++x) {
      const uint16_t index = indices[y * width + x];
      if (!palette) rows += static_cast<char>(index >> 8);
      rows += static_cast<char>(index & 255);
    }
  }
  uLongf size = compressBound(static_cast<uLong>(rows.size()));
  std::string data(size, '\0');
  const int status = compress(reinterpret_cast<Bytef*>(data.data()), &size, reinterpret_cast<const Bytef*>(rows.data()),
                              static_cast<uLong>(rows.size()));
  if (status != Z_OK) Fail("an image of {} x {} pixels cannot be written as PNG", width, height);
  data.resize(size);
  const std::string kind = {static_cast<char>(palette ? 8 : 16), static_cast<char>(palette ? kPalette : kGrey), 0, 0,
                            0};
  return "\x89PNG\r\n\x1a\n" + Chunk("IHDR", Big(width, 4) + Big(height, 4) + kind) +
         (palette ? Chunk("PLTE", Colours()) : "") + Chunk("IDAT", data) + Chunk("IEND", "");
}

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
