// Operands of operations: how many there are, and their numbers. Names are in operands.h.
#ifndef FOVEA_RUNTIME_BLOB_OPERAND_H_
#define FOVEA_RUNTIME_BLOB_OPERAND_H_

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

template <typename T, OpCode kCode>
constexpr T OfUnknown() {
  static_assert(sizeof(std::integral_constant<OpCode, kCode>) == 0, "include runtime/blob/operands.h");
  return {};
}
template <OpCode kCode>
inline constexpr OperandCounts kOperandsOf = OfUnknown<OperandCounts, kCode>();
// IsRowLocal of op_codes.h, for code that does not include the list of operations.
template <OpCode kCode>
inline constexpr bool kIsRowLocal = OfUnknown<bool, kCode>();

// The number of an input or of a tensor, as such or by name (<Operation>Input, <Operation>Tensor of operands.h).
template <typename Enum>
inline constexpr bool kNumbersInputs = false;
template <typename Enum>
inline constexpr bool kNumbersTensors = false;

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

#endif  // FOVEA_RUNTIME_BLOB_OPERAND_H_
