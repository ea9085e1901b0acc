// A recurrent layer over each segment: gates of the inputs -> the state, or its h, after every row. A tile is a group
// of segments. Step t is one matmul for all of its segments that have a row t: their states are packed, longest segment
// first, so that the segments still running are always the first ones.
#include <string.h>

#include <algorithm>

#include "runtime/blob/attributes.h"
#include "runtime/blob/operands.h"
#include "runtime/ops/cell.h"

namespace fovea {
namespace {

struct RecurrentOp : CellOp {
  bool reverse = false;
  bool keeps_state = false;                        // an output row is the whole state
  uint32_t initial = kBlobNone, mask = kBlobNone;  // indices in `inputs`, kBlobNone if absent
};

// Checks the input with the segments' initial states.
Status CheckInitial(const OpView& view, const RecurrentOp& op, Reporter& reporter) {
  FOVEA_TRY(CheckF32(view, RecurrentInput::kState, reporter));
  const OpValue& state = op.inputs[op.initial];
  const uint32_t parent = view.InputSpace(0).parent;
  if (state.space != parent) {
    return reporter.Fail(FOVEA_E_SHAPE, "initial states must be in the parent space", parent, state.space);
  }
  if (state.width == op.cell.state_width()) return kOk;
  return reporter.Fail(FOVEA_E_SHAPE, "initial states must be as wide as the state", op.cell.state_width(),
                       state.width);
}

Status CheckMask(const RecurrentOp& op, Reporter& reporter) {
  const OpValue& keep = op.inputs[op.mask];
  if (keep.type != DType::kF32 && keep.type != DType::kI32) {
    return reporter.Fail(FOVEA_E_SHAPE, "the mask must be f32 or i32", 0, static_cast<uint32_t>(keep.type));
  }
  if (keep.space == op.inputs[0].space && keep.width == 1) return kOk;
  return reporter.Fail(FOVEA_E_SHAPE, "the mask must have width 1 and the rows of the input", op.inputs[0].space,
                       keep.space);
}

Status Lower(const OpView& view, Reporter& reporter, RecurrentOp* op) {
  CellOutput output = CellOutput::kHidden;
  FOVEA_TRY(ReadChoice(view, Attribute::kOutput, "unknown value of output", reporter, &output));
  op->keeps_state = output == CellOutput::kState;
  op->reverse = view.Flag(Attribute::kReverse);
  op->initial = view.PlaceOf(RecurrentInput::kState);
  op->mask = view.PlaceOf(RecurrentInput::kKeep);
  FOVEA_TRY(LowerCell(view, reporter, op));
  FOVEA_TRY(CheckSpace(view, 0, reporter));
  FOVEA_TRY(MakeWidth(op->keeps_state ? op->cell.state_width() : op->cell.width, reporter, op));
  if (op->initial != kBlobNone) FOVEA_TRY(CheckInitial(view, *op, reporter));
  return op->mask != kBlobNone ? CheckMask(*op, reporter) : kOk;
}

Status FormerInputs(const OpView& view, Reporter& reporter, uint32_t* inputs, uint32_t* count) {
  const bool initial = view.Flag(Attribute::kInitial), masked = view.Flag(Attribute::kMasked);
  if (!initial && !masked) return kOk;
  const uint32_t last = initial && masked ? 2 : 1;
  inputs[0] = view.InputIndex(0);
  inputs[1] = initial ? view.InputIndex(1) : kBlobNone;
  inputs[2] = masked ? view.InputIndex(last) : kBlobNone;
  *count = 3;
  if (view.record->input_count == last + 1) return kOk;
  return reporter.Fail(FOVEA_E_RECORD, "inputs do not match the attributes", last + 1, view.record->input_count);
}

struct Memory {
  CellMemory cell;
  float* h;         // [segments, width]
  float* c;         // [segments, width]; lstm only
  uint32_t* order;  // [segments]: the tile's segments, longest first
};

Memory TakeMemory(Arena& arena, const CellSpec& cell, uint32_t segments) {
  Memory memory{};
  memory.cell = TakeCellMemory(arena, cell, segments);
  memory.h = TakeRows(arena, segments, cell.width);
  if (cell.lstm()) memory.c = TakeRows(arena, segments, cell.width);
  memory.order = static_cast<uint32_t*>(arena.TakeBytes(CheckedSize(segments) * CheckedSize(sizeof(uint32_t))));
  return memory;
}

uint64_t Scratch(const RecurrentOp& op, uint32_t segments) {
  Arena arena;
  TakeMemory(arena, op.cell, segments);
  return arena.needed();
}

// Sets the initial states: zeros, or the rows of the input.
void BeginStates(const RecurrentOp& op, const OpRun& run, const Memory& memory) {
  const CellSpec& cell = op.cell;
  const size_t bytes = cell.width * sizeof(float);
  for (size_t i = 0; i < run.rows(); ++i) {
    float* h = memory.h + i * cell.width;
    float* c = cell.lstm() ? memory.c + i * cell.width : nullptr;
    if (op.initial != kBlobNone) {
      const float* state = run.Input(op.initial) + size_t{memory.order[i]} * cell.state_width();
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
  Mask(const RecurrentOp& op, const OpRun& run) {
    if (op.mask == kBlobNone) return;
    if (op.inputs[op.mask].type == DType::kI32) {
      indices_ = run.Indices(op.mask);
    } else {
      numbers_ = run.Input(op.mask);
    }
  }
  bool Hides(size_t row) const {
    return indices_ != nullptr ? indices_[row] == 0 : numbers_ != nullptr && numbers_[row] == 0;
  }

 private:
  const float* numbers_ = nullptr;
  const int32_t* indices_ = nullptr;
};

Status Run(const RecurrentOp& op, const OpRun& run) {
  const CellSpec& cell = op.cell;
  const uint32_t* offsets = run.SegmentsOf(op.inputs[0]).offsets;
  const size_t gates = op.inputs[0].width, made = op.output.width, width = cell.width;
  Arena arena(run.scratch, SIZE_MAX);
  Memory memory = TakeMemory(arena, cell, run.rows());
  const Mask mask(op, run);
  // A team's gates alternate by step between the scratch of the first worker and of the second: a worker that is ahead
  // then does not overwrite gates that another worker still reads.
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
  BeginStates(op, run, memory);

  uint32_t running = run.rows();
  Status result = kOk;
  for (uint32_t t = 0;; ++t) {
    while (running > 0 && length(order[running - 1]) <= t) --running;
    if (running == 0) break;
    memory.cell.gates = gates_of[t % 2];
    const auto row_of = [&](size_t i) -> size_t {
      return op.reverse ? offsets[order[i] + 1] - 1 - t : offsets[order[i]] + t;
    };
    const Status status = RunCells(op, run, memory.cell, memory.h, running, kBlobNone, [&](size_t i) {
      const size_t row = row_of(i);
      return CellRow{run.Input(0) + row * gates, memory.h + i * width, cell.lstm() ? memory.c + i * width : nullptr,
                     mask.Hides(row)};
    });
    if (!status.ok()) result = status;
    for (size_t i = 0; i < running && run.team.worker == 0; ++i) {
      float* out = run.output + row_of(i) * made;
      memcpy(out, memory.h + i * width, width * sizeof(float));
      if (op.keeps_state && cell.lstm()) memcpy(out + width, memory.c + i * width, width * sizeof(float));
    }
  }
  return result;
}

constexpr Attribute kAttributes[] = {Attribute::kCell,    Attribute::kResetAfter, Attribute::kActivation,
                                     Attribute::kReverse, Attribute::kInitial,    Attribute::kMasked,
                                     Attribute::kOutput};

}  // namespace

extern const OpDef kRecurrentOp = DefineOp<OpCode::kRecurrent, Lower, Run>([](OpDef& def) {
  def.attributes = kAttributes;
  def.former_inputs = FormerInputs;
  def.unit = Unit::kSegments;
  def.cooperative = true;
  def.scratch = OfOp<Scratch>::Call;
  def.flops_per_row = OfOp<CellFlops>::Call;
});

}  // namespace fovea
