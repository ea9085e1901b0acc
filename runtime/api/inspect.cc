// Implements the part of fovea/model.h that inspects a model.
#include "runtime/api/handles.h"
#include "runtime/blob/names.h"
#include "runtime/blob/op_names.h"
#include "runtime/model/find.h"
#include "runtime/model/needs.h"
#include "runtime/ops/attention.h"

using namespace fovea;  // NOLINT: this file is the border

namespace {

const ProgramPlan* FindPlan(const fovea_model* model, uint32_t program) {
  return program < model->model.blob.programs.count ? &model->plans[program] : nullptr;
}

// The plan of the program that has this operation, or null.
const ProgramPlan* FindStep(const fovea_model* model, uint32_t program, uint32_t step) {
  const ProgramPlan* plan = FindPlan(model, program);
  return plan != nullptr && step < plan->record->operation_count ? plan : nullptr;
}

}  // namespace

extern "C" {

fovea_status fovea_model_get_info(const fovea_model* model, fovea_model_info* info) {
  if (!IsLive(model)) return FOVEA_E_HANDLE;
  const Model& m = model->model;
  fovea_model_info values{};
  values.program_count = m.blob.programs.count;
  values.space_count = m.blob.spaces.count;
  values.tensor_count = m.blob.tensors.count;
  values.metadata_count = m.blob.metadata.count;
  values.section_count = m.blob.sections.count;
  values.linear_count = m.linear_count;
  values.has_text = m.has_text ? 1 : 0;
  values.uses_packed = m.packed_section != nullptr ? 1 : 0;
  values.blob_bytes = m.blob.bytes.size;
  values.weight_bytes = m.blob.weights.size;
  values.packed_bytes = m.packed_bytes;
  values.backend = m.backend->name;
  return WriteStruct(values, info);
}

fovea_status fovea_model_needs(const fovea_model* model, fovea_need need, void* context) {
  if (!IsLive(model)) return FOVEA_E_HANDLE;
  if (need == nullptr) return FOVEA_E_NULL;
  ListNeeds(model->model, need, context);
  return FOVEA_OK;
}

fovea_status fovea_model_get_section(const fovea_model* model, uint32_t section, fovea_section_info* info) {
  if (!IsLive(model)) return FOVEA_E_HANDLE;
  const Records<SectionRecord>& sections = model->model.blob.sections;
  if (section >= sections.count) return FOVEA_E_INDEX;
  const SectionRecord& s = sections[section];
  fovea_section_info values{};
  values.name = NameOf(s.kind);
  values.kind = static_cast<uint32_t>(s.kind);
  values.offset = s.offset;
  values.size = s.size;
  values.layout = s.layout;
  return WriteStruct(values, info);
}

fovea_status fovea_model_get_space(const fovea_model* model, uint32_t space, fovea_space_info* info) {
  if (!IsLive(model)) return FOVEA_E_HANDLE;
  const Blob& blob = model->model.blob;
  if (space >= blob.spaces.count) return FOVEA_E_INDEX;
  const SpaceRecord& s = blob.spaces[space];
  fovea_space_info values{};
  values.name = blob.String(s.name);
  values.parent = s.parent;
  values.is_input = s.kind == SpaceKind::kInput ? 1 : 0;
  values.max_segment_rows = model->model.max_segment_rows[space];
  values.is_cached = s.kind == SpaceKind::kCached ? 1 : 0;
  values.window = values.is_cached != 0 ? s.extra : 0;
  return WriteStruct(values, info);
}

fovea_status fovea_model_get_tensor(const fovea_model* model, uint32_t tensor, fovea_tensor_info* info) {
  if (!IsLive(model)) return FOVEA_E_HANDLE;
  const Blob& blob = model->model.blob;
  if (tensor >= blob.tensors.count) return FOVEA_E_INDEX;
  const TensorRecord& t = blob.tensors[tensor];
  const DType type = DType(t.type);
  fovea_tensor_info values{};
  values.name = blob.String(t.name);
  values.type = t.type;
  values.rows = t.rows;
  values.width = t.width;
  values.bytes = t.rows * RowBytes(type, t.width) + ScaleBytes(type, t.rows, t.width);
  values.data = blob.TensorRows(tensor);
  values.scales = blob.TensorScales(tensor);
  return WriteStruct(values, info);
}

const char* fovea_model_find_metadata(const fovea_model* model, const char* key) {
  return IsLive(model) && key != nullptr ? FindMetadata(model->model.blob, key) : nullptr;
}

const char* fovea_model_get_label(const fovea_model* model, uint32_t index) {
  return IsLive(model) ? LabelOf(model->model.blob, index) : "";
}

fovea_status fovea_model_get_metadata(const fovea_model* model, uint32_t index, const char** key, const char** value) {
  if (!IsLive(model)) return FOVEA_E_HANDLE;
  if (key == nullptr || value == nullptr) return FOVEA_E_NULL;
  const Blob& blob = model->model.blob;
  if (index >= blob.metadata.count) return FOVEA_E_INDEX;
  *key = blob.String(blob.metadata[index].key);
  *value = blob.String(blob.metadata[index].value);
  return FOVEA_OK;
}

fovea_status fovea_model_get_program(const fovea_model* model, uint32_t program, fovea_program_info* info) {
  if (!IsLive(model)) return FOVEA_E_HANDLE;
  const ProgramPlan* plan = FindPlan(model, program);
  if (plan == nullptr) return FOVEA_E_INDEX;
  fovea_program_info values{};
  values.name = model->model.blob.String(plan->record->name);
  values.value_count = plan->record->value_count;
  values.step_count = plan->record->operation_count;
  values.phase_count = plan->phase_count;
  return WriteStruct(values, info);
}

fovea_status fovea_program_get_value(const fovea_model* model, uint32_t program, uint32_t value,
                                     fovea_value_info* info) {
  if (!IsLive(model)) return FOVEA_E_HANDLE;
  const ProgramPlan* plan = FindPlan(model, program);
  if (plan == nullptr || value >= plan->record->value_count) return FOVEA_E_INDEX;
  const Blob& blob = model->model.blob;
  const uint32_t index = plan->record->first_value + value;
  const ValueRecord& v = blob.values[index];
  const bool carried = v.role == ValueRole::kCarried;
  const ValueRole role = carried ? ValueRole::kInput : v.role;
  fovea_value_info values{};
  values.name = blob.String(v.name);
  values.space = v.space;
  values.width = v.width;
  values.type = v.type;
  values.role = static_cast<uint32_t>(role);
  values.id_limit = model->model.id_limits[index];
  values.carried_by = carried ? v.detail : FOVEA_NONE;
  return WriteStruct(values, info);
}

fovea_status fovea_program_find_value(const fovea_model* model, uint32_t program, const char* name, uint32_t* value) {
  if (!IsLive(model)) return FOVEA_E_HANDLE;
  if (name == nullptr || value == nullptr) return FOVEA_E_NULL;
  const ProgramPlan* plan = FindPlan(model, program);
  if (plan == nullptr) return FOVEA_E_INDEX;
  const uint32_t found = FindValue(model->model, *plan->record, name);
  if (found == kBlobNone) return FOVEA_E_NAME;
  *value = found;
  return FOVEA_OK;
}

fovea_status fovea_program_find_step(const fovea_model* model, uint32_t program, const char* name, uint32_t* step) {
  if (!IsLive(model)) return FOVEA_E_HANDLE;
  if (name == nullptr || step == nullptr) return FOVEA_E_NULL;
  const ProgramPlan* plan = FindPlan(model, program);
  if (plan == nullptr) return FOVEA_E_INDEX;
  for (uint32_t i = 0; i < plan->record->operation_count; ++i) {
    if (strcmp(StepName(model->model, *plan->record, i), name) != 0) continue;
    *step = i;
    return FOVEA_OK;
  }
  return FOVEA_E_NAME;
}

fovea_status fovea_model_find_space(const fovea_model* model, const char* name, uint32_t* space) {
  if (!IsLive(model)) return FOVEA_E_HANDLE;
  if (name == nullptr || space == nullptr) return FOVEA_E_NULL;
  const Blob& blob = model->model.blob;
  for (uint32_t i = 0; i < blob.spaces.count; ++i) {
    if (strcmp(blob.String(blob.spaces[i].name), name) != 0) continue;
    *space = i;
    return FOVEA_OK;
  }
  return FOVEA_E_NAME;
}

fovea_status fovea_model_find_program(const fovea_model* model, const char* name, uint32_t* program) {
  if (!IsLive(model)) return FOVEA_E_HANDLE;
  if (name == nullptr || program == nullptr) return FOVEA_E_NULL;
  const uint32_t found = FindProgram(model->model.blob, name);
  if (found == kBlobNone) return FOVEA_E_NAME;
  *program = found;
  return FOVEA_OK;
}

fovea_status fovea_program_get_step(const fovea_model* model, uint32_t program, uint32_t step, fovea_step_info* info) {
  if (!IsLive(model)) return FOVEA_E_HANDLE;
  const ProgramPlan* plan = FindStep(model, program, step);
  if (plan == nullptr) return FOVEA_E_INDEX;
  const Model& m = model->model;
  const Op& op = m.Operation(*plan->record, step);
  const OperationRecord& record = m.blob.operations[plan->record->first_operation + step];
  fovea_step_info values{};
  values.op = NameOf(OpCode(record.code));
  values.name = StepName(m, *plan->record, step);
  values.output = op.output.index;
  values.phase = plan->phase_of[step];
  values.tile_local = plan->values[op.output.index].tile ? 1 : 0;
  values.input_count = op.input_count;
  values.tensor_count = record.tensor_count;
  values.flops_per_row = op.def->flops_per_row == nullptr ? op.output.width : op.def->flops_per_row(op);
  if (const AttentionOp* attention = AsAttention(op)) {
    const AttentionSpec& spec = attention->spec;
    values.heads = spec.heads;
    values.flops_per_row_key = 2.0 * spec.heads * (double{1} * spec.d_k + spec.d_v);
  }
  if (op.layer_count > 0) values.backend = op.layers[0].linear->backend->name;
  return WriteStruct(values, info);
}

fovea_status fovea_program_get_step_input(const fovea_model* model, uint32_t program, uint32_t step, uint32_t index,
                                          uint32_t* value) {
  if (!IsLive(model)) return FOVEA_E_HANDLE;
  if (value == nullptr) return FOVEA_E_NULL;
  const ProgramPlan* plan = FindStep(model, program, step);
  if (plan == nullptr) return FOVEA_E_INDEX;
  const Op& op = model->model.Operation(*plan->record, step);
  if (index >= op.input_count) return FOVEA_E_INDEX;
  *value = op.inputs[index].index;
  return FOVEA_OK;
}

fovea_status fovea_program_get_step_tensor(const fovea_model* model, uint32_t program, uint32_t step, uint32_t index,
                                           uint32_t* tensor) {
  if (!IsLive(model)) return FOVEA_E_HANDLE;
  if (tensor == nullptr) return FOVEA_E_NULL;
  const ProgramPlan* plan = FindStep(model, program, step);
  if (plan == nullptr) return FOVEA_E_INDEX;
  const Blob& blob = model->model.blob;
  const OperationRecord& record = blob.operations[plan->record->first_operation + step];
  if (index >= record.tensor_count) return FOVEA_E_INDEX;
  *tensor = blob.operands[record.first_operand + record.input_count + index];
  return FOVEA_OK;
}

}  // extern "C"
