// Reads BMP files, bitmaps of Windows and OS/2.
#include <string.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "tools/base/fail.h"
#include "tools/image/formats.h"

namespace fovea::tools {
namespace {

using Colour = std::array<uint8_t, 3>;  // red, green, blue

class Bmp {
 public:
  Bmp(const uint8_t* data, uint64_t size) : data_(data), size_(size) {}

  Picture Read() {
    ReadHeader();
    if (bits_ <= 8) ReadPalette();
    if (size_ < offset_) Fail("the file ends before the image");
    if (compression_ == kRunLength8 || compression_ == kRunLength4) {
      ReadRunLengths();
    } else {
      ReadRows();
    }
    return std::move(picture_);
  }

 private:
  enum : uint32_t { kPlain, kRunLength8, kRunLength4, kMasks, kJpeg, kPng, kMasksWithAlpha };
  enum : uint32_t { kFileHeader = 14, kOldHeader = 12, kHeader = 40, kMasksHeader = 52 };

  uint32_t Number(uint64_t at, uint32_t bytes) const {
    if (at > size_ || bytes > size_ - at) Fail("the file ends within its header");
    uint32_t number = 0;
    for (uint32_t i = bytes; i > 0; --i) number = number << 8 | data_[at + i - 1];
    return number;
  }

  void ReadHeader() {
    static constexpr uint32_t kHeaders[] = {kOldHeader, kHeader, kMasksHeader, 56, 64, 108, 124};
    const uint32_t header = Number(kFileHeader, 4);
    if (std::find(std::begin(kHeaders), std::end(kHeaders), header) == std::end(kHeaders)) {
      Fail("a BMP header of {} bytes is not supported; convert it to PNG", header);
    }
    offset_ = Number(10, 4);
    header_end_ = kFileHeader + header;
    uint32_t height = 0;
    if (header == kOldHeader) {
      picture_.width = Number(18, 2);
      height = Number(20, 2);
      bits_ = Number(24, 2);
      entry_ = 3;
    } else {
      picture_.width = Number(18, 4);
      height = Number(22, 4);
      bits_ = Number(28, 2);
      compression_ = Number(30, 4);
      entries_ = Number(46, 4);
      top_down_ = height >> 31 != 0;
      if (top_down_) height = 0 - height;
    }
    picture_.height = height;
    CheckPixels(height, picture_.width);
    const bool depth =
        bits_ == 1 || bits_ == 2 || bits_ == 4 || bits_ == 8 || bits_ == 16 || bits_ == 24 || bits_ == 32;
    const bool masks = (compression_ == kMasks && header != 64) || compression_ == kMasksWithAlpha;
    const bool known = compression_ == kPlain || (compression_ == kRunLength8 && bits_ == 8) ||
                       (compression_ == kRunLength4 && bits_ == 4) || (masks && (bits_ == 16 || bits_ == 32));
    if (!depth || !known) {
      Fail("a BMP of {} bits with compression {} is not supported; convert it to PNG", bits_, compression_);
    }
    if (masks) {
      for (uint32_t c = 0; c < 3; ++c) masks_[c] = Number(54 + 4 * c, 4);
      if (header == kHeader) header_end_ += compression_ == kMasks ? 12 : 16;
      const bool none = masks_[0] == 0 && masks_[1] == 0 && masks_[2] == 0;
      if (none && bits_ == 16) Fail("its masks are zero");
      if (none) masks_ = {0xff0000, 0xff00, 0xff};
    } else if (bits_ == 16) {
      masks_ = {0x7c00, 0x3e0, 0x1f};
    } else if (bits_ == 32) {
      masks_ = {0xff0000, 0xff00, 0xff};
    }
  }

  // Entries that the file does not have are black.
  void ReadPalette() {
    const uint32_t most = 1u << bits_;
    const uint32_t count = entries_ == 0 ? most : std::min(entries_, most);
    palette_.assign(256, Colour{});
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t at = header_end_ + uint64_t{entry_} * i;
      if (at + 3 > size_) Fail("the file ends within its palette");
      palette_[i] = {data_[at + 2], data_[at + 1], data_[at]};
    }
  }

  // The row of the picture that the file has as row `y`.
  uint8_t* Row(uint32_t y) {
    const uint32_t row = top_down_ ? y : picture_.height - 1 - y;
    return picture_.pixels.data() + uint64_t{3} * row * picture_.width;
  }

