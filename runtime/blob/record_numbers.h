// The numbers that records of a blob hold, but for operations, from the list beside this file. Every folder may include
// it: it needs nothing.
#ifndef FOVEA_RUNTIME_BLOB_RECORD_NUMBERS_H_
#define FOVEA_RUNTIME_BLOB_RECORD_NUMBERS_H_

#include <stdint.h>

namespace fovea {

#define FOVEA_ENUM_LIST "runtime/blob/record_enum_list.inc"
#include "runtime/blob/enum_definitions.inc"

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BLOB_RECORD_NUMBERS_H_
