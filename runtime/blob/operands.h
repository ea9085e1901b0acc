// Operands by name: <Operation>Input and <Operation>Tensor number the inputs and tensors of each operation, and
// kOperandsOf<code> counts them. From operand_list.inc; kIsRowLocal<code> is from op_list.inc. Include this in files
// that name operands, not in headers that many files include.
#ifndef FOVEA_RUNTIME_BLOB_OPERANDS_H_
#define FOVEA_RUNTIME_BLOB_OPERANDS_H_

#include "runtime/blob/op_codes.h"
#include "runtime/blob/operand.h"

namespace fovea {

#define FOVEA_OP(number, name, Name, mixes) \
  template <>                               \
  inline constexpr bool kIsRowLocal<OpCode::k##Name> = IsRowLocal(OpCode::k##Name);
#include "runtime/blob/op_list.inc"
#undef FOVEA_OP

#define FOVEA_OPERANDS(Operation) \
  template <>                     \
  inline constexpr OperandCounts kOperandsOf<OpCode::k##Operation> = OperandCounts()
#define FOVEA_INPUT(number, name, Name, presence) .Input(number, Presence::k##presence)
#define FOVEA_TENSOR(number, name, Name, presence, storage) .Tensor(number, Presence::k##presence)
#define FOVEA_OPERANDS_END() ;
#include "runtime/blob/operand_list.inc"
#undef FOVEA_OPERANDS
#undef FOVEA_INPUT
#undef FOVEA_TENSOR

#define FOVEA_OPERANDS(Operation) enum class Operation##Input : uint32_t {
#define FOVEA_INPUT(number, name, Name, presence) k##Name = number,
#define FOVEA_TENSOR(number, name, Name, presence, storage)
#undef FOVEA_OPERANDS_END
#define FOVEA_OPERANDS_END() \
  }                          \
  ;
#include "runtime/blob/operand_list.inc"
#undef FOVEA_OPERANDS
#undef FOVEA_INPUT
#undef FOVEA_TENSOR

#define FOVEA_OPERANDS(Operation) enum class Operation##Tensor : uint32_t {
#define FOVEA_INPUT(number, name, Name, presence)
#define FOVEA_TENSOR(number, name, Name, presence, storage) k##Name = number,
#include "runtime/blob/operand_list.inc"
#undef FOVEA_OPERANDS
#undef FOVEA_INPUT
#undef FOVEA_TENSOR
#undef FOVEA_OPERANDS_END

#define FOVEA_OPERANDS(Operation)                                \
  template <>                                                    \
  inline constexpr bool kNumbersInputs<Operation##Input> = true; \
  template <>                                                    \
  inline constexpr bool kNumbersTensors<Operation##Tensor> = true;
#define FOVEA_INPUT(number, name, Name, presence)
#define FOVEA_TENSOR(number, name, Name, presence, storage)
#define FOVEA_OPERANDS_END()
#include "runtime/blob/operand_list.inc"
#undef FOVEA_OPERANDS
#undef FOVEA_INPUT
#undef FOVEA_TENSOR
#undef FOVEA_OPERANDS_END

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BLOB_OPERANDS_H_
