// Checks image files before decoding.
#include "tools/image/file_checks.h"

#include <stb/stb_image.h>
#include <string.h>
#include <zlib.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "tools/base/fail.h"
#include "tools/image/orientation.h"

namespace fovea::tools {
namespace {

uint32_t Big(const uint8_t* at, int bytes) {
  uint32_t number = 0;
  for (int i = 0; i < bytes; ++i) number = number << 8 | at[i];
  return number;
}

// The text of a PNG's chunk is read up to this size.
constexpr size_t kMostText = 1 << 20;

// Zero-terminated words at the beginning of a chunk; what follows them is left in it.
struct Chunk {
  const uint8_t* data;
  uint64_t size;
  std::string_view Word() {
    const uint8_t* end = size == 0 ? nullptr : static_cast<const uint8_t*>(memchr(data, 0, size));
    const uint64_t length = end == nullptr ? size : static_cast<uint64_t>(end - data);
    const std::string_view word(reinterpret_cast<const char*>(data), length);
    Skip(end == nullptr ? length : length + 1);
    return word;
  }
  uint8_t Byte() {
    const uint8_t byte = size == 0 ? 0 : *data;
    Skip(std::min<uint64_t>(size, 1));
    return byte;
  }
  void Skip(uint64_t count) {
    data += count;
    size -= count;
  }
};

// Texts of a PNG with metadata: plain (tEXt), compressed (zTXt) and international (iTXt, of either kind).
void ReadText(const char* type, Chunk chunk, Orientation& orientation) {
  const std::string_view key = chunk.Word();
  bool compressed = type[0] == 'z';
  if (compressed) chunk.Byte();
  const bool international = type[0] == 'i';
  const bool exif = key == "Raw profile type exif" && !international;
  if (!exif && !(key == "XML:com.adobe.xmp" && international)) return;
  if (international) {
    compressed = chunk.Byte() != 0;
    chunk.Byte();
    chunk.Word();
    chunk.Word();
  }
  std::vector<char> text;
  if (compressed) {
    text.resize(kMostText);
    const int made = stbi_zlib_decode_buffer(text.data(), static_cast<int>(text.size()),
                                             reinterpret_cast<const char*>(chunk.data), static_cast<int>(chunk.size));
    if (made < 0) return;
    chunk = {reinterpret_cast<const uint8_t*>(text.data()), static_cast<uint64_t>(made)};
  }
  exif ? orientation.ReadHexadecimalExif(chunk.data, chunk.size) : orientation.ReadXmp(chunk.data, chunk.size);
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
  Orientation exif, orientation;
  bool found = false;  // an eXIf chunk, which precedes Exif in texts
  for (uint64_t at = 8;;) {
    if (size - at < 12) Fail("the file ends within the image");
    const uint32_t length = Big(data + at, 4);
    if (length > size - at - 12) Fail("the file ends within the image");
    const uint8_t* type = data + at + 4;
    if (crc32(0, type, length + 4) != Big(type + 4 + length, 4)) Fail("a checksum is wrong");
    const auto is = [&](const char* name) { return memcmp(type, name, 4) == 0; };
    if (is("eXIf")) {
      found = true;
      exif.ReadExif(type + 4, length);
    }
    if (is("tEXt") || is("zTXt") || is("iTXt")) {
      ReadText(reinterpret_cast<const char*>(type), {type + 4, length}, orientation);
    }
    if (is("IEND")) {
      if (found) orientation.TakeExif(exif);
      return orientation.Get();
    }
    at += uint64_t{length} + 12;
  }
}

JpegFacts CheckJpeg(const uint8_t* data, uint64_t size) {
  enum : uint8_t { kFirstFrame = 0xc0, kLastFrame = 0xcf, kTables = 0xc4, kExtension = 0xc8, kConditions = 0xcc };
  enum : uint8_t { kArithmetic = 0xc9, kArithmeticProgressive = 0xca };
  enum : uint8_t { kEnd = 0xd9, kScan = 0xda, kMetadata = 0xe1, kAdobe = 0xee };
  static constexpr char kXmp[] = "http://ns.adobe.com/xap/1.0/";  // with its zero
  JpegFacts facts;
  Orientation orientation;
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
                       marker != kConditions;
    if (frame) {
      facts.arithmetic = marker == kArithmetic || marker == kArithmeticProgressive;
      if (marker > kFirstFrame + 2 && !facts.arithmetic)
        Fail("JPEG process {} is not supported; convert it to baseline or progressive", marker & 15);
      if (bytes < 6) Fail("the frame is too short");
      if (segment[0] != 8) Fail("JPEG of {} bits is not supported; convert it to 8 bits", segment[0]);
      facts.components = segment[5];
    }
    if (marker == kTables) CheckHuffmanTables(segment, bytes);
    if (marker == kScan) scanned = true;
    if (marker == kAdobe && bytes >= 12 && memcmp(segment, "Adobe", 5) == 0) adobe = true;
    if (marker == kMetadata && !exif && bytes > 6 && memcmp(segment, "Exif\0", 6) == 0) {
      exif = true;  // only the first one counts, as in Pillow
      orientation.ReadExif(segment, bytes);
    }
    if (marker == kMetadata && bytes > sizeof(kXmp) && memcmp(segment, kXmp, sizeof(kXmp)) == 0) {
      orientation.ReadXmp(segment + sizeof(kXmp), bytes - sizeof(kXmp));
    }
    at += length;
  }
  if (!scanned) Fail("it contains no image");
  facts.unmarked = facts.components == 4 && !adobe;
  facts.orientation = orientation.Get();
  return facts;
}

}  // namespace fovea::tools
