// The number of each operation. To be included by what names one, not by headers that many files include.
#ifndef FOVEA_RUNTIME_BLOB_OP_CODES_H_
#define FOVEA_RUNTIME_BLOB_OP_CODES_H_

#include <stdint.h>

namespace fovea {

enum class OpCode : uint32_t {
#define FOVEA_OP(number, name, Name) k##Name = number,
#include "runtime/blob/op_list.inc"
#undef FOVEA_OP
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BLOB_OP_CODES_H_
