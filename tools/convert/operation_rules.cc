#include "tools/convert/operation_rules.h"

#include <algorithm>

#include "tools/convert/rules/check.h"

namespace fovea::tools {

#define FOVEA_OP(number, name, Name) extern const Rule k##Name##Rule;
#include "runtime/blob/op_list.inc"
#undef FOVEA_OP

namespace {

constexpr struct {
  const char* name;
  uint32_t code;
  const Rule* rule;
} kOperations[] = {
#define FOVEA_OP(number, name, Name) {#name, number, &k##Name##Rule},
#include "runtime/blob/op_list.inc"
#undef FOVEA_OP
};

}  // namespace

OperationResult CheckOperation(const OperationCall& call) {
  const std::string& op = call.operation->op;
  const auto found =
      std::find_if(std::begin(kOperations), std::end(kOperations), [&](const auto& o) { return op == o.name; });
  if (found == std::end(kOperations)) Fail("unknown operation {}", op);
  const Rule* rule = found->rule;
  if (call.inputs.size() < rule->min_inputs || call.inputs.size() > rule->max_inputs) {
    Fail("{} inputs, {} to {} are needed", call.inputs.size(), rule->min_inputs, rule->max_inputs);
  }
  if (call.tensors.size() < rule->min_tensors || call.tensors.size() > rule->max_tensors) {
    Fail("{} tensors, {} to {} are needed", call.tensors.size(), rule->min_tensors, rule->max_tensors);
  }
  for (size_t i = 0; i < rule->min_tensors; ++i) {
    if (call.tensors[i] == nullptr) Fail("tensor {} is missing", i);
  }
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const DType type = call.inputs[i].type;
    if (type == DType::kI32 && ((rule->ids >> i) & 1) == 0) {
      Fail("{} holds ids, which {} does not take there", call.inputs[i].name, op);
    }
    const bool kept = (*call.spaces)[call.inputs[i].space].kind == SpaceKind::kCached;
    if (kept && ((rule->kept >> i) & 1) == 0) {
      Fail("{} is kept from run to run, which {} does not take there", call.inputs[i].name, op);
    }
    if (!kept && type != DType::kI32 && type != DType::kF32 && ((rule->casts >> i) & 1) == 0) {
      Fail("{} was made by a cast, which {} does not take there", call.inputs[i].name, op);
    }
  }
  for (size_t i = 0; i < call.tensors.size(); ++i) {
    const BlobTensor* tensor = call.tensors[i];
    const bool indices = ((rule->indices >> i) & 1) != 0;
    if (tensor != nullptr && (tensor->type == DType::kI32) != indices) {
      Fail("tensor {} holds {}", tensor->name, indices ? "no indices" : "indices");
    }
  }
  OperationResult result;
  result.code = found->code;
  result.halves = rule->halves;
  result.decides = rule->decides;
  Check check(call, result);
  rule->check(check);
  check.NoOtherAttributes();
  return result;
}

}  // namespace fovea::tools
