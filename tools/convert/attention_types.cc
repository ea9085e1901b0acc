#include "tools/convert/attention_types.h"

#include <algorithm>
#include <map>
#include <utility>

#include "runtime/blob/names.h"
#include "tools/convert/operation_rules.h"

namespace fovea::tools {
namespace {

bool IsAttention(const BlobOperation& operation) { return operation.code == static_cast<uint32_t>(OpCode::kAttention); }

uint32_t Number(const BlobOperation& operation, Attribute key, uint32_t absent) {
  for (const AttributeRecord& attribute : operation.attributes) {
    if (attribute.key == static_cast<uint32_t>(key)) return attribute.bits;
  }
  return absent;
}

// Values of the program that attentions read as keys or values, and nothing else reads.
std::vector<bool> OnlyKeys(const BlobProgram& program) {
  std::vector<bool> fits;
  for (const BlobValue& value : program.values) {
    fits.push_back(value.role == ValueRole::kInternal && value.type == DType::kF32);
  }
  for (const BlobOperation& operation : program.operations) {
    for (size_t i = 0; i < operation.inputs.size(); ++i) {
      if (!IsAttention(operation) || (i != 1 && i != 2)) fits[operation.inputs[i]] = false;
    }
  }
  return fits;
}

}  // namespace

// Casts go between the operations; what stands after them moves on.
void CastKeys(DType type, BlobProgram& program) {
  if (type == DType::kF32) return;
  const std::vector<bool> fits = OnlyKeys(program);
  const auto inputs = static_cast<uint32_t>(program.values.size() - program.operations.size());
  BlobProgram result = {program.name, {program.values.begin(), program.values.begin() + inputs}, {}};
  std::vector<uint32_t> places(program.values.size());  // of the former values
  for (uint32_t v = 0; v < inputs; ++v) places[v] = v;
  const auto add = [&](BlobOperation operation, const BlobValue& value) {
    operation.output = static_cast<uint32_t>(result.values.size());
    result.values.push_back(value);
    result.operations.push_back(std::move(operation));
    return result.operations.back().output;
  };
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> casts;  // of a former value, for so many heads
  for (const BlobOperation& operation : program.operations) {
    BlobOperation moved = operation;
    for (uint32_t& input : moved.inputs) input = places[input];
    const bool cast = IsAttention(operation) && fits[operation.inputs[1]] && fits[operation.inputs[2]];
    const uint32_t heads = Number(operation, Attribute::kKvHeads, Number(operation, Attribute::kHeads, 1));
    for (size_t i = 1; cast && i <= 2; ++i) {
      const uint32_t of = operation.inputs[i];
      const auto [at, is_new] = casts.emplace(std::make_pair(of, heads), 0);
      if (is_new) {
        BlobOperation made;
        made.code = static_cast<uint32_t>(OpCode::kCast);
        made.inputs = {places[of]};
        made.attributes = {{static_cast<uint32_t>(Attribute::kType), static_cast<uint32_t>(type)},
                           {static_cast<uint32_t>(Attribute::kHeads), heads}};
        BlobValue value = program.values[of];
        value.name += std::string(".") + NameOf(type);
        value.type = type;
        at->second = add(std::move(made), value);
      }
      moved.inputs[i] = at->second;
    }
    places[operation.output] = add(std::move(moved), program.values[operation.output]);
  }
  program = std::move(result);
}

void SetProducts(DType type, BlobProgram& program) {
  if (type == DType::kF32) return;
  const Products products = type == DType::kI8 ? Products::kI8 : Products::kBf16;
  for (BlobOperation& operation : program.operations) {
    if (!IsAttention(operation) || Number(operation, Attribute::kScore, 0) != 0) continue;
    const bool says = std::any_of(operation.attributes.begin(), operation.attributes.end(), [](const auto& attribute) {
      return attribute.key == static_cast<uint32_t>(Attribute::kProducts);
    });
    if (says) continue;
    operation.attributes.push_back({static_cast<uint32_t>(Attribute::kProducts), static_cast<uint32_t>(products)});
  }
}

}  // namespace fovea::tools
