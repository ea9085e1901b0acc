// Magnitudes of the discrete Fourier transform of frames of samples, one for each row of the output's space: frame t of
// a segment begins at sample t * hop - before. The space is made from the samples' space by strides, or is a sibling
// space of fixed segments: then `reflect` treats a segment as hop samples per row, truncated or padded with zeros.
#include <string.h>

#include "runtime/blob/attributes.h"
#include "runtime/blob/operands.h"
#include "runtime/blob/strides.h"
#include "runtime/kernels/fourier.h"
#include "runtime/kernels/kernels.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

struct SpectrumOp : Op {
  Fourier fourier{};
  const float* window = nullptr;
  uint32_t length = 0;  // samples of a frame; the transform pads it with zeros
  int64_t hop = 0, before = 0;
  float preemphasis = 0.0f;
  bool reflect = false, power = false, remove_mean = false;
  bool fixed = false;
};

Status LowerSpace(const OpView& view, Reporter& reporter, SpectrumOp* op) {
  const SpaceRecord& space = view.OutputSpace();
  const uint32_t from = op->inputs[0].space;
  op->fixed = space.kind == SpaceKind::kFixed && view.InputSpace(0).parent == space.parent && op->output.space != from;
  const bool strided = space.kind == SpaceKind::kStrided && space.source == from && space.first == 0;
  if (!op->fixed && !strided) {
    return reporter.FailSpace("output's space must be made from the input's by strides, or be a fixed sibling", from,
                              op->output.space);
  }
  op->hop = view.U32(Attribute::kHop, 0);
  if (op->hop == 0 || op->hop > kMaxRecords) {
    return reporter.Fail(FOVEA_E_SHAPE, "hop is out of range", kMaxRecords, static_cast<uint64_t>(op->hop));
  }
  if (strided && op->hop != space.extra) {
    return reporter.FailSpace("hop must equal the stride of the output's space", space.extra,
                              static_cast<uint64_t>(op->hop));
  }
  return kOk;
}

Status Lower(const OpView& view, Reporter& reporter, SpectrumOp* op) {
  FOVEA_TRY(CheckF32(view, 0, reporter));
  if (op->inputs[0].width != 1) {
    return reporter.Fail(FOVEA_E_SHAPE, "samples must have width 1", 1, op->inputs[0].width);
  }
  FOVEA_TRY(LowerSpace(view, reporter, op));
  const uint32_t size = view.Tensor(SpectrumTensor::kRoots).width;
  if (size > kMaxTransform) {
    return reporter.Fail(FOVEA_E_SHAPE, "the transform is too large", kMaxTransform, size);
  }
  FOVEA_TRY(CheckFloats(view, SpectrumTensor::kRoots, 2, size, reporter));
  op->length = view.Tensor(SpectrumTensor::kWindow).width;
  FOVEA_TRY(CheckFloats(view, SpectrumTensor::kWindow, 1, op->length, reporter));
  if (op->length > size) {
    return reporter.Fail(FOVEA_E_SHAPE, "window must not be longer than the transform", size, op->length);
  }
  op->output.width = size / 2 + 1;
  op->fourier = PlanFourier(size, view.Floats(SpectrumTensor::kRoots), view.Floats(SpectrumTensor::kRoots) + size);
  op->window = view.Floats(SpectrumTensor::kWindow);
  op->before = view.U32(Attribute::kBefore, 0);
  op->preemphasis = view.F32(Attribute::kPreemphasis, 0.0f);
  op->reflect = view.Flag(Attribute::kReflect);
  op->power = view.Flag(Attribute::kPower);
  op->remove_mean = view.Flag(Attribute::kRemoveMean);
  return kOk;
}

struct Memory {
  float* frame;  // [length]
  float *a, *b;  // Fourier::buffer()
};

Memory TakeMemory(Arena& arena, const SpectrumOp& op) {
  const auto take = [&](uint64_t count) {
    return static_cast<float*>(arena.TakeBytes(CheckedSize(count) * CheckedSize(sizeof(float))));
  };
  const size_t buffer = op.fourier.buffer();
  return {take(op.length), take(buffer), take(buffer)};
}

uint64_t Scratch(const SpectrumOp& op, uint32_t /*tile_rows*/) {
  Arena arena;
  TakeMemory(arena, op);
  return arena.needed();
}

// The samples of a segment, as read by frames.
struct Samples {
  const float* x;
  int64_t count;    // samples present; zeros follow
  int64_t mirrors;  // samples mirrored at both ends, if that many exist; 0: none

