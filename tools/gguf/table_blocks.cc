// Blocks whose numbers of four bits are indices into a table of sixteen values.
#include <math.h>

#include "tools/gguf/block_values.h"

namespace fovea::tools {
namespace {

// Denser near zero, where weights are.
constexpr int kNonLinear[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
// Floats of four bits (E2M1), doubled.
constexpr int kFloats[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

int Index(const uint8_t* bytes, int i) { return i < 16 ? bytes[i] & 15 : bytes[i - 16] >> 4; }

void IQ4_NL(const uint8_t* block, float* values) {
  const float scale = HalfAt(block);
  for (int i = 0; i < 32; ++i) values[i] = scale * Number(kNonLinear[Index(block + 2, i)]);
}

// The scale of scales; eight scales of six bits: two high bits each in two bytes, four low bits in the next four;
// then eight groups of 32 numbers.
void IQ4_XS(const uint8_t* block, float* values) {
  for (int group = 0; group < 8; ++group) {
    const int low = block[4 + group / 2] >> (group % 2 * 4) & 15, high = Word(block + 2) >> (group * 2) & 3;
    const float step = HalfAt(block) * Number((low | high << 4) - 32);
    for (int i = 0; i < 32; ++i) {
      values[group * 32 + i] = step * Number(kNonLinear[Index(block + 8 + group * 16, i)]);
    }
  }
}

// The scale is 2^(byte - 127); the table is doubled.
void MXFP4(const uint8_t* block, float* values) {
  const float scale = ldexpf(1, block[0] - 128);
  for (int i = 0; i < 32; ++i) values[i] = Number(kFloats[Index(block + 1, i)]) * scale;
}

}  // namespace

ReadBlock ReaderOfTableBlocks(GgufType type) {
  switch (type) {
    case GgufType::kIQ4_NL:
      return IQ4_NL;
    case GgufType::kIQ4_XS:
      return IQ4_XS;
    case GgufType::kMXFP4:
      return MXFP4;
    default:
      return nullptr;
  }
}

}  // namespace fovea::tools
