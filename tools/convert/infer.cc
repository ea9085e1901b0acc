#include "tools/convert/infer.h"

#include <algorithm>
#include <memory>

#include "runtime/blob/attributes.h"
#include "runtime/blob/names.h"
#include "runtime/ops/record.h"
#include "tools/base/fail.h"
#include "tools/convert/blob_attributes.h"

namespace fovea::tools {
namespace {

// Attributes that only announced an input.
constexpr Attribute kFormerFlags[] = {Attribute::kKeyBias,        Attribute::kGlobalKeys, Attribute::kSummaries,
                                      Attribute::kRowCoordinates, Attribute::kInitial,    Attribute::kMasked};

void DropFormerFlags(BlobOperation& operation) {
  const auto is_flag = [](const AttributeRecord& attribute) {
    const auto key = static_cast<Attribute>(attribute.key);
    return std::find(std::begin(kFormerFlags), std::end(kFormerFlags), key) != std::end(kFormerFlags);
  };
  auto& attributes = operation.attributes;
  attributes.erase(std::remove_if(attributes.begin(), attributes.end(), is_flag), attributes.end());
}

// With numbers, unless these are indices of spaces.
std::string TextOf(const fovea_error& error, bool of_space = false) {
  if (of_space || (error.expected == 0 && error.found == 0)) return error.text;
  return fmt::format("{}: expected {}, found {}", error.text, error.expected, error.found);
}

}  // namespace

// The result of lowering an operation whose output is in one given space.
struct Inference::Trial {
  bool fits = false;
  std::string fault;
  bool of_space = false;  // the fault is that of the space
  BlobValue value;
};

// Records of what has been added since.
void Inference::Follow() {
  for (size_t i = spaces_.size(); i < content_.spaces.size(); ++i) {
    const BlobSpace& space = content_.spaces[i];
    spaces_.push_back({kBlobNone, space.parent, space.kind, space.source, space.extra, space.first, space.last});
  }
  for (size_t i = tensors_.size(); i < content_.tensors.size(); ++i) {
    const BlobTensor& tensor = content_.tensors[i];
    tensors_.push_back({kBlobNone, static_cast<uint32_t>(tensor.type), tensor.rows, tensor.width, 0, 0});
  }
  for (size_t i = values_.size(); i < program_.values.size(); ++i) {
    const BlobValue& value = program_.values[i];
    const uint32_t detail = value.role == ValueRole::kInput ? value.parts : 0;
    values_.push_back({kBlobNone, value.space, value.width, static_cast<uint32_t>(value.type), value.role, detail});
  }
}

// Gives inputs that attributes announce their numbers.
void Inference::Number(BlobOperation& operation) {
  const OpDef& def = *FindOp(operation.code);
  if (def.former_inputs == nullptr) return;
  OperationRecord record = {};
  record.input_count = static_cast<uint32_t>(operation.inputs.size());
  record.attribute_count = static_cast<uint32_t>(operation.attributes.size());
  Blob blob;
  blob.operands = {operation.inputs.data(), record.input_count};
  blob.attributes = {operation.attributes.data(), record.attribute_count};
  uint32_t inputs[kMaxFormerInputs], count = 0;
  fovea_error error = {};
  Reporter reporter(&error);
  const OpView view = {&blob, &record, nullptr};
  if (!def.former_inputs(view, reporter, inputs, &count).ok()) Fail("{}", TextOf(error));
  if (count != 0) operation.inputs.assign(inputs, inputs + count);
  while (!operation.inputs.empty() && operation.inputs.back() == kBlobNone) operation.inputs.pop_back();
  DropFormerFlags(operation);
}

Inference::Trial Inference::Try(const BlobOperation& operation, uint32_t space) {
  values_.back().space = space;
  // Tensors have no contents here; their addresses distinguish them from absent tensors.
  static const uint8_t no_weights[kAlignment] = {};
  Blob blob;
  blob.spaces = {spaces_.data(), static_cast<uint32_t>(spaces_.size())};
  blob.tensors = {tensors_.data(), static_cast<uint32_t>(tensors_.size())};
  blob.values = {values_.data(), static_cast<uint32_t>(values_.size())};
  blob.operations = {operations_.data(), static_cast<uint32_t>(operations_.size())};
  blob.operands = {operands_.data(), static_cast<uint32_t>(operands_.size())};
  blob.attributes = {attributes_.data(), static_cast<uint32_t>(attributes_.size())};
  ProgramRecord program = {kBlobNone, 0, blob.values.count, 0, blob.operations.count, 0};
  blob.programs = {&program, 1};
  blob.weights = {no_weights, 0};
  OpView view = {&blob, &operations_.back(), values_.data()};
  view.shapes_only = true;

  Trial trial;
  fovea_error error = {};
  Reporter reporter(&error);
  const auto room = std::make_unique<OpRoom>();
  Arena nothing;
  Op* op = nullptr;
  const auto lower = [&]() -> Status {
    OpDef def = *FindOp(operation.code);
    def.former_inputs = nullptr;  // inputs have numbers, see Number
    FOVEA_TRY(CheckCounts(*view.record, def, reporter));
    for (uint32_t i = 0; i < view.input_count; ++i) {
      if (RequiresInput(def, i) && !view.Has(InputNumber(i)))
        return reporter.Fail(FOVEA_E_RECORD, "an input is missing");
    }
    for (uint32_t i = 0; i < view.record->tensor_count; ++i) {
      if (RequiresTensor(def, i) && !view.Has(TensorNumber(i)))
        return reporter.Fail(FOVEA_E_RECORD, "a tensor is missing");
    }
    FOVEA_TRY(CheckAttributes(blob, *view.record, def, reporter));
    return LowerRecord(view, def, nothing, room.get(), reporter, &op);
  };
  trial.fits = lower().ok();
  if (!trial.fits) {
    trial.of_space = reporter.of_output_space;
    trial.fault = TextOf(error, trial.of_space);
    if (error.tensor != FOVEA_NOWHERE) {
      const BlobTensor& tensor = content_.tensors[error.tensor];
      trial.fault = fmt::format("tensor {}: {}", tensor.name, trial.fault);
    }
    return trial;
  }
  trial.value.space = space;
  trial.value.width = op->output.width;
  trial.value.type = op->output.type;
  return trial;
}

// The operands of an operation, for messages.
std::string Inference::Shapes(const BlobOperation& operation) const {
  std::vector<std::string> shapes;
  ForEachInput(operation, [&](uint32_t input) {
    const BlobValue& value = program_.values[input];
    shapes.push_back(
        fmt::format("{} {} [{}, {}]", value.name, NameOf(value.type), content_.spaces[value.space].name, value.width));
  });
  for (const uint32_t tensor : operation.tensors) {
    if (tensor == kBlobNone) continue;
    const BlobTensor& of = content_.tensors[tensor];
    shapes.push_back(fmt::format("tensor {} [{}, {}]", of.name, of.rows, of.width));
  }
  return fmt::format("{}", fmt::join(shapes, ", "));
}

BlobValue Inference::Infer(BlobOperation& operation, const std::string& wanted) {
  Follow();
  Number(operation);
  OperationRecord record = {};
  record.code = operation.code;
  record.name = kBlobNone;
  record.output = static_cast<uint32_t>(program_.values.size());
  record.first_operand = static_cast<uint32_t>(operands_.size());
  record.input_count = static_cast<uint32_t>(operation.inputs.size());
  record.tensor_count = static_cast<uint32_t>(operation.tensors.size());
  record.first_attribute = static_cast<uint32_t>(attributes_.size());
  record.attribute_count = static_cast<uint32_t>(operation.attributes.size());
  operands_.insert(operands_.end(), operation.inputs.begin(), operation.inputs.end());
  operands_.insert(operands_.end(), operation.tensors.begin(), operation.tensors.end());
  attributes_.insert(attributes_.end(), operation.attributes.begin(), operation.attributes.end());
  operations_.push_back(record);
  values_.push_back({kBlobNone, 0, 0, 0, ValueRole::kInternal, 0});

  // Spaces in the order in which their faults are shown.
  std::vector<uint32_t> candidates;
  uint32_t own = kBlobNone, parent = kBlobNone;
  if (!operation.inputs.empty() && operation.inputs[0] != kBlobNone) {
    own = program_.values[operation.inputs[0]].space;
    parent = content_.spaces[own].parent;
  }
  for (uint32_t i = 0; i < content_.spaces.size(); ++i) {
    if (!wanted.empty() && wanted != content_.spaces[i].name) continue;
    candidates.insert(i == own ? candidates.begin() : candidates.end(), i);
  }
  if (candidates.empty()) Fail("there is no space {}", wanted);
  std::string fault;
  bool of_space = true;
  std::vector<Trial> fitting;
  for (const uint32_t space : candidates) {
    Trial trial = Try(operation, space);
    if (!trial.fits && (fault.empty() || (of_space && !trial.of_space))) fault = trial.fault, of_space = trial.of_space;
    if (trial.fits) fitting.push_back(std::move(trial));
  }
  values_.pop_back();
  if (fitting.empty()) Fail("{} ({})", fault, Shapes(operation));
  if (fitting.size() == 1) return fitting[0].value;
  // A space that is made of the input's by strides has to be named: pool and unfold usually stay out of it.
  const auto is_usual = [&](const Trial& trial) { return trial.value.space == own || trial.value.space == parent; };
  const auto is_strided = [&](const Trial& trial) {
    const BlobSpace& space = content_.spaces[trial.value.space];
    return space.kind == SpaceKind::kStrided && space.source == own;
  };
  const auto usual = std::find_if(fitting.begin(), fitting.end(), is_usual);
  const auto strided = std::count_if(fitting.begin(), fitting.end(), is_strided);
  if (usual != fitting.end() && strided + 1 == static_cast<ptrdiff_t>(fitting.size())) return usual->value;
  std::vector<std::string> names;
  for (const Trial& trial : fitting) names.push_back(content_.spaces[trial.value.space].name);
  Fail("spaces {} fit the result; \"space\" must name one", fmt::join(names, ", "));
}

}  // namespace fovea::tools
