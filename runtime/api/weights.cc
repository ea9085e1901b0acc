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

fovea_weights WeightsOf(const Session& session, const Tap& tap) {
  const Op& op = session.model->Operation(session.program(), tap.asked.step);
  fovea_weights weights = {};
  weights.query_rows = tap.rows;
  weights.data = tap.sink.sparse() ? nullptr : tap.sink.values;
  weights.entries = CountEntries(tap);
  weights.form = tap.asked.form;
  weights.rows = tap.sink.row_count;
  weights.heads = tap.sink.slots();
  weights.stride = tap.sink.sparse() ? 0 : tap.sink.stride;
  weights.query_space = op.inputs[0].space;
  weights.key_space = op.inputs[1].space;
  weights.key_rows = session.space_rows[weights.key_space].rows;
  return weights;
}

Status CheckArrays(const fovea_weights& weights, const fovea_sparse& arrays, Reporter& reporter) {
  if (weights.form != FOVEA_TAP_SPARSE) return reporter.Fail(FOVEA_E_OPTION, "the tap is dense", FOVEA_TAP_SPARSE, 0);
  if (arrays.layout > FOVEA_SPARSE_CSC) {
    return reporter.Fail(FOVEA_E_OPTION, "unknown layout", FOVEA_SPARSE_CSC, arrays.layout);
  }
  const uint64_t lines = uint64_t{weights.rows} * weights.heads;
  const uint64_t offsets = (arrays.layout == FOVEA_SPARSE_CSR ? lines : weights.key_rows) + 1;
  const bool has_offsets = arrays.layout != FOVEA_SPARSE_COO, has_lines = arrays.layout != FOVEA_SPARSE_CSR,
             has_keys = arrays.layout != FOVEA_SPARSE_CSC;
  if (has_offsets && arrays.offset_capacity < offsets) {
    return reporter.Fail(FOVEA_E_CAPACITY, "the array of offsets is too small", offsets, arrays.offset_capacity);
  }
  if (arrays.entry_capacity < weights.entries) {
    return reporter.Fail(FOVEA_E_CAPACITY, "the arrays of entries are too small", weights.entries,
                         arrays.entry_capacity);
  }
  const bool entries_missing =
      arrays.values == nullptr || (has_lines && arrays.lines == nullptr) || (has_keys && arrays.keys == nullptr);
  if ((has_offsets && arrays.offsets == nullptr) || (weights.entries > 0 && entries_missing)) {
    return reporter.Fail(FOVEA_E_NULL, "an array of the layout is NULL");
  }
  return kOk;
}

Status Sparse(const fovea_session* session, uint32_t tap, const fovea_sparse* given, Reporter& reporter) {
  if (IsLive(session) && given == nullptr) return reporter.Fail(FOVEA_E_NULL, "arrays is NULL");
  const Tap* found = nullptr;
  FOVEA_TRY(FindTap(session, tap, reporter, &found));
  fovea_sparse arrays;
  FOVEA_TRY(ReadStruct(given, &arrays, reporter));
  FOVEA_TRY(CheckArrays(WeightsOf(*session->session, *found), arrays, reporter));
  WriteSparse(*session->session, *found, arrays);
  return kOk;
}

}  // namespace
}  // namespace fovea

using namespace fovea;  // NOLINT: this file is the border

extern "C" {

fovea_status fovea_session_weights(const fovea_session* session, uint32_t tap, fovea_weights* weights,
                                   fovea_error* error) {
  Reporter reporter(error);
  if (IsLive(session) && weights == nullptr) return reporter.Fail(FOVEA_E_NULL, "weights is NULL").code;
  const Tap* found = nullptr;
  Status status = FindTap(session, tap, reporter, &found);
  if (status.ok()) status = CheckStructSize(*weights, reporter);
  return status.ok() ? WriteStruct(WeightsOf(*session->session, *found), weights) : status.code;
}

fovea_status fovea_session_sparse(const fovea_session* session, uint32_t tap, const fovea_sparse* arrays,
                                  fovea_error* error) {
  Reporter reporter(error);
  return Sparse(session, tap, arrays, reporter).code;
}

}  // extern "C"
