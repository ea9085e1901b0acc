// Blocks of 256 integers: a scale for each group of 16 or 32, itself an integer times the scale of the block.
#include <string.h>

#include "tools/gguf/block_values.h"

namespace fovea::tools {
namespace {

// 16 bytes with a scale and an offset for each 16 numbers, in four bits each; 64 bytes with numbers of two bits; the
// scales of scales and of offsets. 32 bytes hold 128 numbers: 32 in the lowest bits of each, then 32 in the next.
void Q2_K(const uint8_t* block, float* values) {
  const float scale = HalfAt(block + 80), offset = HalfAt(block + 82);
  for (int i = 0; i < 256; ++i) {
    const int pair = block[i / 16], number = block[16 + i / 128 * 32 + i % 32] >> (i / 32 % 4 * 2) & 3;
    const float step = scale * Number(pair & 15), least = offset * Number(pair >> 4);
    const float product = step * Number(number);
    values[i] = product - least;
  }
}

// 32 bytes with the third bit, 64 bytes with the lower two bits as in Q2_K, 12 bytes with 16 scales of six bits: four
// low bits in the first eight bytes, two high bits in the last four; the scale of scales.
void Q3_K(const uint8_t* block, float* values) {
  const float scale = HalfAt(block + 108);
  const uint8_t* packed = block + 96;
  for (int i = 0; i < 256; ++i) {
    const int group = i / 16, low = group < 8 ? packed[group] & 15 : packed[group - 8] >> 4;
    const int factor = (low | (packed[8 + group % 4] >> (group / 4 * 2) & 3) << 4) - 32;
    const int bits = block[32 + i / 128 * 32 + i % 32] >> (i / 32 % 4 * 2) & 3;
    const bool third = (block[i % 32] >> (i / 32) & 1) != 0;
    const float step = scale * Number(factor);
    values[i] = step * Number(third ? bits : bits - 4);
  }
}

struct Steps {
  float step, least;
};

// For a group of Q4_K and Q5_K: eight pairs of a scale and an offset, six bits each, in 12 bytes.
Steps StepsOf(const uint8_t* block, int group) {
  const uint8_t* packed = block + 4;
  int scale = packed[group & 3], offset = packed[4 + (group & 3)];
  if (group < 4) {
    scale &= 63, offset &= 63;
  } else {  // the low four bits, and above them the high two bits of an earlier byte
    const int low = packed[4 + group];
    scale = (low & 15) | scale >> 6 << 4, offset = low >> 4 | offset >> 6 << 4;
  }
  return {HalfAt(block) * Number(scale), HalfAt(block + 2) * Number(offset)};
}

// Number i of 128 bytes: each 32 bytes hold two groups of 32 numbers, in their low and high nibbles.
int NibbleOf(const uint8_t* numbers, int i) {
  const int pair = numbers[i / 64 * 32 + i % 32];
  return i / 32 % 2 == 0 ? pair & 15 : pair >> 4;
}

// A scale of scales and a scale of offsets, the pairs, the numbers.
void Q4_K(const uint8_t* block, float* values) {
  for (int group = 0; group < 8; ++group) {
    const Steps steps = StepsOf(block, group);
    for (int i = group * 32; i < group * 32 + 32; ++i) {
      const float product = steps.step * Number(NibbleOf(block + 16, i));
      values[i] = product - steps.least;
    }
  }
}

// As Q4_K, with 32 bytes before the numbers: bit g is the fifth bit of group g.
void Q5_K(const uint8_t* block, float* values) {
  for (int group = 0; group < 8; ++group) {
    const Steps steps = StepsOf(block, group);
    for (int i = group * 32; i < group * 32 + 32; ++i) {
      const int number = NibbleOf(block + 48, i) | (block[16 + i % 32] >> group & 1) << 4;
      const float product = steps.step * Number(number);
      values[i] = product - steps.least;
    }
  }
}

// 128 bytes with four low bits and 64 with two high bits of 256 numbers; a scale for each 16 of them, and one for all.
void Q6_K(const uint8_t* block, float* values) {
  const float scale = HalfAt(block + 208);
  for (int i = 0; i < 256; ++i) {
    const int half = i / 128, part = i / 32 % 4, column = i % 32;
    const int low = block[half * 64 + (part & 1) * 32 + column] >> (part / 2 * 4) & 15;
    const int high = block[128 + half * 32 + column] >> (part * 2) & 3;
    const float step = scale * Number(static_cast<int8_t>(block[192 + i / 16]));
    values[i] = step * Number((low | high << 4) - 32);
  }
}

// An f32 scale, then the numbers; sums of groups follow, which speed up products.
void Q8_K(const uint8_t* block, float* values) {
  float scale;
  memcpy(&scale, block, sizeof(scale));
  for (int i = 0; i < 256; ++i) values[i] = scale * Number(static_cast<int8_t>(block[4 + i]));
}

// Number `digit` of a byte with five numbers of three values, as digits of a fraction of 243: times 3^digit, without
// what exceeds a byte, the leading one remains.
int Ternary(uint8_t byte, int digit) {
  constexpr int kPowers[] = {1, 3, 9, 27, 81};
  return static_cast<uint8_t>(byte * kPowers[digit]) * 3 >> 8;
}

// 32 bytes with five numbers each, 16 bytes with five each, 4 bytes with four each, a scale.
void TQ1_0(const uint8_t* block, float* values) {
  const float scale = HalfAt(block + 52);
  for (int i = 0; i < 160; ++i) values[i] = Number(Ternary(block[i % 32], i / 32) - 1) * scale;
  for (int i = 0; i < 80; ++i) values[160 + i] = Number(Ternary(block[32 + i % 16], i / 16) - 1) * scale;
  for (int i = 0; i < 16; ++i) values[240 + i] = Number(Ternary(block[48 + i % 4], i / 4) - 1) * scale;
}

// Numbers of two bits as in Q2_K, and a scale.
void TQ2_0(const uint8_t* block, float* values) {
  const float scale = HalfAt(block + 64);
  for (int i = 0; i < 256; ++i) {
    values[i] = Number((block[i / 128 * 32 + i % 32] >> (i / 32 % 4 * 2) & 3) - 1) * scale;
  }
}

}  // namespace

ReadBlock ReaderOfSuperBlocks(GgufType type) {
  switch (type) {
    case GgufType::kQ2_K:
      return Q2_K;
    case GgufType::kQ3_K:
      return Q3_K;
    case GgufType::kQ4_K:
      return Q4_K;
    case GgufType::kQ5_K:
      return Q5_K;
    case GgufType::kQ6_K:
      return Q6_K;
    case GgufType::kQ8_K:
      return Q8_K;
    case GgufType::kTQ1_0:
      return TQ1_0;
    case GgufType::kTQ2_0:
      return TQ2_0;
    default:
      return nullptr;
  }
}

}  // namespace fovea::tools
