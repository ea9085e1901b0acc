/* Placeholder inputs: one text of a given number of rows. */
#include "ports/inputs.h"

static int is_input(const fovea_model* model, uint32_t program, uint32_t value, fovea_value_info* info) {
  info->struct_size = sizeof(*info);
  return fovea_program_get_value(model, program, value, info) == FOVEA_OK && info->role == FOVEA_ROLE_INPUT;
}

static uint32_t value_count(const fovea_model* model, uint32_t program) {
  fovea_program_info info = FOVEA_PROGRAM_INFO_INIT;
  return fovea_model_get_program(model, program, &info) == FOVEA_OK ? info.value_count : 0;
}

/* How a space is related to the space of an input. */
enum { APART, SAME, AROUND, FOLLOWS /* around, but the space in between determines its rows */ };

static int relation(const fovea_model* model, uint32_t space, uint32_t input_space) {
  int told = 0;
  for (uint32_t at = input_space; at != FOVEA_NONE;) {
    fovea_space_info info = FOVEA_SPACE_INFO_INIT;
    if (fovea_model_get_space(model, at, &info) != FOVEA_OK) return APART;
    if (at == space) {
      if (!info.is_input) return APART;
      if (at == input_space) return SAME;
      return told && info.parent == FOVEA_NONE ? FOLLOWS : AROUND;
    }
    told |= info.is_input != 0;
    at = info.parent;
  }
  return APART;
}

uint32_t fovea_inputs_rows(const fovea_model* model, uint32_t program, uint32_t space, uint32_t rows) {
  fovea_space_info info = FOVEA_SPACE_INFO_INIT;
  fovea_value_info value;
  int known[4] = {0};
  const uint32_t count = value_count(model, program);
  if (fovea_model_get_space(model, space, &info) != FOVEA_OK) return 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (is_input(model, program, i, &value)) known[relation(model, space, value.space)] = 1;
  }
  if (known[FOLLOWS] || (!known[SAME] && !known[AROUND])) return 0;
  if (known[AROUND]) rows = 1;
  return rows < info.max_segment_rows ? rows : info.max_segment_rows;
}

static uint32_t next_number(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33);
}

static fovea_status write_input(fovea_session* session, uint32_t value, const fovea_value_info* info, uint64_t* state,
                                fovea_error* error) {
  fovea_view view;
  const uint32_t* offsets;
  uint32_t segments;
  fovea_status status = fovea_session_get_input(session, value, &view, error);
  if (status != FOVEA_OK) return status;
  const size_t count = (size_t)view.rows * view.width;
  if (view.type == FOVEA_TYPE_F32) {
    for (size_t i = 0; i < count; ++i) ((float*)view.data)[i] = (float)next_number(state) / 0x40000000 - 1;
    return FOVEA_OK;
  }
  if (view.type != FOVEA_TYPE_I32) {
    for (size_t i = 0; i < (size_t)view.rows * view.row_bytes; ++i) ((char*)view.data)[i] = 0;
    return FOVEA_OK;
  }
  int32_t* ids = view.data;
  for (size_t i = 0; i < count; ++i) ids[i] = info->id_limit == 0 ? 0 : (int32_t)(next_number(state) % info->id_limit);
  if (info->id_limit != 0) return FOVEA_OK;
  status = fovea_session_get_segments(session, info->space, &offsets, &segments, error);
  for (uint32_t segment = 0; status == FOVEA_OK && segment < segments; ++segment) {
    if (offsets[segment] == offsets[segment + 1]) continue;
    for (uint32_t i = 0; i < view.width; ++i) ids[(size_t)offsets[segment] * view.width + i] = 1;
  }
  return status;
}

fovea_status fovea_inputs_write(fovea_session* session, const fovea_model* model, uint32_t program, uint32_t rows,
                                uint64_t* bound, fovea_error* error) {
  fovea_model_info about = FOVEA_MODEL_INFO_INIT;
  fovea_value_info value;
  uint64_t state = 1;
  fovea_status status = fovea_model_get_info(model, &about);
  const uint32_t count = value_count(model, program);
  *bound = 0;
  for (uint32_t space = 0; status == FOVEA_OK && space < about.space_count; ++space) {
    const uint32_t length = fovea_inputs_rows(model, program, space, rows);
    if (length == 0) continue;
    status = fovea_session_set_segments(session, space, &length, 1, error);
    *bound += length;
  }
  for (uint32_t i = 0; status == FOVEA_OK && i < count; ++i) {
    if (is_input(model, program, i, &value)) status = write_input(session, i, &value, &state, error);
  }
  return status;
}
