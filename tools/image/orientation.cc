// The orientation of images.
#include "tools/image/orientation.h"

#include <string.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace fovea::tools {
namespace {

constexpr std::string_view kExif("Exif\0\0", 6);

std::string_view TextOf(const uint8_t* data, uint64_t size) {
  return {reinterpret_cast<const char*>(data), static_cast<size_t>(size)};
}

// The value of a directory's entry; 0: it is not a whole number. The type is the Exif standard's.
uint32_t Whole(uint32_t type, const std::function<uint32_t(uint64_t, int)>& number, uint64_t at) {
  enum : uint32_t { kByte = 1, kShort = 3, kLong = 4, kSignedByte = 6, kSignedShort = 8, kSignedLong = 9 };
  switch (type) {
    case kByte:
    case kSignedByte:
      return number(at, 1);
    case kShort:
    case kSignedShort:
      return number(at, 2);
    case kLong:
    case kSignedLong:
      return number(at, 4);
    default:
      return 0;
  }
}

// The orientation in a TIFF structure; 0: none.
uint32_t InTiff(const uint8_t* tiff, uint64_t size) {
  constexpr uint32_t kTag = 0x0112;
  if (size < 8) return 0;
  const bool little = tiff[0] == 'I';
  const auto number = [&](uint64_t at, int bytes) {
    uint32_t value = 0;
    for (int i = 0; i < bytes; ++i) value = value << 8 | tiff[at + static_cast<uint64_t>(little ? bytes - 1 - i : i)];
    return value;
  };
  if (tiff[0] != tiff[1] || (!little && tiff[0] != 'M') || number(2, 2) != 42) return 0;
  const uint64_t directory = number(4, 4);
  if (directory + 2 > size) return 0;
  const uint32_t entries = number(directory, 2);
  uint32_t found = 0;
  for (uint64_t i = 0; i < entries; ++i) {
    const uint64_t at = directory + 2 + 12 * i;
    if (at + 12 > size) break;
    if (number(at, 2) != kTag || number(at + 4, 4) != 1) continue;
    const uint32_t value = Whole(number(at + 2, 2), number, at + 8);
    found = value >= 1 && value <= 8 ? value : kUpright;
  }
  return found;
}

}  // namespace

void Orientation::ReadExif(const uint8_t* data, uint64_t size) {
  while (TextOf(data, size).substr(0, kExif.size()) == kExif) {
    data += kExif.size();
    size -= kExif.size();
  }
  exif_ = InTiff(data, size);
}

void Orientation::ReadXmp(const uint8_t* data, uint64_t size) {
  constexpr std::string_view kKey = "tiff:Orientation";
  const std::string_view text = TextOf(data, size);
  for (size_t at = text.find(kKey); at != std::string_view::npos; at = text.find(kKey, at + 1)) {
    std::string_view rest = text.substr(at + kKey.size());
    const size_t sign = rest.substr(0, 2) == "=\"" ? 2 : rest.substr(0, 1) == ">" ? 1 : 0;
    rest.remove_prefix(sign);
    if (sign == 0 || rest.empty() || rest[0] < '0' || rest[0] > '9') continue;
    xmp_ = static_cast<uint32_t>(rest[0] - '0');
    return;
  }
}

void Orientation::ReadHexadecimalExif(const uint8_t* data, uint64_t size) {
  std::string_view text = TextOf(data, size);
  for (int line = 0; line < 3; ++line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
  std::string bytes;
  int high = -1;
  for (const char c : text) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) continue;
    if (high >= 0) bytes += static_cast<char>(high * 16 + digit);
    high = high >= 0 ? -1 : digit;
  }
  ReadExif(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

uint32_t Orientation::Get() const {
  const uint32_t found = exif_ != 0 ? exif_ : xmp_;
  return found >= 1 && found <= 8 ? found : kUpright;
}

Picture Upright(Picture picture, uint32_t from) {
  if (from == kUpright) return picture;
  const bool swapped = from >= 5;  // rows and columns are exchanged
  const bool left = from == 2 || from == 3 || from == 7 || from == 8;
  const bool up = from == 3 || from == 4 || from == 6 || from == 7;
  Picture turned = {picture.width, picture.height, picture.channels, std::vector<uint8_t>(picture.pixels.size())};
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

}  // namespace fovea::tools
