// Matches given tensors with a program's inputs by name.
#include "tools/tensors/named_inputs.h"

#include <algorithm>
#include <optional>

#include "tools/base/fail.h"
#include "tools/model/batch.h"

namespace fovea::tools {
namespace {

bool AllZero(const StoredTensor& tensor) {
  return std::all_of(tensor.data, tensor.data + tensor.bytes, [](uint8_t byte) { return byte == 0; });
}

}  // namespace

bool IsInteger(ElementType type) {
  return type == ElementType::kI64 || type == ElementType::kI32 || type == ElementType::kI16 ||
         type == ElementType::kI8 || type == ElementType::kU8 || type == ElementType::kBool;
}

std::vector<int32_t> ToIds(const std::string& name, const StoredTensor& tensor) {
  if (!IsInteger(tensor.type)) Fail("{}: type {}, expected integers", name, ElementName(tensor.type));
  const std::vector<int64_t> wide = ToIntegers(tensor);
  std::vector<int32_t> ids(wide.size());
  for (size_t i = 0; i < wide.size(); ++i) {
    if (wide[i] < INT32_MIN || wide[i] > INT32_MAX)
      Fail("{}: entry {} is {}, which is out of range for an id", name, i, wide[i]);
    ids[i] = static_cast<int32_t>(wide[i]);
  }
  return ids;
}

std::map<uint32_t, NamedTensor> MatchInputs(const Model& model, uint32_t program, const StoredTensors& tensors) {
  std::map<uint32_t, NamedTensor> given;
  for (const auto& [name, tensor] : tensors) {
    if (name == "attention_mask" || IsSegments(name)) continue;
    const std::optional<uint32_t> value = model.FindValue(program, name);
    if (value && model.Value(program, *value).role == FOVEA_ROLE_INPUT) {
      given[*value] = {name, &tensor};
    } else if (name != "token_type_ids" || !AllZero(tensor)) {
      std::string known;
      for (const uint32_t input : InputsOf(model, program))
        known += fmt::format(" {}", model.Value(program, input).name);
      Fail("{}: the model has no such input; its inputs are:{}", name, known);
    }
  }
  return given;
}

bool TakesInput(const Model& model, uint32_t program, const std::string& name) {
  if (name == "attention_mask" || name == "token_type_ids" || IsSegments(name)) return true;
  const std::optional<uint32_t> value = model.FindValue(program, name);
  return value && model.Value(program, *value).role == FOVEA_ROLE_INPUT;
}

}  // namespace fovea::tools
