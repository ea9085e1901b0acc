// The number of each operation, and what it mixes. To be included by what names one, not by headers that many files
// include.
#ifndef FOVEA_RUNTIME_BLOB_OP_CODES_H_
#define FOVEA_RUNTIME_BLOB_OP_CODES_H_

#include <stdint.h>

namespace fovea {

enum class OpCode : uint32_t {
#define FOVEA_OP(number, name, Name, mixes) k##Name = number,
#include "runtime/blob/op_list.inc"
#undef FOVEA_OP
};

// The rows that a row of an operation's result depends on, besides the same row of its inputs.
enum class Mixes : uint8_t {
  kNothing,   // none: the operation is row-local (position and rotate also use a row's position in its segment)
  kRows,      // other rows of its segment (sequence), or rows of the segment that is paired with it
  kSegments,  // rows of several segments
  kSpaces,    // rows of another space: the result has other rows than the first input, or combines rows of two spaces
};

// An unknown code mixes as much as possible.
constexpr Mixes MixesOf(OpCode code) {
  switch (code) {
#define FOVEA_OP(number, name, Name, mixes) \
  case OpCode::k##Name:                     \
    return Mixes::k##mixes;
#include "runtime/blob/op_list.inc"
#undef FOVEA_OP
  }
  return Mixes::kSpaces;
}
constexpr bool IsRowLocal(OpCode code) { return MixesOf(code) == Mixes::kNothing; }

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BLOB_OP_CODES_H_