  void ReadRows() {
    const uint64_t width = picture_.width, stride = (width * bits_ + 31) / 32 * 4;
    // The last row may lack its padding.
    const uint64_t needed = stride * (picture_.height - 1) + (width * bits_ + 7) / 8;
    if (size_ - offset_ < needed) Fail("the file ends within the image");
    picture_.pixels.resize(3 * width * picture_.height);
    for (uint32_t y = 0; y < picture_.height; ++y) {
      const uint8_t* from = data_ + offset_ + stride * y;
      uint8_t* to = Row(y);
      for (uint64_t x = 0; x < width; ++x, to += 3) {
        if (bits_ <= 8) {
          const uint64_t bit = x * bits_;
          const uint32_t shift = 8 - bits_ - static_cast<uint32_t>(bit % 8);
          memcpy(to, palette_[from[bit / 8] >> shift & ((1u << bits_) - 1)].data(), 3);
        } else if (bits_ == 24) {
          std::reverse_copy(from + 3 * x, from + 3 * x + 3, to);
        } else {
          const uint8_t* pixel = from + x * (bits_ / 8);
          uint32_t number = pixel[0] | uint32_t{pixel[1]} << 8;
          if (bits_ == 32) number |= uint32_t{pixel[2]} << 16 | uint32_t{pixel[3]} << 24;
          for (uint32_t c = 0; c < 3; ++c) to[c] = Masked(number, masks_[c]);
        }
      }
    }
  }

  // The bits under a mask as a number of 0 to 255, rounded down as in Pillow.
  static uint8_t Masked(uint32_t number, uint32_t mask) {
    if (mask == 0) return 0;
    uint32_t low = 0;
    while ((mask >> low & 1) == 0) ++low;
    return static_cast<uint8_t>(uint64_t{(number & mask) >> low} * 255 / (mask >> low));
  }

  // Pairs of bytes: a count and an index, or 0 and a command. Pixels that the file skips have index 0.
  void ReadRunLengths() {
    enum : uint32_t { kEndOfRow, kEndOfImage, kSkip };
    const uint32_t width = picture_.width;
    picture_.pixels.resize(uint64_t{3} * width * picture_.height);
    for (uint64_t i = 0; i < uint64_t{width} * picture_.height; ++i) {
      memcpy(&picture_.pixels[3 * i], palette_[0].data(), 3);
    }
    uint64_t at = offset_;
    uint32_t x = 0, y = 0;
    const auto put = [&](uint32_t index) {
      if (x < width && y < picture_.height) memcpy(Row(y) + uint64_t{3} * x, palette_[index].data(), 3);
      ++x;
    };
    const auto take = [&] {
      if (at >= size_) Fail("the file ends within the image");
      return uint32_t{data_[at++]};
    };
    const auto nibble = [](uint32_t byte, uint32_t i) { return i % 2 == 0 ? byte >> 4 : byte & 15; };
    const bool halves = compression_ == kRunLength4;
    // Some writers leave out the end after the last pixel.
    const auto done = [&] { return y >= picture_.height || (y + 1 == picture_.height && x >= width && at >= size_); };
    while (!done()) {
      const uint32_t count = take(), value = take();
      if (count > 0) {
        for (uint32_t i = 0; i < count; ++i) put(halves ? nibble(value, i) : value);
      } else if (value == kEndOfRow) {
        x = 0;
        ++y;
      } else if (value == kEndOfImage) {
        return;
      } else if (value == kSkip) {
        x = std::min(x + take(), width);
        y += take();
      } else {
        const uint64_t begin = at;
        uint32_t byte = 0;
        for (uint32_t i = 0; i < value; ++i) {
          if (!halves || i % 2 == 0) byte = take();
          put(halves ? nibble(byte, i) : byte);
        }
        at += (at - begin) % 2;  // to a whole word
      }
    }
  }

  const uint8_t* const data_;
  const uint64_t size_;
  Picture picture_;
  uint64_t offset_ = 0, header_end_ = 0;
  uint32_t bits_ = 0, compression_ = kPlain;
  uint32_t entries_ = 0, entry_ = 4;  // number of colours of the palette, and bytes of each
  bool top_down_ = false;             // else the first row of the file is the lowest one
  std::array<uint32_t, 3> masks_{};
  std::vector<Colour> palette_;
};

}  // namespace

Picture ParseBmp(const uint8_t* data, uint64_t size) { return Bmp(data, size).Read(); }

}  // namespace fovea::tools
