// Reads WebP files by libwebp, if the build found it.
#include "tools/base/fail.h"
#include "tools/image/formats.h"
#include "tools/image/orientation.h"

#ifdef FOVEA_WEBP
#include <string.h>
#include <webp/decode.h>

#include <algorithm>
#include <string>
#endif

namespace fovea::tools {

#ifdef FOVEA_WEBP

namespace {

uint32_t Little(const uint8_t* at, int bytes) {
  uint32_t number = 0;
  for (int i = bytes; i > 0; --i) number = number << 8 | at[i - 1];
  return number;
}

struct Chunk {
  const uint8_t* name = nullptr;
  const uint8_t* data = nullptr;
  uint64_t size = 0;
  bool Is(const char* other) const { return memcmp(name, other, 4) == 0; }
};

// The chunks of a part of a file, in order; fails at the first one that does not fit.
class Chunks {
 public:
  Chunks(const uint8_t* data, uint64_t size) : at_(data), left_(size) {}
  bool Next(Chunk* chunk) {
    if (left_ < 8) return false;
    *chunk = {at_, at_ + 8, Little(at_ + 4, 4)};
    if (chunk->size > left_ - 8) Fail("the file ends within the image");
    const uint64_t whole = std::min(8 + chunk->size + chunk->size % 2, left_);
    at_ += whole;
    left_ -= whole;
    return true;
  }

 private:
  const uint8_t* at_;
  uint64_t left_;
};

// Decodes one image of the given extent into the picture at (left, top).
void Decode(const uint8_t* data, uint64_t size, uint32_t left, uint32_t top, Picture& picture) {
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) Fail("libwebp has another version than its header");
  if (WebPGetFeatures(data, size, &config.input) != VP8_STATUS_OK) Fail("its header is broken");
  const auto width = static_cast<uint32_t>(config.input.width), height = static_cast<uint32_t>(config.input.height);
  if (left > picture.width || width > picture.width - left || top > picture.height || height > picture.height - top) {
    Fail("an image of {} x {} pixels at {}, {} does not fit into {} x {}", height, width, top, left, picture.height,
         picture.width);
  }
  const uint64_t stride = uint64_t{3} * picture.width, first = stride * top + uint64_t{3} * left;
  if (stride > INT32_MAX) Fail("{} pixels in a row exceed the limit", picture.width);
  config.output.colorspace = MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = picture.pixels.data() + first;
  config.output.u.RGBA.stride = static_cast<int>(stride);
  config.output.u.RGBA.size = picture.pixels.size() - first;
  const VP8StatusCode status = WebPDecode(data, size, &config);
  WebPFreeDecBuffer(&config.output);
  if (status == VP8_STATUS_NOT_ENOUGH_DATA) Fail("the file ends within the image");
  if (status != VP8_STATUS_OK) Fail("broken: libwebp's status is {}", static_cast<int>(status));
}

// The frame of an animation, whose chunks follow 16 bytes of position and extent, as a file of one image.
std::string AsFile(const uint8_t* data, uint64_t size) {
  std::string file = "RIFF....WEBP";
  const auto put = [&](const Chunk& chunk) {
    file.append(reinterpret_cast<const char*>(chunk.name), 8);
    file.append(reinterpret_cast<const char*>(chunk.data), chunk.size);
    file.append(chunk.size % 2, '\0');
  };
  Chunks chunks(data, size);
  for (Chunk chunk; chunks.Next(&chunk);) {
    if (!chunk.Is("VP8 ") && !chunk.Is("VP8L")) continue;  // alpha is dropped
    put(chunk);
    for (size_t i = 0; i < 4; ++i) file[4 + i] = static_cast<char>((file.size() - 8) >> 8 * i & 255);
    return file;
  }
  Fail("its first frame has no image");
}

}  // namespace

Picture ParseWebp(const uint8_t* data, uint64_t size) {
  constexpr uint64_t kHeader = 12, kFrameHeader = 16;
  const uint64_t stated = uint64_t{Little(data + 4, 4)} + 8;
  if (stated > size) Fail("the file ends within the image");
  Picture picture;
  Orientation orientation;
  Chunk image, frame;
  bool extended = false, animated = false, exif = false, xmp = false;
  Chunks chunks(data + kHeader, stated - std::min(stated, kHeader));
  for (Chunk chunk; chunks.Next(&chunk);) {
    const bool still = chunk.Is("VP8 ") || chunk.Is("VP8L");
    if (chunk.Is("VP8X")) {
      if (chunk.size < 10) Fail("its header is too short");
      extended = true;
      animated = (chunk.data[0] & 2) != 0;
      picture.width = Little(chunk.data + 4, 3) + 1;
      picture.height = Little(chunk.data + 7, 3) + 1;
    } else if (still && image.name == nullptr) {
      image = chunk;
    } else if (chunk.Is("ANMF") && frame.name == nullptr) {
      if (chunk.size < kFrameHeader) Fail("its first frame is too short");
      frame = chunk;
    } else if (chunk.Is("EXIF") && !exif) {
      exif = true;  // only the first one counts, as in libwebp
      orientation.ReadExif(chunk.data, chunk.size);
    } else if (chunk.Is("XMP ") && !xmp) {
      xmp = true;
      orientation.ReadXmp(chunk.data, chunk.size);
    }
  }
  const bool moving = animated && frame.name != nullptr;
  if (!moving && image.name == nullptr) Fail("it contains no image");
  const std::string file = moving ? AsFile(frame.data + kFrameHeader, frame.size - kFrameHeader) : "";
  const auto* first = moving ? reinterpret_cast<const uint8_t*>(file.data()) : data;
  const uint64_t length = moving ? file.size() : stated;
  if (!extended) {
    int width = 0, height = 0;
    if (WebPGetInfo(data, size, &width, &height) == 0) Fail("its header is broken");
    picture.width = static_cast<uint32_t>(width);
    picture.height = static_cast<uint32_t>(height);
  }
  CheckPixels(picture.height, picture.width);
  // The area that the first frame does not cover is black, as in Pillow.
  picture.pixels.resize(uint64_t{3} * picture.width * picture.height);
  const uint32_t left = moving ? 2 * Little(frame.data, 3) : 0, top = moving ? 2 * Little(frame.data + 3, 3) : 0;
  Decode(first, length, left, top, picture);
  return Upright(std::move(picture), orientation.Get());
}

#else

Picture ParseWebp(const uint8_t*, uint64_t) {
  Fail(
      "WebP needs libwebp, which this fovea was built without; convert it to PNG ('convert in.webp out.png'), or build "
      "with libwebp-dev installed");
}

#endif

}  // namespace fovea::tools
