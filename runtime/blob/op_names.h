// The name of each operation, for NameOf and NamesOf of names.h.
#ifndef FOVEA_RUNTIME_BLOB_OP_NAMES_H_
#define FOVEA_RUNTIME_BLOB_OP_NAMES_H_

#include "runtime/blob/names.h"
#include "runtime/blob/op_codes.h"

namespace fovea {

template <>
struct NamesOf<OpCode> {
  using Number = OpCode;
  static constexpr Named<OpCode> list[] = {
#define FOVEA_OP(number, name, Name, mixes) {Number::k##Name, #name},
#include "runtime/blob/op_list.inc"
#undef FOVEA_OP
  };
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BLOB_OP_NAMES_H_
