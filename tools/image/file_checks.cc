// Checks image files before decoding.
#include "tools/image/file_checks.h"

#include <string.h>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

uint32_t Big(const uint8_t* at, int bytes) {
  uint32_t number = 0;
  for (int i = 0; i < bytes; ++i) number = number << 8 | at[i];
  return number;
}

uint32_t Crc(const uint8_t* data, uint64_t size) {
  uint32_t crc = 0xffffffff;
  for (uint64_t i = 0; i < size; ++i) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xedb88320 & (0 - (crc & 1)));
  }
  return ~crc;
}

// The orientation in a TIFF structure; invalid structures are ignored.
uint32_t Orientation(const uint8_t* tiff, uint64_t size) {
  constexpr uint32_t kTag = 0x0112, kShort = 3;
  if (size < 8) return kUpright;
  const bool little = tiff[0] == 'I';
  const auto number = [&](uint64_t at, int bytes) {
    uint32_t value = 0;
    for (int i = 0; i < bytes; ++i) value = value << 8 | tiff[at + static_cast<uint64_t>(little ? bytes - 1 - i : i)];
    return value;
  };
  if (tiff[0] != tiff[1] || (!little && tiff[0] != 'M') || number(2, 2) != 42) return kUpright;
  const uint64_t directory = number(4, 4);
  if (directory + 2 > size) return kUpright;
  const uint32_t entries = number(directory, 2);
  for (uint64_t i = 0; i < entries; ++i) {
    const uint64_t at = directory + 2 + 12 * i;
    if (at + 12 > size) return kUpright;
    if (number(at, 2) != kTag) continue;
    const uint32_t value = number(at + 8, number(at + 2, 2) == kShort ? 2 : 4);
    return value >= 1 && value <= 8 ? value : kUpright;
  }
  return kUpright;
}

// Checks the Huffman tables of one segment: 16 counts of codes by length, and as many symbols, at most 256.
void CheckHuffmanTables(const uint8_t* segment, uint32_t bytes) {
  constexpr uint32_t kLengths = 16, kMostSymbols = 256;
  for (uint32_t at = 0; at < bytes;) {
    if (bytes - at < 1 + kLengths) Fail("a Huffman table is too short");
    uint32_t symbols = 0;
    for (uint32_t i = 1; i <= kLengths; ++i) symbols += segment[at + i];
    if (symbols > kMostSymbols) Fail("a Huffman table has {} symbols, at most {} are allowed", symbols, kMostSymbols);
    at += 1 + kLengths;
    if (symbols > bytes - at) Fail("a Huffman table is too short");
    at += symbols;
  }
}

}  // namespace

uint32_t CheckPng(const uint8_t* data, uint64_t size) {
  uint32_t orientation = kUpright;
  for (uint64_t at = 8;;) {
    if (size - at < 12) Fail("the file ends within the image");
    const uint32_t length = Big(data + at, 4);
    if (length > size - at - 12) Fail("the file ends within the image");
    const uint8_t* type = data + at + 4;
    if (Crc(type, uint64_t{length} + 4) != Big(type + 4 + length, 4)) Fail("a checksum is wrong");
    if (memcmp(type, "eXIf", 4) == 0) orientation = Orientation(type + 4, length);
    if (memcmp(type, "IEND", 4) == 0) return orientation;
    at += uint64_t{length} + 12;
  }
}

uint32_t CheckJpeg(const uint8_t* data, uint64_t size) {
  enum : uint8_t { kFirstFrame = 0xc0, kLastFrame = 0xcf, kTables = 0xc4, kExtension = 0xc8, kArithmetic = 0xcc };
  enum : uint8_t { kEnd = 0xd9, kScan = 0xda, kExif = 0xe1, kAdobe = 0xee };
  uint32_t orientation = kUpright, components = 0;
  bool scanned = false, adobe = false, exif = false;
  uint64_t at = 2;
  // Markers, and entropy-coded data between them, in which 0xff precedes only 0 or a restart marker.
  while (true) {
    while (at + 1 < size && (data[at] != 0xff || data[at + 1] == 0 || data[at + 1] == 0xff ||
                             (data[at + 1] >= 0xd0 && data[at + 1] <= 0xd7))) {
      if (!scanned && data[at] != 0xff) Fail("a marker is missing");
      ++at;
    }
    if (at + 1 >= size) Fail("the file ends within the image");
    const uint8_t marker = data[at + 1];
    at += 2;
    if (marker == kEnd) break;
    if (size - at < 2) Fail("the file ends within the image");
    const uint32_t length = Big(data + at, 2);
    if (length < 2 || length > size - at) Fail("the file ends within the image");
    const uint8_t* segment = data + at + 2;
    const uint32_t bytes = length - 2;
    const bool frame = marker >= kFirstFrame && marker <= kLastFrame && marker != kTables && marker != kExtension &&
                       marker != kArithmetic;
    if (frame) {
      if (marker > kFirstFrame + 2)
        Fail("JPEG process {} is not supported; convert it to baseline or progressive", marker & 15);
      if (bytes < 6) Fail("the frame is too short");
      if (segment[0] != 8) Fail("JPEG of {} bits is not supported; convert it to 8 bits", segment[0]);
      components = segment[5];
    }
    if (marker == kTables) CheckHuffmanTables(segment, bytes);
    if (marker == kScan) scanned = true;
    if (marker == kAdobe && bytes >= 12 && memcmp(segment, "Adobe", 5) == 0) adobe = true;
    if (marker == kExif && !exif && bytes > 6 && memcmp(segment, "Exif\0", 6) == 0) {
      exif = true;  // only the first one counts, as in Pillow
      orientation = Orientation(segment + 6, bytes - 6);
    }
    at += length;
  }
  if (!scanned) Fail("it contains no image");
  if (components == 4 && !adobe)
    Fail("a JPEG of four channels without Adobe's marker is not supported; convert it to RGB");
  return orientation;
}

}  // namespace fovea::tools
