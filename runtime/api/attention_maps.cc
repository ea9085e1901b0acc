// Implements fovea/tap.h.
#include "runtime/api/handles.h"

namespace fovea {
namespace {

Status FindTap(const fovea_session* handle, uint32_t tap, Reporter& reporter, const Tap** found) {
  if (!IsLive(handle)) return reporter.Fail(FOVEA_E_HANDLE, "invalid session handle");
  const Session& s = *handle->session;
  if (tap >= s.tap_count) return reporter.Fail(FOVEA_E_INDEX, "the tap does not exist", s.tap_count, tap);
  if (!s.finished) return reporter.Fail(FOVEA_E_ORDER, "no run has finished since the segments were set");
  *found = &s.taps[tap];
  return kOk;
}

fovea_attention_map MapOf(const Session& session, const Tap& tap) {
  const Op& op = session.model->Operation(session.program(), tap.asked.step);
  fovea_attention_map map = {};
  map.query_rows = tap.rows;
  map.data = tap.sink.sparse() ? nullptr : tap.sink.values;
  map.entries = CountEntries(tap);
  map.form = tap.asked.form;
  map.rows = tap.sink.row_count;
  map.heads = tap.sink.slots();
  map.stride = tap.sink.sparse() ? 0 : tap.sink.stride;
  map.query_space = op.inputs[0].space;
  map.key_space = op.inputs[1].space;
  map.key_rows = session.space_rows[map.key_space].rows;
  return map;
}

Status CheckArrays(const fovea_attention_map& map, const fovea_sparse_map& arrays, Reporter& reporter) {
  if (map.form != FOVEA_TAP_SPARSE) return reporter.Fail(FOVEA_E_OPTION, "the tap is dense", FOVEA_TAP_SPARSE, 0);
  if (arrays.layout > FOVEA_SPARSE_CSC) {
    return reporter.Fail(FOVEA_E_OPTION, "unknown layout", FOVEA_SPARSE_CSC, arrays.layout);
  }
  const uint64_t lines = uint64_t{map.rows} * map.heads;
  const uint64_t offsets = (arrays.layout == FOVEA_SPARSE_CSR ? lines : map.key_rows) + 1;
  const bool has_offsets = arrays.layout != FOVEA_SPARSE_COO, has_lines = arrays.layout != FOVEA_SPARSE_CSR,
             has_keys = arrays.layout != FOVEA_SPARSE_CSC;
  if (has_offsets && arrays.offset_capacity < offsets) {
    return reporter.Fail(FOVEA_E_CAPACITY, "the array of offsets is too small", offsets, arrays.offset_capacity);
  }
  if (arrays.entry_capacity < map.entries) {
    return reporter.Fail(FOVEA_E_CAPACITY, "the arrays of entries are too small", map.entries, arrays.entry_capacity);
  }
  const bool entries_missing =
      arrays.values == nullptr || (has_lines && arrays.lines == nullptr) || (has_keys && arrays.keys == nullptr);
  if ((has_offsets && arrays.offsets == nullptr) || (map.entries > 0 && entries_missing)) {
    return reporter.Fail(FOVEA_E_NULL, "an array of the layout is NULL");
  }
  return kOk;
}

Status Sparse(const fovea_session* session, uint32_t tap, const fovea_sparse_map* given, Reporter& reporter) {
  if (IsLive(session) && given == nullptr) return reporter.Fail(FOVEA_E_NULL, "arrays is NULL");
  const Tap* found = nullptr;
  FOVEA_TRY(FindTap(session, tap, reporter, &found));
  fovea_sparse_map arrays;
  FOVEA_TRY(ReadStruct(given, &arrays, reporter));
  FOVEA_TRY(CheckArrays(MapOf(*session->session, *found), arrays, reporter));
  WriteSparse(*session->session, *found, arrays);
  return kOk;
}

}  // namespace
}  // namespace fovea

using namespace fovea;  // NOLINT: this file is the border

extern "C" {

fovea_status fovea_session_get_attention_map(const fovea_session* session, uint32_t tap, fovea_attention_map* map,
                                             fovea_error* error) {
  Reporter reporter(error);
  if (IsLive(session) && map == nullptr) return reporter.Fail(FOVEA_E_NULL, "map is NULL").code;
  const Tap* found = nullptr;
  Status status = FindTap(session, tap, reporter, &found);
  if (status.ok()) status = CheckStructSize(*map, reporter);
  return status.ok() ? WriteStruct(MapOf(*session->session, *found), map) : status.code;
}

fovea_status fovea_session_get_sparse_map(const fovea_session* session, uint32_t tap, const fovea_sparse_map* arrays,
                                          fovea_error* error) {
  Reporter reporter(error);
  return Sparse(session, tap, arrays, reporter).code;
}

}  // extern "C"
