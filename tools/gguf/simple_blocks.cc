// Plain numbers, and blocks of 32 integers with one scale, perhaps with an offset.
#include <string.h>

#include "tools/gguf/block_values.h"

namespace fovea::tools {
namespace {

void F32(const uint8_t* block, float* values) { memcpy(values, block, sizeof(float)); }
void F16(const uint8_t* block, float* values) { *values = HalfAt(block); }
void BF16(const uint8_t* block, float* values) { *values = FromBf16(Word(block)); }

void F64(const uint8_t* block, float* values) {
  double value;
  memcpy(&value, block, sizeof(value));
  *values = static_cast<float>(value);
}

// Integer i of 16 bytes: low nibbles are the first 16 integers, high nibbles the last 16.
int Nibble(const uint8_t* bytes, int i) { return i < 16 ? bytes[i] & 15 : bytes[i - 16] >> 4; }

// Integer i of five bits: bit i of four bytes is the highest.
int FiveBits(const uint8_t* high, const uint8_t* low, int i) {
  return Nibble(low, i) | (high[i / 8] >> (i % 8) & 1) << 4;
}

void Q4_0(const uint8_t* block, float* values) {
  const float scale = HalfAt(block);
  for (int i = 0; i < 32; ++i) values[i] = Number(Nibble(block + 2, i) - 8) * scale;
}

// Products are rounded before the offset is added, as everywhere in this format.
void Q4_1(const uint8_t* block, float* values) {
  const float scale = HalfAt(block), offset = HalfAt(block + 2);
  for (int i = 0; i < 32; ++i) {
    const float product = Number(Nibble(block + 4, i)) * scale;
    values[i] = product + offset;
  }
}

void Q5_0(const uint8_t* block, float* values) {
  const float scale = HalfAt(block);
  for (int i = 0; i < 32; ++i) values[i] = Number(FiveBits(block + 2, block + 6, i) - 16) * scale;
}

void Q5_1(const uint8_t* block, float* values) {
  const float scale = HalfAt(block), offset = HalfAt(block + 2);
  for (int i = 0; i < 32; ++i) {
    const float product = Number(FiveBits(block + 4, block + 8, i)) * scale;
    values[i] = product + offset;
  }
}

void Q8_0(const uint8_t* block, float* values) {
  const float scale = HalfAt(block);
  for (int i = 0; i < 32; ++i) values[i] = Number(static_cast<int8_t>(block[2 + i])) * scale;
}

// The second number is a sum that speeds up products; it is no part of the values.
void Q8_1(const uint8_t* block, float* values) {
  const float scale = HalfAt(block);
  for (int i = 0; i < 32; ++i) values[i] = Number(static_cast<int8_t>(block[4 + i])) * scale;
}

}  // namespace

ReadBlock ReaderOfSimpleBlocks(GgufType type) {
  switch (type) {
    case GgufType::kF32:
      return F32;
    case GgufType::kF16:
      return F16;
    case GgufType::kBF16:
      return BF16;
    case GgufType::kF64:
      return F64;
    case GgufType::kQ4_0:
      return Q4_0;
    case GgufType::kQ4_1:
      return Q4_1;
    case GgufType::kQ5_0:
      return Q5_0;
    case GgufType::kQ5_1:
      return Q5_1;
    case GgufType::kQ8_0:
      return Q8_0;
    case GgufType::kQ8_1:
      return Q8_1;
    default:
      return nullptr;
  }
}

}  // namespace fovea::tools
