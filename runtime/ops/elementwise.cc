// Elementwise operations: add, activate, gate, scale.
#include <math.h>

#include <algorithm>

#include "runtime/blob/attributes.h"
#include "runtime/blob/operands.h"
#include "runtime/kernels/kernels.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

Status LowerAdd(const OpView& view, Reporter& reporter, Op* op) { return LowerElementwise(view, reporter, op); }

Status RunAdd(const Op& op, const OpRun& run) {
  run.ForElements(op.output, [&](size_t first, size_t count) {
    run.kernels->elementwise.add(run.Input(0) + first, run.Input(1) + first, count, run.output + first);
  });
  return kOk;
}

// Reads the attribute that is a limit; 0 if it is absent.
Status ReadLimit(const OpView& view, Reporter& reporter, float* limit) {
  *limit = view.F32(Attribute::kLimit, 0.0f);
  return *limit >= 0.0f ? kOk : reporter.Fail(FOVEA_E_OP, "limit must be at least 0");
}

struct ActivateOp : Op {
  Activation activation = Activation::kNone;
  float limit = 0.0f, floor = -HUGE_VALF;
};
constexpr Attribute kActivateAttributes[] = {Attribute::kActivation, Attribute::kLimit, Attribute::kFloor};

Status LowerActivate(const OpView& view, Reporter& reporter, ActivateOp* op) {
  FOVEA_TRY(LowerElementwise(view, reporter, op));
  FOVEA_TRY(ReadLimit(view, reporter, &op->limit));
  op->floor = view.F32(Attribute::kFloor, op->floor);
  return ReadChoice(view, Attribute::kActivation, "unknown activation", reporter, &op->activation);
}

Status RunActivate(const ActivateOp& op, const OpRun& run) {
  const auto apply = run.kernels->activation.apply[static_cast<uint32_t>(op.activation)];
  const ElementwiseKernels& elementwise = run.kernels->elementwise;
  run.ForElements(op.output, [&](size_t first, size_t count) {
    const float* x = run.Input(0) + first;
    float* const y = run.output + first;
    if (op.limit != 0.0f) {
      elementwise.bound(x, op.limit, 0.0f, count, y);
      x = y;
    }
    if (op.floor > -HUGE_VALF) {
      elementwise.at_least(x, op.floor, count, y);
      x = y;
    }
    apply(x, count, y);
  });
  return kOk;
}

struct GateOp : Op {
  Activation activation = Activation::kNone;
  bool narrow_a = false, narrow_b = false;  // this input has one number for all columns
  float limit = 0.0f, shift = 0.0f;
  bool changes = false;  // a and b are changed by limit and shift first
};
constexpr Attribute kGateAttributes[] = {Attribute::kActivation, Attribute::kLimit, Attribute::kShift};

Status LowerGate(const OpView& view, Reporter& reporter, GateOp* op) {
  FOVEA_TRY(CheckRowLocal(view, reporter));
  op->output.width = std::max(op->inputs[0].width, op->inputs[1].width);
  const auto narrow = [&](uint32_t i) { return op->inputs[i].width == 1 && op->output.width != 1; };
  op->narrow_a = narrow(0);
  op->narrow_b = narrow(1);
  for (uint32_t i = 0; i < 2; ++i) {
    if (narrow(i) || op->inputs[i].width == op->output.width) continue;
    return reporter.Fail(FOVEA_E_SHAPE, "inputs have different widths, and neither is 1", op->output.width,
                         op->inputs[i].width);
  }
  FOVEA_TRY(ReadLimit(view, reporter, &op->limit));
  op->shift = view.F32(Attribute::kShift, op->shift);
  op->changes = op->limit != 0.0f || op->shift != 0.0f;
  if (op->changes && (op->narrow_a || op->narrow_b)) {
    return reporter.Fail(FOVEA_E_SHAPE, "with limit or shift, both inputs must be as wide as the output",
                         op->output.width, 1);
  }
  return ReadChoice(view, Attribute::kActivation, "unknown activation", reporter, &op->activation);
}

