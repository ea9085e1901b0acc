// Reads image files.
#include "tools/image/picture.h"

#include <stb/stb_image.h>
#include <string.h>

#include <memory>

#include "tools/base/fail.h"
#include "tools/base/input_file.h"
#include "tools/image/file_checks.h"
#include "tools/image/formats.h"
#include "tools/image/orientation.h"

namespace fovea::tools {
namespace {

bool Has(const uint8_t* data, uint64_t size, uint64_t at, const char* text) {
  return size >= at + strlen(text) && memcmp(data + at, text, strlen(text)) == 0;
}

[[noreturn]] void FailWithKind(const uint8_t* data, uint64_t size) {
  if (size == 0) Fail("the file is empty; give PNG, JPEG, WebP, GIF or BMP");
  const auto has = [&](uint64_t at, const char* text) { return Has(data, size, at, text); };
  const char* const kind = has(0, "II*") || has(0, "MM")              ? "TIFF"
                           : has(4, "ftypavif") || has(4, "ftypavis") ? "AVIF"
                           : has(4, "ftyp")                           ? "HEIC or MP4"
                           : has(0, "\xff\x0a") || has(4, "JXL ")     ? "JPEG XL"
                           : has(4, "jP  ")                           ? "JPEG 2000"
                           : has(0, "<svg") || has(0, "<?xml")        ? "SVG or XML"
                           : has(0, "8BPS")                           ? "Photoshop's PSD"
                                                                      : nullptr;
  if (kind == nullptr) Fail("not a PNG, JPEG, WebP, GIF or BMP file");
  Fail("{} is not supported; convert it to PNG or JPEG", kind);
}

// PNG, and JPEG of the usual kinds.
Picture ParseByStb(const uint8_t* data, uint64_t size) {
  int width = 0, height = 0, channels = 0;
  const auto bytes = static_cast<int>(size);
  if (stbi_info_from_memory(data, bytes, &width, &height, &channels) == 0) Fail("broken: {}", stbi_failure_reason());
  CheckPixels(static_cast<uint64_t>(height), static_cast<uint64_t>(width));
  const std::unique_ptr<uint8_t, void (*)(void*)> pixels(
      stbi_load_from_memory(data, bytes, &width, &height, &channels, 3), stbi_image_free);
  if (!pixels) Fail("broken: {}", stbi_failure_reason());
  Picture picture = {static_cast<uint32_t>(width), static_cast<uint32_t>(height), 3, {}};
  picture.pixels.assign(pixels.get(), pixels.get() + uint64_t{3} * picture.width * picture.height);
  return picture;
}

Picture ParseJpeg(const uint8_t* data, uint64_t size) {
  const JpegFacts facts = CheckJpeg(data, size);
  const bool rare = facts.arithmetic || facts.unmarked;
  return Upright(rare ? ParseRareJpeg(data, size, facts.components) : ParseByStb(data, size), facts.orientation);
}

}  // namespace

void CheckPixels(uint64_t height, uint64_t width) {
  if (height == 0 || width == 0) Fail("it has no pixels: {} x {}", height, width);
  if (height > kMostPixels || width > kMostPixels || height * width > kMostPixels) {
    Fail("{} x {} pixels exceed the limit of {}; make the image smaller", height, width, kMostPixels);
  }
}

Picture ParsePicture(const uint8_t* data, uint64_t size) {
  const auto has = [&](uint64_t at, const char* text) { return Has(data, size, at, text); };
  if (size > INT32_MAX) Fail("{} bytes exceed the limit of 2 GiB", size);
  if (has(0, "\x89PNG\r\n\x1a\n")) {
    const uint32_t orientation = CheckPng(data, size);
    return Upright(ParseByStb(data, size), orientation);
  }
  if (has(0, "\xff\xd8")) return ParseJpeg(data, size);
  if (has(0, "GIF87a") || has(0, "GIF89a")) return ParseGif(data, size);
  if (has(0, "RIFF") && has(8, "WEBP")) return ParseWebp(data, size);
  if (has(0, "BM")) return ParseBmp(data, size);
  FailWithKind(data, size);
}

Picture ReadPicture(const std::string& path) {
  const InputFile file(path);
  try {
    return ParsePicture(file.data(), file.size());
  } catch (const Failure& failure) {
    Fail("{}: {}", path, failure.what());
  }
}

Picture Grey(const Picture& picture) {
  Picture grey = {picture.width, picture.height, 1, {}};
  grey.pixels.reserve(picture.pixels.size() / 3);
  for (size_t i = 0; i < picture.pixels.size(); i += 3) {
    const uint8_t* rgb = picture.pixels.data() + i;
    grey.pixels.push_back(static_cast<uint8_t>((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >> 16));
  }
  return grey;
}

}  // namespace fovea::tools
