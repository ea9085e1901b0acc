// The values of one block of each element type, as the format defines them.
#ifndef FOVEA_TOOLS_GGUF_BLOCK_VALUES_H_
#define FOVEA_TOOLS_GGUF_BLOCK_VALUES_H_

#include "tools/base/half.h"
#include "tools/gguf/gguf.h"

namespace fovea::tools {

// Writes as many values as a block has elements.
using ReadBlock = void (*)(const uint8_t* block, float* values);

// By file: blocks of 32 numbers with one scale; of 256 with scales of groups; of numbers that are entries of a short
// table. Null for types of another file.
ReadBlock ReaderOfSimpleBlocks(GgufType type);
ReadBlock ReaderOfSuperBlocks(GgufType type);
ReadBlock ReaderOfTableBlocks(GgufType type);

// Little-endian.
inline uint16_t Word(const uint8_t* at) { return static_cast<uint16_t>(at[0] | at[1] << 8); }
inline float HalfAt(const uint8_t* at) { return FromHalf(Word(at)); }
inline float Number(int value) { return static_cast<float>(value); }

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GGUF_BLOCK_VALUES_H_
