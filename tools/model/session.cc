// A session of a model, which owns its memory and its threads (with several workers).
#include "tools/model/session.h"

#include <string.h>

#include "tools/base/clock.h"
#include "tools/model/library_error.h"
#include "tools/model/view_rows.h"

namespace fovea::tools {

namespace {

fovea_session_options OptionsOf(const SessionRequest& request) {
  fovea_session_options options = {};
  options.struct_size = sizeof(options);
  options.program = request.program;
  options.workers = request.workers;
  options.tile_rows = request.tile_rows;
  options.limit_count = static_cast<uint32_t>(request.limits.size());
  options.limits = request.limits.data();
  options.keep_count = static_cast<uint32_t>(request.keep.size());
  options.keep = request.keep.data();
  options.tap_count = static_cast<uint32_t>(request.taps.size());
  options.taps = request.taps.data();
  options.clock = request.clock;
  options.linked_count = static_cast<uint32_t>(request.linked.size());
  options.linked = request.linked.data();
  options.cache_type = request.cache_type ? &*request.cache_type : nullptr;
  options.rewind_rows = request.rewind_rows;
  return options;
}

}  // namespace

fovea_session_memory SessionSizes(const Model& model, const SessionRequest& request) {
  const fovea_session_options options = OptionsOf(request);
  fovea_session_memory sizes = {};
  sizes.struct_size = sizeof(sizes);
  fovea_error error = {};
  Check(fovea_session_size(model.get(), &options, &sizes, &error), error, model.name());
  return sizes;
}

Session::Session(const Model& model, const SessionRequest& request) : model_(model), request_(request) {
  const uint64_t start = NanosecondClock();
  fovea_session_options options = OptionsOf(request_);
  sizes_ = SessionSizes(model, request_);
  fovea_error error = {};

  // One allocation for the three blocks.
  const uint64_t state = RoundUpTo64(sizes_.fixed_size), scratch = state + RoundUpTo64(sizes_.state_size);
  memory_ = Allocate(scratch + sizes_.scratch_size);
  sizes_.fixed = memory_.get();
  sizes_.state = memory_.get() + state;
  sizes_.scratch = memory_.get() + scratch;
  if (request_.workers > 1) {
    threads_ = std::make_unique<ports::ThreadRunner>(request_.workers);
    options.runner = &ports::ThreadRunner::Run;
    options.runner_context = threads_.get();
    if (threads_->threads() >= request_.workers) options.barrier = &ports::ThreadRunner::Barrier;
  }
  Check(fovea_session_init(model.get(), &options, &sizes_, &session_, &error), error, model.name());
  init_seconds_ = 1e-9 * static_cast<double>(NanosecondClock() - start);
}

fovea_session_info Session::Info() const {
  fovea_session_info info = {};
  info.struct_size = sizeof(info);
  Check(fovea_session_get_info(session_, &info), "session");
  return info;
}

std::string Session::ValueName(uint32_t value) const { return model_.Value(request_.program, value).name; }

void Session::SetSegments(uint32_t space, const std::vector<uint32_t>& lengths) {
  fovea_error error = {};
  Check(fovea_session_set_segments(session_, space, lengths.data(), static_cast<uint32_t>(lengths.size()), &error),
        error, fmt::format("segments of '{}'", model_.Space(space).name));
}

fovea_view Session::Input(uint32_t value, bool ids, size_t entries) {
  fovea_error error = {};
  fovea_view view = {};
  Check(fovea_session_get_input(session_, value, &view, &error), error, "input " + ValueName(value));
  const bool takes_ids = view.type == FOVEA_TYPE_I32;
  if (takes_ids != ids) Fail("input {}: the model takes {}", ValueName(value), takes_ids ? "ids" : "floats");
  const uint64_t expected = static_cast<uint64_t>(view.rows) * view.width;
  if (entries != expected) Fail("input {}: {} entries given, expected {}", ValueName(value), entries, expected);
  return view;
}

void Session::SetInput(uint32_t value, const std::vector<float>& numbers) {
  const fovea_view view = Input(value, false, numbers.size());
  for (uint32_t row = 0; row < view.rows; ++row) {
    WriteRow(numbers.data() + static_cast<size_t>(row) * view.width, view, row);
  }
}

void Session::SetInput(uint32_t value, const std::vector<int32_t>& ids) {
  const fovea_view view = Input(value, true, ids.size());
  if (!ids.empty()) memcpy(view.data, ids.data(), ids.size() * sizeof(int32_t));
}

void Session::ClearInput(uint32_t value) {
  fovea_error error = {};
  fovea_view view = {};
  Check(fovea_session_get_input(session_, value, &view, &error), error, "input " + ValueName(value));
  if (view.rows != 0) memset(view.data, 0, size_t{view.rows} * view.row_bytes);
}

void Session::Reset() {
  fovea_error error = {};
  Check(fovea_session_reset(session_, &error), error, "reset");
}

void Session::Run() {
  fovea_error error = {};
  const fovea_status status = fovea_session_run(session_, &error);
  if (status == FOVEA_E_ID && error.tensor != FOVEA_NOWHERE) {
    Fail("input {}: entry {} is {}, ids of the model are below {} (FOVEA_E_ID)", ValueName(error.tensor), error.index,
         static_cast<int32_t>(error.found), model_.Value(request_.program, error.tensor).id_limit);
  }
  Check(status, error, "run");
}

Matrix Session::Output(uint32_t value) const {
  fovea_error error = {};
  fovea_view view = {};
  Check(fovea_session_get_output(session_, value, &view, &error), error, "output " + ValueName(value));
  Matrix matrix{view.rows, view.width, std::vector<float>(static_cast<size_t>(view.rows) * view.width)};
  for (uint32_t row = 0; row < view.rows; ++row) {
    ReadRow(view, row, matrix.values.data() + static_cast<size_t>(row) * view.width);
  }
  return matrix;
}

std::vector<uint32_t> Session::Lengths(uint32_t space) const {
  fovea_error error = {};
  const uint32_t* offsets = nullptr;
  uint32_t count = 0;
  const fovea_status status = fovea_session_get_segments(session_, space, &offsets, &count, &error);
  if (status == FOVEA_E_ORDER && model_.Space(space).is_input == 0) return {};
  Check(status, error, fmt::format("segments of '{}'", model_.Space(space).name));
  std::vector<uint32_t> lengths(count);
  for (uint32_t i = 0; i < count; ++i) lengths[i] = offsets[i + 1] - offsets[i];
  return lengths;
}

fovea_attention_map Session::AttentionMap(uint32_t tap) const {
  fovea_error error = {};
  fovea_attention_map weights = Sized<fovea_attention_map>();
  Check(fovea_session_get_attention_map(session_, tap, &weights, &error), error, fmt::format("tap {}", tap));
  return weights;
}

SparseAttentionMap Session::SparseMap(uint32_t tap) const {
  const fovea_attention_map weights = AttentionMap(tap);
  std::vector<uint64_t> offsets(static_cast<size_t>(weights.rows) * weights.heads + 1);
  std::vector<uint32_t> keys(weights.entries);
  SparseAttentionMap sparse;
  sparse.values.resize(weights.entries);
  fovea_sparse_map arrays = {};
  arrays.struct_size = sizeof(arrays);
  arrays.layout = FOVEA_SPARSE_CSR;
  arrays.offset_capacity = offsets.size();
  arrays.entry_capacity = weights.entries;
  arrays.offsets = offsets.data();
  arrays.keys = keys.data();
  arrays.values = sparse.values.data();
  fovea_error error = {};
  Check(fovea_session_get_sparse_map(session_, tap, &arrays, &error), error, fmt::format("tap {}", tap));
  sparse.row_offsets.assign(offsets.begin(), offsets.end());
  sparse.keys.assign(keys.begin(), keys.end());
  return sparse;
}

}  // namespace fovea::tools
