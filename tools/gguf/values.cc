// Values of GGUF's blocks: integers times scales, in f32 and in the order of the format's definition.
#include <string.h>

#include "tools/base/half.h"
#include "tools/gguf/gguf.h"

namespace fovea::tools {
namespace {

uint16_t Word(const uint8_t* at) { return static_cast<uint16_t>(at[0] | at[1] << 8); }

float Number(int value) { return static_cast<float>(value); }

void F32(const uint8_t* block, float* values) { memcpy(values, block, sizeof(float)); }
void F16(const uint8_t* block, float* values) { *values = FromHalf(Word(block)); }
void BF16(const uint8_t* block, float* values) { *values = FromBf16(Word(block)); }

// A scale, then 16 bytes: low nibbles are the first 16 numbers, high nibbles the last 16.
void Q4_0(const uint8_t* block, float* values) {
  const float scale = FromHalf(Word(block));
  for (int i = 0; i < 16; ++i) {
    values[i] = Number((block[2 + i] & 15) - 8) * scale;
    values[16 + i] = Number((block[2 + i] >> 4) - 8) * scale;
  }
}

void Q8_0(const uint8_t* block, float* values) {
  const float scale = FromHalf(Word(block));
  for (int i = 0; i < 32; ++i) values[i] = Number(static_cast<int8_t>(block[2 + i])) * scale;
}

// A scale of scales and a scale of offsets; 8 pairs of them, six bits each, in 12 bytes; then 128 bytes. Each 32 bytes
// hold two groups of 32 numbers, in their low and high nibbles.
void Q4_K(const uint8_t* block, float* values) {
  const float scale = FromHalf(Word(block)), offset = FromHalf(Word(block + 2));
  const uint8_t *packed = block + 4, *numbers = block + 16;
  for (int group = 0; group < 8; ++group) {
    int scales = packed[group & 3], offsets = packed[4 + (group & 3)];
    if (group < 4) {
      scales &= 63, offsets &= 63;
    } else {  // the low four bits, and above them the high two bits of an earlier byte
      const int low = packed[4 + group];
      scales = (low & 15) | scales >> 6 << 4, offsets = low >> 4 | offsets >> 6 << 4;
    }
    const float step = scale * Number(scales), least = offset * Number(offsets);
    for (int i = 0; i < 32; ++i) {
      const int pair = numbers[group / 2 * 32 + i];
      values[group * 32 + i] = step * Number(group % 2 == 0 ? pair & 15 : pair >> 4) - least;
    }
  }
}

// 128 bytes with four low bits and 64 with two high bits of 256 numbers; a scale for each 16 of them, and one for all.
void Q6_K(const uint8_t* block, float* values) {
  const float scale = FromHalf(Word(block + 208));
  for (int i = 0; i < 256; ++i) {
    const int half = i / 128, part = i / 32 % 4, column = i % 32;
    const int low = block[half * 64 + (part & 1) * 32 + column] >> (part / 2 * 4) & 15;
    const int high = block[128 + half * 32 + column] >> (part * 2) & 3;
    const float step = scale * Number(static_cast<int8_t>(block[192 + i / 16]));
    values[i] = step * Number((low | high << 4) - 32);
  }
}

template <typename Read>
std::vector<float> Blocks(const GgufTensor& tensor, const Read& read) {
  const GgufBlock block = BlockOf(tensor.type);
  std::vector<float> values(tensor.count());
  for (uint64_t i = 0; i < tensor.bytes / block.bytes; ++i) {
    read(tensor.data + i * block.bytes, values.data() + i * block.elements);
  }
  return values;
}

}  // namespace

std::vector<float> ToFloats(const GgufTensor& tensor) {
  switch (tensor.type) {
    case GgufType::kF32:
      return Blocks(tensor, F32);
    case GgufType::kF16:
      return Blocks(tensor, F16);
    case GgufType::kBF16:
      return Blocks(tensor, BF16);
    case GgufType::kQ4_0:
      return Blocks(tensor, Q4_0);
    case GgufType::kQ8_0:
      return Blocks(tensor, Q8_0);
    case GgufType::kQ4_K:
      return Blocks(tensor, Q4_K);
    case GgufType::kQ6_K:
      return Blocks(tensor, Q6_K);
  }
  return {};
}

}  // namespace fovea::tools
