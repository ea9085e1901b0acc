// Reads PNG and JPEG files.
#include "tools/image/picture.h"

#include <stb/stb_image.h>
#include <string.h>

#include <algorithm>
#include <memory>

#include "tools/base/fail.h"
#include "tools/base/input_file.h"
#include "tools/image/file_checks.h"

namespace fovea::tools {
namespace {

constexpr uint64_t kMostPixels = uint64_t{1} << 28;

// Rotates or mirrors an image of Exif orientation `from`.
Picture Upright(const Picture& picture, uint32_t from) {
  if (from == kUpright) return picture;
  const bool swapped = from >= 5;  // rows and columns are exchanged
  const bool left = from == 2 || from == 3 || from == 7 || from == 8;
  const bool up = from == 3 || from == 4 || from == 6 || from == 7;
  Picture turned = picture;
  if (swapped) std::swap(turned.width, turned.height);
  uint8_t* to = turned.pixels.data();
  for (uint32_t y = 0; y < turned.height; ++y) {
    for (uint32_t x = 0; x < turned.width; ++x, to += picture.channels) {
      uint32_t row = swapped ? x : y, column = swapped ? y : x;
      if (up) row = picture.height - 1 - row;
      if (left) column = picture.width - 1 - column;
      memcpy(to, picture.pixels.data() + (uint64_t{row} * picture.width + column) * picture.channels, picture.channels);
    }
  }
  return turned;
}

[[noreturn]] void FailWithKind(const uint8_t* data, uint64_t size) {
  if (size == 0) Fail("the file is empty; give PNG or JPEG");
  const auto has = [&](uint64_t at, const char* text) {
    return size >= at + strlen(text) && memcmp(data + at, text, strlen(text)) == 0;
  };
  const char* const kind = has(0, "RIFF") && has(8, "WEBP")           ? "WebP"
                           : has(0, "GIF8")                           ? "GIF"
                           : has(0, "BM")                             ? "BMP"
                           : has(0, "II*") || has(0, "MM")            ? "TIFF"
                           : has(4, "ftypavif") || has(4, "ftypavis") ? "AVIF"
                           : has(4, "ftyp")                           ? "HEIC or MP4"
                           : has(0, "\xff\x0a") || has(4, "JXL ")     ? "JPEG XL"
                           : has(4, "jP  ")                           ? "JPEG 2000"
                           : has(0, "<svg") || has(0, "<?xml")        ? "SVG or XML"
                                                                      : nullptr;
  if (kind == nullptr) Fail("not a PNG or JPEG file");
  Fail("{} is not supported; convert it to PNG or JPEG", kind);
}

}  // namespace

Picture ParsePicture(const uint8_t* data, uint64_t size) {
  constexpr uint8_t kPng[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  const bool png = size >= sizeof(kPng) && memcmp(data, kPng, sizeof(kPng)) == 0;
  const bool jpeg = size >= 2 && data[0] == 0xff && data[1] == 0xd8;
  if (!png && !jpeg) FailWithKind(data, size);
  if (size > INT32_MAX) Fail("{} bytes exceed the limit of 2 GiB", size);
  const uint32_t orientation = png ? CheckPng(data, size) : CheckJpeg(data, size);
  int width = 0, height = 0, channels = 0;
  const auto bytes = static_cast<int>(size);
  if (stbi_info_from_memory(data, bytes, &width, &height, &channels) == 0) Fail("broken: {}", stbi_failure_reason());
  if (static_cast<uint64_t>(width) * static_cast<uint64_t>(height) > kMostPixels) {
    Fail("{} x {} pixels exceed the limit", height, width);
  }
  const std::unique_ptr<uint8_t, void (*)(void*)> pixels(
      stbi_load_from_memory(data, bytes, &width, &height, &channels, 3), stbi_image_free);
  if (!pixels) Fail("broken: {}", stbi_failure_reason());
  Picture picture = {static_cast<uint32_t>(width), static_cast<uint32_t>(height), 3, {}};
  picture.pixels.assign(pixels.get(), pixels.get() + uint64_t{3} * picture.width * picture.height);
  return Upright(picture, orientation);
}

Picture ReadPicture(const std::string& path) {
  const InputFile file(path);
  try {
    return ParsePicture(file.data(), file.size());
  } catch (const Failure& failure) {
    Fail("{}: {}", path, failure.what());
  }
}

std::vector<Picture> ReadPictures(const std::vector<std::string>& paths) {
  std::vector<Picture> pictures;
  for (const std::string& path : paths) pictures.push_back(ReadPicture(path));
  return pictures;
}

Picture Grey(const Picture& picture) {
  Picture grey = {picture.width, picture.height, 1, {}};
  for (size_t i = 0; i < picture.pixels.size(); i += 3) {
    const uint8_t* rgb = picture.pixels.data() + i;
    grey.pixels.push_back(static_cast<uint8_t>((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >> 16));
  }
  return grey;
}

}  // namespace fovea::tools
