// Names of operands in descriptions: the inputs and tensors of operand_list.inc by name.
#ifndef FOVEA_TOOLS_CONVERT_OPERANDS_H_
#define FOVEA_TOOLS_CONVERT_OPERANDS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/blob/operands.h"

namespace fovea::tools {

// As what the converter may store a tensor; see operand_list.inc.
enum class Storage { kWeight, kTable, kHalf, kFloat, kIndex };

struct Operand {
  uint32_t number;
  const char* name;
  Presence presence;
  Storage storage;  // tensors
};

// The operation that a description calls so; empty if there is none.
std::optional<OpCode> OperationNamed(const std::string& name);

const std::vector<Operand>& InputsOf(OpCode code);
const std::vector<Operand>& TensorsOf(OpCode code);

// Names of values or tensors in the order of their operands, "" where one is absent. Fails with a name that no operand
// has.
using NamedOperands = std::vector<std::pair<std::string, std::string>>;  // operand, value or tensor
std::vector<std::string> InOrder(const std::vector<Operand>& operands, const NamedOperands& named);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_OPERANDS_H_
