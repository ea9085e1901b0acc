// fovea/model.h: looking inside a model.
#include "runtime/api/handles.h"
#include "runtime/blob/names.h"
#include "runtime/model/find.h"

using namespace fovea;  // NOLINT: this file is the border

namespace {

const ProgramPlan* FindPlan(const fovea_model* model, uint32_t program) {
  return program < model->model.blob.programs.count ? &model->plans[program] : nullptr;
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

fovea_status fovea_model_section(const fovea_model* model, uint32_t section, fovea_section_info* info) {
  if (!IsLive(model)) return FOVEA_E_HANDLE;
  if (info == nullptr) return FOVEA_E_NULL;
  const Records<SectionRecord>& sections = model->model.blob.sections;
  if (section >= sections.count) return FOVEA_E_INDEX;
  const SectionRecord& s = sections[section];
  *info = {NameOf(s.kind), static_cast<uint32_t>(s.kind), s.offset, s.size, s.layout};
  return FOVEA_OK;
}

fovea_status fovea_model_space(const fovea_model* model, uint32_t space, fovea_space_info* info) {
  if (!IsLive(model)) return FOVEA_E_HANDLE;
  if (info == nullptr) return FOVEA_E_NULL;
  const Blob& blob = model->model.blob;
  if (space >= blob.spaces.count) return FOVEA_E_INDEX;
  const SpaceRecord& s = blob.spaces[space];
  *info = {blob.String(s.name), s.parent, s.kind == SpaceKind::kInput ? 1u : 0u, model->model.max_segment_rows[space]};
  return FOVEA_OK;
}

fovea_status fovea_model_tensor(const fovea_model* model, uint32_t tensor, fovea_tensor_info* info) {
  if (!IsLive(model)) return FOVEA_E_HANDLE;
  if (info == nullptr) return FOVEA_E_NULL;
  const Blob& blob = model->model.blob;
  if (tensor >= blob.tensors.count) return FOVEA_E_INDEX;
  const TensorRecord& t = blob.tensors[tensor];
  const DType type = DType(t.type);
  *info = {blob.String(t.name),
           t.type,
           t.rows,
           t.width,
           t.rows * RowBytes(type, t.width) + ScaleBytes(type, t.rows, t.width),
           blob.TensorRows(tensor),
           blob.TensorScales(tensor)};
  return FOVEA_OK;
}

const char* fovea_model_metadata(const fovea_model* model, const char* key) {
  return IsLive(model) && key != nullptr ? FindMetadata(model->model.blob, key) : nullptr;
}

const char* fovea_model_label(const fovea_model* model, uint32_t index) {
  char key[] = "label.4294967295";
  char digits[10];
  uint32_t count = 0;
  for (; count == 0 || index != 0; index /= 10) digits[count++] = static_cast<char>('0' + index % 10);
  char* end = key + sizeof("label.") - 1;
  while (count != 0) *end++ = digits[--count];
  *end = '\0';
  const char* label = fovea_model_metadata(model, key);
  return label == nullptr ? "" : label;
}

fovea_status fovea_model_metadata_at(const fovea_model* model, uint32_t index, const char** key, const char** value) {
  if (!IsLive(model)) return FOVEA_E_HANDLE;
  if (key == nullptr || value == nullptr) return FOVEA_E_NULL;
  const Blob& blob = model->model.blob;
  if (index >= blob.metadata.count) return FOVEA_E_INDEX;
  *key = blob.String(blob.metadata[index].key);
  *value = blob.String(blob.metadata[index].value);
  return FOVEA_OK;
}

fovea_status fovea_model_program(const fovea_model* model, uint32_t program, fovea_program_info* info) {
  if (!IsLive(model)) return FOVEA_E_HANDLE;
  if (info == nullptr) return FOVEA_E_NULL;
  const ProgramPlan* plan = FindPlan(model, program);
  if (plan == nullptr) return FOVEA_E_INDEX;
  *info = {model->model.blob.String(plan->record->name), plan->record->value_count, plan->record->operation_count,
           plan->phase_count};
  return FOVEA_OK;
}

fovea_status fovea_program_value(const fovea_model* model, uint32_t program, uint32_t value, fovea_value_info* info) {
  if (!IsLive(model)) return FOVEA_E_HANDLE;
  if (info == nullptr) return FOVEA_E_NULL;
  const ProgramPlan* plan = FindPlan(model, program);
  if (plan == nullptr || value >= plan->record->value_count) return FOVEA_E_INDEX;
  const Blob& blob = model->model.blob;
  const uint32_t index = plan->record->first_value + value;
  const ValueRecord& v = blob.values[index];
  const bool carried = v.role == ValueRole::kCarried;
  const ValueRole role = carried ? ValueRole::kInput : v.role;
  *info = {blob.String(v.name),
           v.space,
           v.width,
           v.type,
           static_cast<uint32_t>(role),
           model->model.id_limits[index],
           carried ? v.carried_by : FOVEA_NONE};
  return FOVEA_OK;
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
    fovea_step_info info;
    if (fovea_program_step(model, program, i, &info) != FOVEA_OK || strcmp(info.name, name) != 0) continue;
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
  const Blob& blob = model->model.blob;
  for (uint32_t i = 0; i < blob.programs.count; ++i) {
    if (strcmp(blob.String(blob.programs[i].name), name) != 0) continue;
    *program = i;
    return FOVEA_OK;
  }
  return FOVEA_E_NAME;
}

fovea_status fovea_program_step(const fovea_model* model, uint32_t program, uint32_t step, fovea_step_info* info) {
  if (!IsLive(model)) return FOVEA_E_HANDLE;
  if (info == nullptr) return FOVEA_E_NULL;
  const ProgramPlan* plan = FindPlan(model, program);
  if (plan == nullptr || step >= plan->record->operation_count) return FOVEA_E_INDEX;
  const Model& m = model->model;
  const OpView view = m.Operation(*plan->record, step);
  const OpDef& def = *FindOp(view.record->code);
  *info = fovea_step_info{};
  info->op = NameOf(OpCode(view.record->code));
  info->name = m.blob.String(view.record->name == kBlobNone ? view.Output().name : view.record->name);
  info->output = view.record->output;
  info->phase = plan->phase_of[step];
  info->tile_local = plan->values[view.record->output].tile ? 1 : 0;
  info->input_count = view.record->input_count;
  info->tensor_count = view.record->tensor_count;
  for (uint32_t i = 0; i < info->input_count; ++i) info->inputs[i] = view.InputIndex(i);
  for (uint32_t i = 0; i < info->tensor_count; ++i) info->tensors[i] = view.TensorIndex(i);
  info->flops_per_row = def.flops_per_row(view);
  if (OpCode(view.record->code) == OpCode::kAttention) {
    const AttentionSpec spec = AttentionSpecOf(view);
    info->heads = spec.heads;
    info->flops_per_row_key = 2.0 * spec.heads * (double{1} * spec.d_k + spec.d_v);
  }
  const Linear* layer = m.Layer(plan->record->first_operation + step, 0);
  if (layer != nullptr) info->backend = layer->backend->name;
  return FOVEA_OK;
}

}  // extern "C"