  float At(int64_t i) const {
    if (mirrors > 0 && (i < 0 || i >= mirrors)) {
      const int64_t period = mirrors == 1 ? 1 : 2 * (mirrors - 1);
      i %= period;
      if (i < 0) i += period;
      if (i >= mirrors) i = period - i;
    }
    return i < 0 || i >= count ? 0.0f : x[i];
  }
};

Samples SamplesOf(const SpectrumOp& op, const OpRun& run, uint32_t segment) {
  const Segments& samples = run.SegmentsOf(op.inputs[0]);
  Samples of = {run.Input(0) + samples.offsets[segment], samples.length(segment), 0};
  if (!op.reflect) return of;
  of.mirrors = op.fixed ? op.hop * run.SegmentsOf(op.output).length(segment) : of.count;
  if (of.count > of.mirrors) of.count = of.mirrors;
  return of;
}

// Copies samples [begin, begin + length) to `frame`; false if all are zeros after the segment's end.
bool TakeFrame(const SpectrumOp& op, const Kernels& kernels, const Samples& samples, int64_t begin, float* frame) {
  const int64_t end = begin + op.length;
  if (begin >= samples.count && (samples.mirrors == 0 || end <= samples.mirrors)) return false;
  if (begin >= 0 && end <= samples.count) {
    memcpy(frame, samples.x + begin, op.length * sizeof(float));
  } else {
    for (uint32_t i = 0; i < op.length; ++i) frame[i] = samples.At(begin + i);
  }
  if (op.remove_mean) {
    float mean;
    kernels.pool.mean(frame, 0, op.length, 1, &mean);
    kernels.elementwise.scale_shift(frame, 1.0f, -mean, op.length, frame);
  }
  if (op.preemphasis != 0.0f) {
    for (uint32_t i = op.length - 1; i > 0; --i) frame[i] -= op.preemphasis * frame[i - 1];
    frame[0] -= op.preemphasis * frame[0];
  }
  kernels.elementwise.multiply(frame, op.window, op.length, frame);
  return true;
}

// Transforms the frames of rows [position, position + rows) of a segment into y; at most kFourierLanes rows.
void Transform(const SpectrumOp& op, const OpRun& run, const Samples& samples, uint32_t position, uint32_t rows,
               const Memory& memory, float* y) {
  const Fourier& fourier = op.fourier;
  const size_t bins = op.output.width;
  bool sounds = false;
  memset(memory.a, 0, fourier.buffer() * sizeof(float));
  for (uint32_t row = 0; row < rows; ++row) {
    const int64_t begin = (int64_t{position} + row) * op.hop - op.before;
    if (!TakeFrame(op, *run.kernels, samples, begin, memory.frame)) continue;
    sounds = true;
    for (size_t i = 0; i < op.length; ++i) memory.a[fourier.place(i) * kFourierLanes + row] = memory.frame[i];
  }
  if (!sounds) {
    memset(y, 0, rows * bins * sizeof(float));
    return;
  }
  const float* spectrum = run.kernels->fourier.spectrum(fourier, bins, op.power, memory.a, memory.b);
  for (uint32_t row = 0; row < rows; ++row) {
    for (size_t k = 0; k < bins; ++k) *y++ = spectrum[k * kFourierLanes + row];
  }
}

Status Run(const SpectrumOp& op, const OpRun& run) {
  Arena arena(run.scratch, SIZE_MAX);
  const Memory memory = TakeMemory(arena, op);
  ForEachSegmentPiece(run.SegmentsOf(op.output), run.row_begin, run.row_end,
                      [&](uint32_t row, uint32_t rows, uint32_t position, uint32_t segment) {
                        const Samples samples = SamplesOf(op, run, segment);
                        for (uint32_t i = 0; i < rows; i += kFourierLanes) {
                          const uint32_t left = rows - i, count = left < kFourierLanes ? left : kFourierLanes;
                          float* y = run.output + size_t{row - run.row_begin + i} * op.output.width;
                          Transform(op, run, samples, position + i, count, memory, y);
                        }
                      });
  return kOk;
}

double Flops(const SpectrumOp& op) {
  return 8.0 * static_cast<double>(op.fourier.complex_size()) * op.fourier.factor_sum + 12.0 * op.output.width;
}

constexpr Attribute kAttributes[] = {Attribute::kHop,   Attribute::kBefore,     Attribute::kReflect,
                                     Attribute::kPower, Attribute::kRemoveMean, Attribute::kPreemphasis};

}  // namespace

extern const OpDef kSpectrumOp = DefineOp<OpCode::kSpectrum, Lower, Run>([](OpDef& def) {
  def.attributes = kAttributes;
  def.scratch = OfOp<Scratch>::Call;
  def.flops_per_row = OfOp<Flops>::Call;
});

}  // namespace fovea
