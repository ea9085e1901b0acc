// A recurrent layer over each segment: gates of the inputs -> the state, or its h, after every row. A tile is a group
// of segments. Its step t is one product for all of them that have a row t: their states lie packed, the longest
// segment's first, so that those still running are always the first ones.
#include <string.h>

#include <algorithm>

#include "runtime/ops/cell.h"

namespace fovea {
namespace {

bool Initial(const OpView& op) { return op.Flag(Attribute::kInitial); }
bool Masked(const OpView& op) { return op.Flag(Attribute::kMasked); }
bool KeepsState(const OpView& op) { return op.Choice(Attribute::kOutput, CellOutput::kHidden) == CellOutput::kState; }
constexpr uint32_t kInitialInput = 1;
uint32_t MaskInput(const OpView& op) { return Initial(op) ? 2 : 1; }

Status CheckChoices(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckChoice<CellOutput>(op, Attribute::kOutput, "unknown part of the state", reporter));
  const uint32_t inputs = 1 + (Initial(op) ? 1 : 0) + (Masked(op) ? 1 : 0);
  if (op.record->input_count == inputs) return kOk;
  return reporter.Fail(FOVEA_E_RECORD, "attributes ask for another number of inputs", inputs, op.record->input_count);
}

Status Check(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckChoices(op, reporter));
  FOVEA_TRY(CheckCell(op, reporter));
  const CellSpec cell = CellOf(op);
  const uint32_t space = op.Input(0).space;
  if (op.Output().space != space) {
    return reporter.Fail(FOVEA_E_SHAPE, "input and output must be in one space", op.Output().space, space);
  }
  const uint32_t width = KeepsState(op) ? cell.state_width() : cell.width;
  if (op.Output().width != width) {
    return reporter.Fail(FOVEA_E_SHAPE, "output must be as wide as what is kept of the state", width,
                         op.Output().width);
  }
  if (Initial(op)) {
    FOVEA_TRY(CheckF32(op, kInitialInput, reporter));
    const ValueRecord& state = op.Input(kInitialInput);
    if (state.space != op.InputSpace(0).parent) {
      return reporter.Fail(FOVEA_E_SHAPE, "first states must be in the parent space", op.InputSpace(0).parent,
                           state.space);
    }
    if (state.width != cell.state_width()) {
      return reporter.Fail(FOVEA_E_SHAPE, "first states must be as wide as the state", cell.state_width(), state.width);
    }
  }
  if (!Masked(op)) return kOk;
  const ValueRecord& keep = op.Input(MaskInput(op));
  if (DType(keep.type) != DType::kF32 && DType(keep.type) != DType::kI32) {
    return reporter.Fail(FOVEA_E_SHAPE, "the mask must be f32 or i32", 0, keep.type);
  }
  if (keep.space == space && keep.width == 1) return kOk;
  return reporter.Fail(FOVEA_E_SHAPE, "the mask must be one number for each row", space, keep.space);
}

struct Memory {
  CellMemory cell;
  float* h;         // [segments, width], and so on
  float* c;         // lstm
  uint32_t* order;  // [segments] of the tile, longest first
};

Memory TakeMemory(Arena& arena, const CellSpec& cell, uint32_t segments) {
  Memory memory{};
  memory.cell = TakeCellMemory(arena, cell, segments);
  memory.h = TakeRows(arena, segments, cell.width);
  if (cell.lstm()) memory.c = TakeRows(arena, segments, cell.width);
  memory.order = static_cast<uint32_t*>(arena.TakeBytes(CheckedSize(segments) * CheckedSize(sizeof(uint32_t))));
  return memory;
}

uint64_t Scratch(const OpView& op, uint32_t segments) {
  Arena arena;
  TakeMemory(arena, CellOf(op), segments);
  return arena.needed();
}

