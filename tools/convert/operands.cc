#include "tools/convert/operands.h"

#include <algorithm>
#include <map>

#include "runtime/blob/names.h"
#include "runtime/blob/op_names.h"
#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

struct Operands {
  std::vector<Operand> inputs, tensors;
};

const std::map<OpCode, Operands>& AllOperands() {
  static const std::map<OpCode, Operands> all = [] {
    std::map<OpCode, Operands> made;
    Operands* of = nullptr;
#define FOVEA_OPERANDS(Operation) of = &made[OpCode::k##Operation];
#define FOVEA_INPUT(number, name, Name, presence) \
  of->inputs.push_back({number, #name, Presence::k##presence, Storage::kFloat});
#define FOVEA_TENSOR(number, name, Name, presence, storage) \
  of->tensors.push_back({number, #name, Presence::k##presence, Storage::k##storage});
#define FOVEA_OPERANDS_END()
#include "runtime/blob/operand_list.inc"
#undef FOVEA_OPERANDS
#undef FOVEA_INPUT
#undef FOVEA_TENSOR
#undef FOVEA_OPERANDS_END
    return made;
  }();
  return all;
}

}  // namespace

std::optional<OpCode> OperationNamed(const std::string& name) {
  for (const Named<OpCode>& operation : NamesOf<OpCode>::list) {
    if (name == operation.name) return operation.number;
  }
  return std::nullopt;
}

const std::vector<Operand>& InputsOf(OpCode code) { return AllOperands().at(code).inputs; }
const std::vector<Operand>& TensorsOf(OpCode code) { return AllOperands().at(code).tensors; }

std::vector<std::string> InOrder(const std::vector<Operand>& operands, const NamedOperands& named) {
  std::vector<std::string> ordered;
  for (const auto& [name, value] : named) {
    const auto is_it = [&, &wanted = name](const Operand& operand) { return wanted == operand.name; };
    const auto found = std::find_if(operands.begin(), operands.end(), is_it);
    if (found == operands.end()) {
      std::vector<const char*> names;
      for (const Operand& operand : operands) names.push_back(operand.name);
      Fail("there is no operand {}; the operation has {}", name, fmt::join(names, ", "));
    }
    if (ordered.size() <= found->number) ordered.resize(found->number + 1);
    ordered[found->number] = value;
  }
  while (!ordered.empty() && ordered.back().empty()) ordered.pop_back();
  return ordered;
}

}  // namespace fovea::tools
