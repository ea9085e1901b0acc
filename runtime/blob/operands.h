// Operands by name: <Operation>Input and <Operation>Tensor number the inputs and tensors of each operation, and
// kOperandsOf<code> counts them. From operand_list.inc.
#ifndef FOVEA_RUNTIME_BLOB_OPERANDS_H_
#define FOVEA_RUNTIME_BLOB_OPERANDS_H_

#include <stdint.h>

#include <type_traits>

#include "runtime/blob/format.h"

namespace fovea {

enum class Presence : uint8_t { kRequired, kOptional, kRepeated };

// How many inputs and tensors an operation has. Those from the minimum on may be absent.
struct OperandCounts {
  uint32_t min_inputs = 0, max_inputs = 0;
  uint32_t min_tensors = 0, max_tensors = 0;
  bool repeats_inputs = false;  // then none of them may be absent

  constexpr OperandCounts Input(uint32_t number, Presence presence) const {
    OperandCounts counts = *this;
    if (presence != Presence::kOptional) counts.min_inputs = number + 1;
    counts.repeats_inputs = presence == Presence::kRepeated;
    counts.max_inputs = presence == Presence::kRepeated ? kMaxInputs : number + 1;
    return counts;
  }
  constexpr OperandCounts Tensor(uint32_t number, Presence presence) const {
    OperandCounts counts = *this;
    if (presence != Presence::kOptional) counts.min_tensors = number + 1;
    counts.max_tensors = presence == Presence::kRepeated ? kMaxTensors : number + 1;
    return counts;
  }
};

template <OpCode kCode>
inline constexpr OperandCounts kOperandsOf{};

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

// The number of an input or of a tensor, as such or by name.
template <typename Enum>
inline constexpr bool kNumbersInputs = false;
template <typename Enum>
inline constexpr bool kNumbersTensors = false;
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

struct InputNumber {
  uint32_t number;
  constexpr InputNumber(uint32_t i) : number(i) {}  // NOLINT: implicit on purpose, as the next
  template <typename Enum, typename = std::enable_if_t<kNumbersInputs<Enum>>>
  constexpr InputNumber(Enum input) : number(static_cast<uint32_t>(input)) {}
};
struct TensorNumber {
  uint32_t number;
  constexpr TensorNumber(uint32_t i) : number(i) {}  // NOLINT: implicit on purpose, as the next
  template <typename Enum, typename = std::enable_if_t<kNumbersTensors<Enum>>>
  constexpr TensorNumber(Enum tensor) : number(static_cast<uint32_t>(tensor)) {}
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BLOB_OPERANDS_H_
