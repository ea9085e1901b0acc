// The numbers that a blob may hold, from the lists in this folder. Every folder may include this header, which depends
// on nothing. OpCode and Attribute have separate headers, so that adding a member recompiles few files.
#ifndef FOVEA_RUNTIME_BLOB_NUMBERS_H_
#define FOVEA_RUNTIME_BLOB_NUMBERS_H_

#include <stdint.h>

#include "runtime/blob/record_numbers.h"

namespace fovea {

enum class OpCode : uint32_t;     // op_codes.h
enum class Attribute : uint32_t;  // attributes.h

#define FOVEA_ENUM_LIST "runtime/blob/enum_list.inc"
#include "runtime/blob/enum_definitions.inc"

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BLOB_NUMBERS_H_