void GateByNumbers(const GateOp& op, const OpRun& run) {
  const auto activate = run.kernels->activation.apply[static_cast<uint32_t>(op.activation)];
  const size_t width = op.output.width;
  constexpr size_t kBlockRows = 64;
  float gates[kBlockRows];
  const size_t first = run.column_begin, columns = run.column_end - run.column_begin;
  for (size_t row = 0; row < run.rows(); ++row) {
    const size_t at = row * width + first;
    float* y = run.output + at;
    if (op.narrow_a && row % kBlockRows == 0) {
      const size_t left = run.rows() - row;
      activate(run.Input(0) + row, left < kBlockRows ? left : kBlockRows, gates);
    }
    if (op.narrow_a) {
      run.kernels->elementwise.scale(run.Input(1) + at, gates[row % kBlockRows], columns, y);
    } else {
      activate(run.Input(0) + at, columns, y);
      run.kernels->elementwise.scale(y, run.Input(1)[row], columns, y);
    }
  }
}

// A block of elements at a time, so that intermediate values stay in cache.
void GateBounded(const GateOp& op, const OpRun& run) {
  const ElementwiseKernels& kernels = run.kernels->elementwise;
  const auto gate = run.kernels->activation.gate[static_cast<uint32_t>(op.activation)];
  const float limit = op.limit != 0.0f ? op.limit : HUGE_VALF;
  run.ForElements(op.output, [&](size_t first, size_t count) {
    constexpr size_t kBlock = 512;
    float a[kBlock], b[kBlock];
    for (size_t at = 0, left; at < count; at += kBlock) {
      left = count - at < kBlock ? count - at : kBlock;
      kernels.bound_above(run.Input(0) + first + at, limit, left, a);
      kernels.bound(run.Input(1) + first + at, limit, op.shift, left, b);
      gate(a, b, left, run.output + first + at);
    }
  });
}

Status RunGate(const GateOp& op, const OpRun& run) {
  if (op.changes) {
    GateBounded(op, run);
  } else if (op.narrow_a || op.narrow_b) {
    GateByNumbers(op, run);
  } else {
    const auto gate = run.kernels->activation.gate[static_cast<uint32_t>(op.activation)];
    run.ForElements(op.output, [&](size_t first, size_t count) {
      gate(run.Input(0) + first, run.Input(1) + first, count, run.output + first);
    });
  }
  return kOk;
}

struct ScaleOp : Op {
  float scale = 1.0f, shift = 0.0f;
};
constexpr Attribute kScaleAttributes[] = {Attribute::kScale, Attribute::kShift};

Status LowerScale(const OpView& view, Reporter& reporter, ScaleOp* op) {
  op->scale = view.F32(Attribute::kScale, op->scale);
  op->shift = view.F32(Attribute::kShift, op->shift);
  return LowerElementwise(view, reporter, op);
}

Status RunScale(const ScaleOp& op, const OpRun& run) {
  const ElementwiseKernels& kernels = run.kernels->elementwise;
  run.ForElements(op.output, [&](size_t first, size_t count) {
    if (op.shift != 0.0f) {
      kernels.scale_shift(run.Input(0) + first, op.scale, op.shift, count, run.output + first);
    } else {
      kernels.scale(run.Input(0) + first, op.scale, count, run.output + first);
    }
  });
  return kOk;
}

}  // namespace

extern const OpDef kAddOp = DefineOp<OpCode::kAdd, LowerAdd, RunAdd>([](OpDef& def) { def.share = Share::kColumns; });
extern const OpDef kActivateOp = DefineOp<OpCode::kActivate, LowerActivate, RunActivate>([](OpDef& def) {
  def.attributes = kActivateAttributes;
  def.share = Share::kColumns;
});
extern const OpDef kGateOp = DefineOp<OpCode::kGate, LowerGate, RunGate>([](OpDef& def) {
  def.attributes = kGateAttributes;
  def.share = Share::kColumns;
});
extern const OpDef kScaleOp = DefineOp<OpCode::kScale, LowerScale, RunScale>([](OpDef& def) {
  def.attributes = kScaleAttributes;
  def.share = Share::kColumns;
});

}  // namespace fovea
