// A session of a program: its inputs, runs, outputs, taps and state.
#include <string.h>

#include <algorithm>
#include <cmath>

#include "tests/fuzz/blob_use.h"
#include "tests/fuzz/check.h"

namespace fovea::fuzz {
namespace {

fovea_program_info ProgramInfo(const fovea_model* model, uint32_t program) {
  auto info = Sized<fovea_program_info>();
  Check(fovea_model_get_program(model, program, &info) == FOVEA_OK, "no program info");
  return info;
}

uint32_t SpaceCount(const fovea_model* model) {
  auto info = Sized<fovea_model_info>();
  fovea_model_get_info(model, &info);
  return info.space_count;
}

// One of every form, choice of rows, reduction and kind of number.
fovea_tap RandomTap(uint32_t step, uint32_t heads, Random& random) {
  auto tap = Sized<fovea_tap>();
  tap.step = step;
  tap.form = random.Below(2);
  tap.rows = random.Below(3);
  if (tap.rows == FOVEA_TAP_ROWS_STRIDE) {
    tap.stride = 1 + random.Below(3);
    tap.offset = random.Below(3);
  }
  tap.reduce = random.Below(3);
  if (tap.reduce == FOVEA_REDUCE_NONE) tap.what = random.Below(2);
  if (heads <= 64 && random.OneIn(2)) tap.heads = uint64_t{1} << random.Below(heads);
  return tap;
}

}  // namespace

SessionChoices::SessionChoices(const fovea_model* model, uint32_t of_program, Random& random) : program(of_program) {
  const uint32_t root_rows = 1 + random.Below(3), rows = 1 + random.Below(random.OneIn(4) ? 80 : 14);
  auto space = Sized<fovea_space_info>();
  for (uint32_t i = 0; fovea_model_get_space(model, i, &space) == FOVEA_OK; ++i) {
    const uint32_t most = space.parent == FOVEA_NONE ? root_rows : rows;
    if (space.is_input != 0) limits.push_back({i, most, random.OneIn(8) ? 1 + random.Below(most) : 0});
    if (space.is_cached != 0) limits.push_back({i, 1 + random.Below(150), random.OneIn(3) ? 1 + random.Below(90) : 0});
  }
  cached_texts = random.Below(5);
  rewind_rows = random.Below(4);
  const uint32_t types[] = {FOVEA_NONE, FOVEA_TYPE_F32, FOVEA_TYPE_F16, FOVEA_TYPE_BF16, FOVEA_TYPE_I8};
  cache_type = types[random.Below(5)];
  const fovea_program_info info = ProgramInfo(model, program);
  for (uint32_t v = random.Below(3); v < info.value_count; v += 1 + random.Below(6)) keep.push_back(v);
  auto step = Sized<fovea_step_info>();
  for (uint32_t i = 0; i < info.step_count; ++i) {
    fovea_program_get_step(model, program, i, &step);
    if (step.heads != 0 && !random.OneIn(3)) taps.push_back(RandomTap(i, step.heads, random));
  }
}

fovea_session_options SessionChoices::Options(const Conditions& conditions) const {
  auto options = Sized<fovea_session_options>();
  options.program = program;
  options.workers = conditions.workers;
  options.tile_rows = conditions.tile_rows;
  options.limits = limits.data();
  options.limit_count = static_cast<uint32_t>(limits.size());
  options.keep = keep.data();
  options.keep_count = static_cast<uint32_t>(keep.size());
  options.taps = taps.data();
  options.tap_count = static_cast<uint32_t>(taps.size());
  options.linked = linked.data();
  options.linked_count = static_cast<uint32_t>(linked.size());
  options.cached_texts = cached_texts;
  options.rewind_rows = rewind_rows;
  options.cache_type = cache_type == FOVEA_NONE ? nullptr : &cache_type;
  options.runner = conditions.runner;
  options.runner_context = conditions.runner_context;
  options.barrier = conditions.barrier;
  return options;
}

bool UsedSession::Fits(const fovea_model* model, const SessionChoices& choices, const Conditions& conditions) {
  const fovea_session_options options = choices.Options(conditions);
  auto sizes = Sized<fovea_session_memory>();
  return fovea_session_size(model, &options, &sizes, nullptr) == FOVEA_OK &&
         std::max({sizes.fixed_size, sizes.state_size, sizes.scratch_size}) <= kMaxBlockBytes;
}

UsedSession::UsedSession(const fovea_model* model, const SessionChoices& choices, const Conditions& conditions,
                         Transcript& transcript)
    : model_(model), choices_(choices), filling_(conditions.filling), transcript_(transcript) {
  const fovea_session_options options = choices.Options(conditions);
  auto memory = Sized<fovea_session_memory>();
  Check(fovea_session_size(model, &options, &memory, nullptr) == FOVEA_OK, "a session's size is given once only");
  fixed_ = Guarded(memory.fixed_size, filling_);
  state_ = Guarded(memory.state_size, filling_);
  scratch_ = Guarded(memory.scratch_size, filling_);
  memory.fixed = fixed_.data();
  memory.state = state_.data();
  memory.scratch = scratch_.data();
  fovea_error error = {};
  uint64_t* const of[] = {&memory.fixed_size, &memory.state_size, &memory.scratch_size};
  for (uint64_t* size : of) {
    if (*size == 0) continue;
    --*size;
    Check(fovea_session_init(model, &options, &memory, &session_, &error) == FOVEA_E_TOO_SMALL &&
              error.expected == ++*size && session_ == nullptr,
          "a byte less than the session's size is not refused");
  }
  Check(fovea_session_init(model, &options, &memory, &session_, &error) == FOVEA_OK,
        "the session's size was not enough");
}

std::string UsedSession::Where(const char* what, uint64_t index) const {
  return std::string(what) + " " + std::to_string(index) + " of program " + std::to_string(choices_.program);
}

void UsedSession::SetSegments(uint32_t longest, Random& random) {
  auto space = Sized<fovea_space_info>();
  for (uint32_t i = 0; fovea_model_get_space(model_, i, &space) == FOVEA_OK; ++i) {
    if (space.is_input == 0) continue;
    std::vector<uint32_t> lengths;
    const uint32_t* offsets = nullptr;
    uint32_t count = 0;
    if (space.parent == FOVEA_NONE) {
      lengths = {random.Below(choices_.limits[0].rows + 1)};
    } else if (fovea_session_get_segments(session_, space.parent, &offsets, &count, nullptr) == FOVEA_OK) {
      Check(offsets[count] <= kMaxBlockBytes, "more rows than a block has bytes");
      lengths.resize(offsets[count]);
      if (random.OneIn(24)) lengths.resize(lengths.size() + 1);  // children that disagree about their parent
      for (uint32_t& length : lengths) length = random.Below(uint64_t{longest} + 1);
    }
    fovea_error error = {};
    const fovea_status status =
        fovea_session_set_segments(session_, i, lengths.data(), static_cast<uint32_t>(lengths.size()), &error);
    transcript_.Status(Where("segments", i), status, error);
  }
}

void UsedSession::FillInputs(Random& random, bool carried) {
  const bool wild = random.OneIn(12);  // ids out of range, numbers at the ends of their type's range
  const uint32_t values = std::min(ProgramInfo(model_, choices_.program).value_count, 4096u);
  for (uint32_t v = 0; v < values; ++v) {
    fovea_view view = {};
    if (fovea_session_get_input(session_, v, &view, nullptr) != FOVEA_OK) continue;
    auto info = Sized<fovea_value_info>();
    fovea_program_get_value(model_, choices_.program, v, &info);
    if (!carried && info.carried_by != FOVEA_NONE) continue;
    const uint64_t count = uint64_t{view.rows} * view.width;
    for (uint64_t i = 0; i < count; ++i) {
      if (view.type == FOVEA_TYPE_I32) {
        const uint32_t any = info.id_limit == 0 ? random.Number() : random.Below(info.id_limit);
        static_cast<uint32_t*>(view.data)[i] = wild && random.OneIn(64) ? random.Number() : any;
      } else if (view.type == FOVEA_TYPE_F32) {
        const float small = static_cast<float>(random.Below(2001)) / 1000 - 1;
        static_cast<float*>(view.data)[i] = wild ? random.Float() : small;
      }
    }
    if (view.type == FOVEA_TYPE_I32 || view.type == FOVEA_TYPE_F32) continue;
    for (uint64_t i = 0; i < uint64_t{view.rows} * view.row_bytes; ++i) {
      static_cast<uint8_t*>(view.data)[i] = static_cast<uint8_t>(random.Number());
    }
  }
}

// Multiplications of a run as it is bound: more rows in a space than that are not worth waiting for.
double UsedSession::Work() const {
  double rows = 1, work = 0;
  const uint32_t spaces = SpaceCount(model_);
  for (uint32_t i = 0; i < spaces; ++i) {
    const uint32_t* offsets = nullptr;
    uint32_t count = 0;
    if (fovea_session_get_segments(session_, i, &offsets, &count, nullptr) == FOVEA_OK) {
      rows = std::max<double>(rows, offsets[count]);
    }
  }
  const uint32_t steps = ProgramInfo(model_, choices_.program).step_count;
  for (uint32_t i = 0; i < steps; ++i) {
    auto step = Sized<fovea_step_info>();
    fovea_program_get_step(model_, choices_.program, i, &step);
    work += rows * (step.flops_per_row + 64);
    uint64_t pairs = 0;
    if (step.heads != 0 && fovea_session_get_step_pairs(session_, i, &pairs) != FOVEA_OK) {
      pairs = static_cast<uint64_t>(rows * rows * step.heads);
    }
    work += static_cast<double>(pairs) * (step.flops_per_row_key / std::max(1u, step.heads) + 8);
  }
  return work;
}

bool UsedSession::Run(Random& random) {
  const bool pieces = random.OneIn(3), cancelled = random.OneIn(16);
  const uint32_t phases = 1 + random.Below(3);
  if (Work() > kMaxRunWork) {
    transcript_.Number("too much work", 0);
    return false;
  }
  fovea_error error = {};
  fovea_status status = FOVEA_OK;
  if (pieces) {
    status = fovea_session_begin(session_, &error);
    uint32_t left = status == FOVEA_OK ? 1 : 0;
    while (left > 0) {
      if (cancelled) fovea_session_cancel(session_);
      status = fovea_session_advance(session_, phases, &left, &error);
      if (status != FOVEA_OK) break;
    }
  } else {
    status = fovea_session_run(session_, &error);
  }
  transcript_.Status(Where("run", 0), status, error);
  Check(FOVEA_STATUS_CLASS(status) != FOVEA_E_INTERNAL, "a run with an internal error");
  return status == FOVEA_OK;
}

void UsedSession::Read() {
  const fovea_program_info info = ProgramInfo(model_, choices_.program);
  for (uint32_t v = 0; v < info.value_count; ++v) {
    fovea_view view = {};
    if (fovea_session_get_output(session_, v, &view, nullptr) != FOVEA_OK) continue;
    for (uint32_t r = 0; r < view.rows; ++r) {
      const uint8_t* row = static_cast<const uint8_t*>(view.data) + uint64_t{r} * view.row_bytes;
      if (view.type == FOVEA_TYPE_F32) {
        transcript_.Floats(Where("value", v), reinterpret_cast<const float*>(row), view.width);
      } else if (view.type == FOVEA_TYPE_I32) {
        transcript_.Bytes(Where("value", v), row, uint64_t{view.width} * 4);
      } else if (view.type != FOVEA_TYPE_I8) {
        transcript_.Bytes(Where("value", v), row, uint64_t{view.width} * 2);
      }
    }
  }
  for (uint32_t t = 0; t < choices_.taps.size(); ++t) ReadTap(t);
  const uint32_t spaces = SpaceCount(model_);
  for (uint32_t i = 0; i < spaces; ++i) {
    const uint32_t* offsets = nullptr;
    uint32_t count = 0;
    if (fovea_session_get_segments(session_, i, &offsets, &count, nullptr) != FOVEA_OK) continue;
    transcript_.Bytes(Where("segments of space", i), offsets, (uint64_t{count} + 1) * sizeof(uint32_t));
  }
  for (uint32_t i = 0; i < info.step_count; ++i) {
    uint64_t pairs = 0, ticks = 0;
    if (fovea_session_get_step_pairs(session_, i, &pairs) == FOVEA_OK) transcript_.Number(Where("pairs", i), pairs);
    Check(fovea_session_get_step_ticks(session_, i, &ticks) == FOVEA_OK && ticks == 0, "ticks without a clock");
  }
}

void UsedSession::ReadTap(uint32_t tap) {
  auto weights = Sized<fovea_attention_map>();
  fovea_error error = {};
  const fovea_status status = fovea_session_get_attention_map(session_, tap, &weights, &error);
  transcript_.Status(Where("tap", tap), status, error);
  if (status != FOVEA_OK) return;
  transcript_.Bytes(Where("rows of tap", tap), weights.query_rows, uint64_t{weights.rows} * sizeof(uint32_t));
  if (weights.form == FOVEA_TAP_SPARSE) {
    ReadSparse(tap, weights);
    return;
  }
  const uint32_t* offsets = nullptr;
  uint32_t count = 0;
  if (fovea_session_get_segments(session_, weights.key_space, &offsets, &count, nullptr) != FOVEA_OK || count == 0)
    return;
  uint32_t shortest = UINT32_MAX;  // entries after a row's keys are unspecified
  for (uint32_t s = 0; s < count; ++s) shortest = std::min(shortest, offsets[s + 1] - offsets[s]);
  for (uint64_t line = 0; line < uint64_t{weights.rows} * weights.heads; ++line) {
    transcript_.Floats(Where("tap", tap), weights.data + line * weights.stride, shortest);
  }
}

void UsedSession::ReadSparse(uint32_t tap, const fovea_attention_map& weights) {
  const uint64_t lines = uint64_t{weights.rows} * weights.heads;
  const uint64_t entries = weights.entries;
  Check(entries <= lines * weights.key_rows, "more weights than places");
  for (uint32_t layout = 0; layout <= FOVEA_SPARSE_CSC; ++layout) {
    const uint64_t rows = layout == FOVEA_SPARSE_CSC ? weights.key_rows : lines;
    const Guarded numbers((rows + 1) * sizeof(uint64_t), Filling::kOnes, 8), of(entries * 4, Filling::kOnes, 4);
    const Guarded keys(entries * 4, Filling::kOnes, 4), values(entries * 4, Filling::kOnes, 4);
    auto arrays = Sized<fovea_sparse_map>();
    arrays.layout = layout;
    arrays.offset_capacity = rows + 1;
    arrays.entry_capacity = entries;
    arrays.offsets = numbers.as<uint64_t>();
    arrays.lines = of.as<uint32_t>();
    arrays.keys = keys.as<uint32_t>();
    arrays.values = values.as<float>();
    Check(fovea_session_get_sparse_map(session_, tap, &arrays, nullptr) == FOVEA_OK, "a sparse tap cannot be read");
    transcript_.Bytes(Where("offsets of tap", tap), numbers.data(), layout == FOVEA_SPARSE_COO ? 0 : numbers.size());
    transcript_.Bytes(Where("lines of tap", tap), of.data(), layout == FOVEA_SPARSE_CSR ? 0 : of.size());
    transcript_.Bytes(Where("keys of tap", tap), keys.data(), layout == FOVEA_SPARSE_CSC ? 0 : keys.size());
    transcript_.Floats(Where("tap", tap), values.as<float>(), entries);
  }
}

std::vector<uint8_t> UsedSession::Save() {
  uint64_t size = 0;
  if (fovea_session_saved_size(session_, &size, nullptr) != FOVEA_OK) return {};
  Check(size <= kMaxBlockBytes, "a saved state larger than the session");
  const Guarded saved(size, Filling::kRandom, 1);
  Check(fovea_session_save(session_, saved.data(), size, nullptr) == FOVEA_OK, "a state cannot be saved");
  return std::vector<uint8_t>(saved.data(), saved.data() + size);
}

void UsedSession::SaveAndRestore(Random& random) {
  const std::vector<uint8_t> good = Save();
  transcript_.Number(Where("saved bytes", 0), good.size());
  if (good.empty()) return;
  for (int attempt = 0; attempt < 4; ++attempt) {
    std::vector<uint8_t> bad = good;
    if (random.OneIn(3)) bad.resize(random.Below(bad.size() + 1));
    if (random.OneIn(4)) bad.resize(bad.size() + 1 + random.Below(70));
    if (!bad.empty())
      bad[random.Below(random.OneIn(2) ? std::min<size_t>(64, bad.size()) : bad.size())] ^=
          static_cast<uint8_t>(1 << random.Below(8));
    const std::vector<uint8_t> before = Save();
    const Guarded damaged(bad.data(), bad.size(), 1);
    damaged.Seal();
    fovea_error error = {};
    const fovea_status status = fovea_session_restore(session_, damaged.data(), bad.size(), &error);
    transcript_.Status(Where("restore", 0), status, error);
    if (status != FOVEA_OK) Check(Save() == before, "a state that was refused has changed the session");
  }
  const Guarded saved(good.data(), good.size(), 1);
  fovea_error error = {};
  Check(fovea_session_restore(session_, saved.data(), good.size(), &error) == FOVEA_OK, "a state cannot be restored");
  Check(Save() == good, "a restored state is another one");
  if (random.OneIn(4)) Check(fovea_session_reset(session_, &error) == FOVEA_OK, "a session cannot be reset");
}

}  // namespace fovea::fuzz