// Zeros, or what the segments begin with.
void BeginStates(const OpRun& run, const CellSpec& cell, const Memory& memory) {
  const size_t bytes = cell.width * sizeof(float);
  for (size_t i = 0; i < run.rows(); ++i) {
    float* h = memory.h + i * cell.width;
    float* c = cell.lstm() ? memory.c + i * cell.width : nullptr;
    if (Initial(run.view)) {
      const float* state = run.Input(kInitialInput) + size_t{memory.order[i]} * cell.state_width();
      memcpy(h, state, bytes);
      if (cell.lstm()) memcpy(c, state + cell.width, bytes);
    } else {
      memset(h, 0, bytes);
      if (cell.lstm()) memset(c, 0, bytes);
    }
  }
}

// Whether the mask lets a row change the state.
class Mask {
 public:
  explicit Mask(const OpRun& run) {
    if (!Masked(run.view)) return;
    const uint32_t input = MaskInput(run.view);
    if (DType(run.view.Input(input).type) == DType::kI32) {
      indices_ = run.Indices(input);
    } else {
      numbers_ = run.Input(input);
    }
  }
  bool Hides(size_t row) const {
    return indices_ != nullptr ? indices_[row] == 0 : numbers_ != nullptr && numbers_[row] == 0;
  }

 private:
  const float* numbers_ = nullptr;
  const int32_t* indices_ = nullptr;
};

Status Run(const OpRun& run) {
  const OpView& op = run.view;
  const CellSpec cell = CellOf(op);
  const uint32_t* offsets = run.SegmentsOf(op.Input(0)).offsets;
  const bool reverse = op.Flag(Attribute::kReverse), keeps_state = KeepsState(op);
  const size_t gates = op.Input(0).width, made = op.Output().width, width = cell.width;
  Arena arena(run.scratch, SIZE_MAX);
  Memory memory = TakeMemory(arena, cell, run.rows());
  const Mask mask(run);
  // A team's gates of one step lie in the first worker's scratch and of the next in the second's: a worker that is
  // ahead then writes none that others still read.
  float* gates_of[2] = {memory.cell.gates, memory.cell.gates};
  for (uint32_t i = 0; i < 2 && run.team.workers > 1; ++i) {
    Arena other(run.team.scratch[i], SIZE_MAX);
    gates_of[i] = TakeMemory(other, cell, run.rows()).cell.gates;
  }

  uint32_t* order = memory.order;
  const auto length = [&](uint32_t segment) { return offsets[segment + 1] - offsets[segment]; };
  for (uint32_t i = 0; i < run.rows(); ++i) order[i] = run.row_begin + i;
  std::sort(order, order + run.rows(),
            [&](uint32_t a, uint32_t b) { return length(a) != length(b) ? length(a) > length(b) : a < b; });
  BeginStates(run, cell, memory);

  uint32_t running = run.rows();
  Status result = kOk;
  for (uint32_t t = 0;; ++t) {
    while (running > 0 && length(order[running - 1]) <= t) --running;
    if (running == 0) break;
    memory.cell.gates = gates_of[t % 2];
    const auto row_of = [&](size_t i) -> size_t {
      return reverse ? offsets[order[i] + 1] - 1 - t : offsets[order[i]] + t;
    };
    const Status status = RunCells(run, cell, memory.cell, memory.h, running, kBlobNone, [&](size_t i) {
      const size_t row = row_of(i);
      return CellRow{run.Input(0) + row * gates, memory.h + i * width, cell.lstm() ? memory.c + i * width : nullptr,
                     mask.Hides(row)};
    });
    if (!status.ok()) result = status;
    for (size_t i = 0; i < running && run.team.worker == 0; ++i) {
      float* out = run.output + row_of(i) * made;
      memcpy(out, memory.h + i * width, width * sizeof(float));
      if (keeps_state && cell.lstm()) memcpy(out + width, memory.c + i * width, width * sizeof(float));
    }
  }
  return result;
}

constexpr OpDef Define() {
  OpDef def = {
      1,
      3,
      1,
      2,
      kCellAttributes | OpAttributes(Attribute::kReverse, Attribute::kInitial, Attribute::kMasked, Attribute::kOutput),
      (1u << 0) | (1u << 1) | (1u << 2),
      Check,
      Scratch,
      Run,
      CellFlops};
  def.layer = CellLayer;
  def.unit = Unit::kSegments;
  def.together = true;
  return def;
}

}  // namespace

extern const OpDef kRecurrentOp = Define();

}  // namespace fovea
