#include "tools/convert/attention_types.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "runtime/blob/attributes.h"
#include "runtime/blob/names.h"
#include "runtime/blob/numbers.h"
#include "runtime/blob/op_codes.h"
#include "runtime/blob/operands.h"
#include "tools/convert/blob_attributes.h"
#include "tools/convert/generation_rules.h"

namespace fovea::tools {
namespace {

bool IsAttention(const BlobOperation& operation) { return operation.code == static_cast<uint32_t>(OpCode::kAttention); }

bool IsAppend(const BlobOperation& operation) { return operation.code == static_cast<uint32_t>(OpCode::kAppend); }

// Float values that are read only by attentions, as keys or values.
std::vector<bool> OnlyKeys(const BlobProgram& program) {
  std::vector<bool> fits;
  for (const BlobValue& value : program.values) fits.push_back(value.type == DType::kF32);
  for (const BlobOperation& operation : program.operations) {
    for (size_t i = 0; i < operation.inputs.size(); ++i) {
      if (operation.inputs[i] == kBlobNone || (IsAttention(operation) && (i == 1 || i == 2))) continue;
      fits[operation.inputs[i]] = false;
    }
  }
  return fits;
}

uint32_t KeyHeads(const BlobOperation& attention) {
  return NumberOr(attention, Attribute::kKvHeads, NumberOr(attention, Attribute::kHeads, 1));
}

// Inserts casts of the values that the program's attentions read, and of the values in `outputs`, for the given number
// of heads; casts replace those outputs. Operations after an insertion move. Cached rows are cast by `append` itself.
class Caster {
 public:
  Caster(DType type, BlobProgram& program) : type_(type), program_(program), fits_(OnlyKeys(program)) {
    for (size_t v = 0; v < fits_.size(); ++v) {
      fits_[v] = fits_[v] && program.values[v].role == ValueRole::kInternal;
    }
    for (const BlobOperation& operation : program.operations) {
      if (IsAppend(operation)) fits_[operation.output] = false;
    }
  }

  void Run(const std::map<uint32_t, uint32_t>& outputs) {
    const auto inputs = static_cast<uint32_t>(program_.values.size() - program_.operations.size());
    result_ = {program_.name, {program_.values.begin(), program_.values.begin() + inputs}, {}};
    places_.resize(program_.values.size());
    for (uint32_t v = 0; v < inputs; ++v) places_[v] = v;
    for (const BlobOperation& operation : program_.operations) {
      BlobOperation moved = operation;
      ForEachInput(moved, [&](uint32_t& input) { input = places_[input]; });
      // Summaries have the type of keys and values and come from other operations: such keys and values stay f32.
      const bool summaries = HasInput(operation, AttentionInput::kSummaryKeys);
      const bool cast =
          IsAttention(operation) && !summaries && fits_[operation.inputs[1]] && fits_[operation.inputs[2]];
      for (size_t i = 1; cast && i <= 2; ++i) moved.inputs[i] = CastOf(operation.inputs[i], KeyHeads(operation));
      BlobValue made = program_.values[operation.output];
      if (IsAppend(operation) && made.type == DType::kF32) {
        SetNumber(moved, Attribute::kType, static_cast<uint32_t>(type_));
        made.type = type_;
      }
      places_[operation.output] = Add(std::move(moved), made);
      const auto output = outputs.find(operation.output);
      if (output != outputs.end()) CastOutput(*output);
    }
    program_ = std::move(result_);
  }

 private:
  uint32_t Add(BlobOperation operation, const BlobValue& value) {
    return AppendOperation(std::move(operation), value, result_);
  }

  uint32_t CastOf(uint32_t value, uint32_t heads) {
    const auto [at, is_new] = casts_.emplace(std::make_pair(value, heads), 0);
    if (is_new) {
      BlobOperation made;
      made.code = static_cast<uint32_t>(OpCode::kCast);
      made.inputs = {places_[value]};
      made.attributes = {{static_cast<uint32_t>(Attribute::kType), static_cast<uint32_t>(type_)},
                         {static_cast<uint32_t>(Attribute::kHeads), heads}};
      BlobValue as = program_.values[value];
      as.name += std::string(".") + NameOf(type_);
      as.type = type_;
      at->second = Add(std::move(made), as);
    }
    return at->second;
  }

