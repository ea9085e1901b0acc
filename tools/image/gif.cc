// Reads the first image of a GIF file.
#include <string.h>

#include <algorithm>
#include <array>
#include <vector>

#include "tools/base/fail.h"
#include "tools/image/formats.h"

namespace fovea::tools {
namespace {

// The bytes of a file, in order.
class Bytes {
 public:
  Bytes(const uint8_t* data, uint64_t size) : at_(data), left_(size) {}
  const uint8_t* Take(uint64_t count) {
    if (count > left_) Fail("the file ends within the image");
    const uint8_t* taken = at_;
    at_ += count;
    left_ -= count;
    return taken;
  }
  uint32_t Byte() { return *Take(1); }
  uint32_t Short() {
    const uint8_t* two = Take(2);
    return two[0] | uint32_t{two[1]} << 8;
  }

 private:
  const uint8_t* at_;
  uint64_t left_;
};

using Colour = std::array<uint8_t, 3>;
using Palette = std::array<Colour, 256>;

// Entries that the file does not have are greys, as in Pillow.
Palette ReadPalette(Bytes& bytes, uint32_t flags) {
  Palette palette;
  for (uint32_t i = 0; i < 256; ++i) palette[i].fill(static_cast<uint8_t>(i));
  if ((flags & 0x80) == 0) return palette;
  for (uint32_t i = 0; i < 2u << (flags & 7); ++i) memcpy(palette[i].data(), bytes.Take(3), 3);
  return palette;
}

// Codes of 3 to 12 bits from sub-blocks, each of at most 255 bytes after its length.
class Codes {
 public:
  explicit Codes(Bytes& bytes) : bytes_(bytes) {}
  uint32_t Next(uint32_t bits) {
    while (count_ < bits) {
      if (block_ == 0) block_ = bytes_.Byte();
      if (block_ == 0) Fail("the image has less data than pixels");
      pending_ |= bytes_.Byte() << count_;
      count_ += 8;
      --block_;
    }
    const uint32_t code = pending_ & ((1u << bits) - 1);
    pending_ >>= bits;
    count_ -= bits;
    return code;
  }

 private:
  Bytes& bytes_;
  uint32_t block_ = 0;  // bytes left in the sub-block
  uint32_t pending_ = 0, count_ = 0;
};

// LZW: each code is a string of palette indices, that of another code and one more index.
std::vector<uint8_t> Decompress(Bytes& bytes, uint64_t pixels) {
  constexpr uint32_t kMostBits = 12, kMostCodes = 1u << kMostBits;
  const uint32_t smallest = bytes.Byte();
  if (smallest == 0 || smallest >= kMostBits) Fail("codes of {} bits are invalid", smallest);
  const uint32_t clear = 1u << smallest, end = clear + 1;
  std::vector<uint16_t> before(kMostCodes);
  std::vector<uint8_t> last(kMostCodes), reversed, made;
  made.reserve(std::min<uint64_t>(pixels, 1u << 20));  // a small file may claim many pixels
  Codes codes(bytes);
  uint32_t bits = smallest + 1, next = clear + 2, previous = clear;
  while (made.size() < pixels) {
    uint32_t code = codes.Next(bits);
    if (code == clear) {
      bits = smallest + 1;
      next = clear + 2;
      previous = clear;
      continue;
    }
    if (code == end) Fail("the image has less data than pixels");
    const uint32_t whole = code;
    reversed.clear();
    if (previous == clear) {
      if (code > clear) Fail("code {} is invalid", code);
    } else {
      if (code > next || next > kMostCodes) Fail("code {} is invalid", code);
      if (code == next) {
        reversed.push_back(0);  // the string's first index, known below
        code = previous;
      }
      while (code >= clear) {
        reversed.push_back(last[code]);
        code = before[code];
      }
    }
    const auto first = static_cast<uint8_t>(code);
    if (whole == next && previous != clear) reversed[0] = first;
    reversed.push_back(first);
    const uint64_t room = pixels - made.size();
    for (uint64_t i = 0; i < reversed.size() && i < room; ++i) made.push_back(reversed[reversed.size() - 1 - i]);
    if (previous != clear && next < kMostCodes) {
      last[next] = first;
      before[next] = static_cast<uint16_t>(previous);
      ++next;
      if (next == 1u << bits && bits < kMostBits) ++bits;
    }
    previous = whole;
  }
  return made;
}

// The rows of an interlaced image come in four passes.
std::vector<uint32_t> RowOrder(uint32_t height, bool interlaced) {
  std::vector<uint32_t> rows;
  constexpr std::pair<uint32_t, uint32_t> kPasses[] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}}, kWhole[] = {{0, 1}};
  const auto add = [&](const std::pair<uint32_t, uint32_t>& pass) {
    for (uint32_t y = pass.first; y < height; y += pass.second) rows.push_back(y);
  };
  if (interlaced) std::for_each(std::begin(kPasses), std::end(kPasses), add);
  if (!interlaced) std::for_each(std::begin(kWhole), std::end(kWhole), add);
  return rows;
}

}  // namespace

Picture ParseGif(const uint8_t* data, uint64_t size) {
  enum : uint32_t { kExtension = '!', kImage = ',', kEnd = ';', kControl = 0xf9 };
  Bytes bytes(data, size);
  bytes.Take(6);
  Picture picture;
  picture.width = bytes.Short();
  picture.height = bytes.Short();
  const uint32_t flags = bytes.Byte();
  bytes.Take(2);
  Palette palette = ReadPalette(bytes, flags);
  uint32_t background = 0;  // the transparent index, else the first one: what the first image leaves free
  while (true) {
    const uint32_t kind = bytes.Byte();
    if (kind == kEnd) Fail("it contains no image");
    if (kind == kImage) break;
    if (kind != kExtension) continue;
    const uint32_t label = bytes.Byte();
    bool first = true;
    for (uint32_t length = bytes.Byte(); length != 0; length = bytes.Byte()) {
      const uint8_t* block = bytes.Take(length);
      if (label == kControl && first && length >= 4 && (block[0] & 1) != 0) background = block[3];
      first = false;
    }
  }
  const uint32_t left = bytes.Short(), top = bytes.Short(), width = bytes.Short(), height = bytes.Short();
  const uint32_t image_flags = bytes.Byte();
  if ((image_flags & 0x80) != 0) palette = ReadPalette(bytes, image_flags);
  // An image may extend beyond the screen, which then grows.
  picture.width = std::max(picture.width, left + width);
  picture.height = std::max(picture.height, top + height);
  CheckPixels(picture.height, picture.width);
  const std::vector<uint8_t> indices = Decompress(bytes, uint64_t{width} * height);
  const uint64_t pixels = uint64_t{picture.width} * picture.height;
  picture.pixels.resize(3 * pixels);
  const Colour free = palette[background];
  for (uint64_t i = 0; i < pixels; ++i) std::copy(free.begin(), free.end(), &picture.pixels[3 * i]);
  const uint8_t* index = indices.data();
  for (const uint32_t y : RowOrder(height, (image_flags & 0x40) != 0)) {
    uint8_t* to = picture.pixels.data() + 3 * (uint64_t{top + y} * picture.width + left);
    for (uint32_t x = 0; x < width; ++x, to += 3) memcpy(to, palette[*index++].data(), 3);
  }
  return picture;
}

}  // namespace fovea::tools