  // The cast takes over the name and role of its input.
  void CastOutput(const std::pair<const uint32_t, uint32_t>& output) {
    BlobValue& cast = result_.values[CastOf(output.first, output.second)];
    BlobValue& exact = result_.values[places_[output.first]];
    cast.name = exact.name;
    cast.role = exact.role;
    exact.name += std::string(".") + NameOf(DType::kF32);
    exact.role = ValueRole::kInternal;
  }

  const DType type_;
  BlobProgram& program_;
  std::vector<bool> fits_;  // can be cast
  BlobProgram result_;
  std::vector<uint32_t> places_;                             // new index of each former value
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> casts_;  // (former value, heads) to cast
};

// The encoder's output that an input of the decoder reads, or null.
const std::string* LinkOf(const BlobContent& content, const std::string& input) {
  return GenerationEntry(content, "link." + input);
}

// For each linked input of the decoder that only attentions read, as keys or values with one number of heads: that
// number. Keys and values of an attention have one type, so both must be such inputs.
std::map<uint32_t, uint32_t> LinkedKeys(const BlobProgram& decoder, const BlobContent& content) {
  const std::vector<bool> only_keys = OnlyKeys(decoder);
  std::map<uint32_t, uint32_t> taken;
  std::vector<const BlobOperation*> attentions;
  for (const BlobOperation& operation : decoder.operations) {
    if (!IsAttention(operation)) continue;
    attentions.push_back(&operation);
    for (const uint32_t v : {operation.inputs[1], operation.inputs[2]}) {
      const BlobValue& value = decoder.values[v];
      if (!only_keys[v] || value.role != ValueRole::kInput || LinkOf(content, value.name) == nullptr) continue;
      taken.emplace(v, KeyHeads(operation));
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const BlobOperation* attention : attentions) {
      const auto k = taken.find(attention->inputs[1]), v = taken.find(attention->inputs[2]);
      const auto fits = [&](const auto& at) { return at != taken.end() && at->second == KeyHeads(*attention); };
      if (fits(k) && fits(v)) continue;
      changed = changed || k != taken.end() || v != taken.end();
      taken.erase(attention->inputs[1]);
      taken.erase(attention->inputs[2]);
    }
  }
  return taken;
}

}  // namespace

void CastKeys(DType type, BlobContent& content) {
  if (type == DType::kF32) return;
  const std::optional<size_t> encode = GenerationProgram(content, "encode");
  const std::optional<size_t> decode = GenerationProgram(content, "decode");
  std::map<uint32_t, uint32_t> outputs;
  if (encode && decode) {
    BlobProgram& encoder = content.programs[*encode];
    BlobProgram& decoder = content.programs[*decode];
    for (const auto& [input, heads] : LinkedKeys(decoder, content)) {
      BlobValue& value = decoder.values[input];
      for (uint32_t v = 0; v < encoder.values.size(); ++v) {
        if (encoder.values[v].name == *LinkOf(content, value.name)) outputs.emplace(v, heads);
      }
      value.type = type;
      value.parts = type == DType::kI8 ? heads : 0;
    }
  }
  for (size_t i = 0; i < content.programs.size(); ++i) {
    Caster(type, content.programs[i]).Run(i == encode ? outputs : std::map<uint32_t, uint32_t>());
  }
}

void SetProducts(Products products, BlobProgram& program) {
  for (BlobOperation& operation : program.operations) {
    if (!IsAttention(operation) || NumberOr(operation, Attribute::kScore, 0) != 0) continue;
    const bool says = std::any_of(operation.attributes.begin(), operation.attributes.end(), [](const auto& attribute) {
      return attribute.key == static_cast<uint32_t>(Attribute::kProducts);
    });
    if (says) continue;
    operation.attributes.push_back({static_cast<uint32_t>(Attribute::kProducts), static_cast<uint32_t>(products)});
  }
}

}  // namespace fovea::tools
