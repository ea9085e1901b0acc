// Rotary position embeddings (RoPE): angles from frequencies, for any position, or from a table whose row p holds the
// cosines, then the sines, of position p. Positions are within the sequence, or an input: ids or computed values.
#include <math.h>

#include <algorithm>

#include "runtime/base/nearest.h"
#include "runtime/blob/attributes.h"
#include "runtime/blob/operands.h"
#include "runtime/kernels/kernels.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

struct RotateOp : Op {
  const float* table = nullptr;  // begins with the first position
  const float *frequencies = nullptr, *long_frequencies = nullptr;
  uint32_t parts = 0, dims = 0, positions = UINT32_MAX, offset = 0;
  uint32_t short_up_to = UINT32_MAX;  // longer sequences have long or stretched frequencies
  float factor = 1.0f, stretch = 0.0f;
  bool interleaved = false;
  uint32_t position_ids = kBlobNone;  // input 1 holds ids of this program input
  bool position_numbers = false;      // input 1 holds computed positions

  bool ReadsPositions() const { return position_numbers || position_ids != kBlobNone; }
};

Status LowerTable(const OpView& view, Reporter& reporter, RotateOp* op) {
  for (const Attribute key : {Attribute::kScale, Attribute::kShortUpTo, Attribute::kStretch}) {
    if (view.Has(key)) return reporter.Fail(FOVEA_E_RECORD, "scale, short_up_to and stretch need frequencies");
  }
  op->dims = view.Tensor(RotateTensor::kTable).width;
  if (!op->ReadsPositions()) {
    FOVEA_TRY(CheckPositions(view, reporter, &op->positions));
  } else if (op->offset >= view.Tensor(RotateTensor::kTable).rows) {
    return reporter.Fail(FOVEA_E_SHAPE, "offset is beyond the end of the position table", op->offset,
                         view.Tensor(RotateTensor::kTable).rows);
  } else {
    op->positions = view.Tensor(RotateTensor::kTable).rows - op->offset;
  }
  FOVEA_TRY(CheckFloats(view, RotateTensor::kTable, 0, op->dims, reporter));
  op->table = view.Floats(RotateTensor::kTable) + size_t{op->offset} * op->dims;
  return kOk;
}

Status LowerFrequencies(const OpView& view, Reporter& reporter, RotateOp* op) {
  const uint32_t pairs = view.Tensor(RotateTensor::kFrequencies).width;
  if (pairs > kMaxWidth / 2) return reporter.Fail(FOVEA_E_SHAPE, "too many frequencies", kMaxWidth / 2, pairs);
  op->dims = 2 * pairs;
  for (const RotateTensor i : {RotateTensor::kFrequencies, RotateTensor::kLongFrequencies})
    FOVEA_TRY(CheckFloats(view, i, 1, pairs, reporter));
  op->frequencies = view.Floats(RotateTensor::kFrequencies);
  op->long_frequencies = view.Floats(RotateTensor::kLongFrequencies);
  op->factor = view.F32(Attribute::kScale, 1.0f);
  op->stretch = view.F32(Attribute::kStretch, 0.0f);
  op->short_up_to = view.U32(Attribute::kShortUpTo, UINT32_MAX);
  const bool changes = view.Has(RotateTensor::kLongFrequencies) || view.Has(Attribute::kStretch);
  if (changes != view.Has(Attribute::kShortUpTo) || (view.Has(RotateTensor::kLongFrequencies) && op->stretch != 0.0f)) {
    return reporter.Fail(FOVEA_E_RECORD, "short_up_to and either long_frequencies or stretch need each other");
  }
  // Stretching begins beyond length short_up_to, and its exponent divides by dims - 2.
  const bool stretches = op->stretch >= 1.0f && op->stretch <= 1e6f && op->short_up_to > 0 && op->dims > 2;
  if (view.Has(Attribute::kStretch) && !stretches) {
    return reporter.Fail(FOVEA_E_RECORD,
                         "stretch must be from 1 to 1000000, with short_up_to and 2 frequencies or more");
  }
  return kOk;
}

// Lowers the source of the rows' positions: place in the sequence, ids or numbers.
Status LowerPositions(const OpView& view, Reporter& reporter, RotateOp* op) {
  const OpValue& positions = op->inputs[1];
  op->position_ids = positions.type == DType::kI32 ? IdsOf(view, 1) : kBlobNone;
  op->position_numbers = positions.type == DType::kF32;
  if (!op->ReadsPositions() || positions.width != 1) {
    return reporter.Fail(FOVEA_E_SHAPE, "positions must be f32, or ids from an input, of width 1");
  }
  return CheckSpace(view, 1, reporter);
}

Status Lower(const OpView& view, Reporter& reporter, RotateOp* op) {
  FOVEA_TRY(CheckF32(view, 0, reporter));
  op->output.width = op->inputs[0].width;
  FOVEA_TRY(CheckSpace(view, 0, reporter));
  if (op->input_count > 1) FOVEA_TRY(LowerPositions(view, reporter, op));
  op->parts = view.U32(Attribute::kHeads, 0);
  if (op->parts == 0 || op->output.width % op->parts != 0) {
    return reporter.Fail(FOVEA_E_SHAPE, "heads do not divide the width", op->output.width, op->parts);
  }
  op->interleaved = view.Flag(Attribute::kInterleaved);
  op->offset = view.U32(Attribute::kOffset, 0);
  if (view.Has(RotateTensor::kTable) == view.Has(RotateTensor::kFrequencies)) {
    return reporter.Fail(FOVEA_E_RECORD, "rotate needs either a table or frequencies");
  }
  FOVEA_TRY((view.Has(RotateTensor::kTable) ? LowerTable : LowerFrequencies)(view, reporter, op));
  if (op->dims % 2 != 0 || op->dims > op->output.width / op->parts) {
    return reporter.Fail(FOVEA_E_SHAPE, "rotated columns must be an even number, at most the head size",
                         op->output.width / op->parts, op->dims);
  }
  return kOk;
}

// Bytes for the cosines, sines and stretched frequencies of one row.
uint64_t Scratch(const RotateOp& op, uint32_t /*tile_rows*/) {
  return op.frequencies == nullptr ? 0 : RoundUp(size_t{op.dims} * 3 / 2 * sizeof(float), kAlignment);
}

// The frequencies for a sequence of `rows` rows, cached ones included. Stretching multiplies the base theta of
// theta^(-2i / dims) by (stretch * rows / short_up_to - (stretch - 1))^(dims / (dims - 2)).
const float* FrequenciesOf(const RotateOp& op, const Kernels& kernels, uint64_t rows, float* stretched) {
  if (rows <= op.short_up_to) return op.frequencies;
  if (op.long_frequencies != nullptr) return op.long_frequencies;
  const double growth = double{op.stretch} * static_cast<double>(rows) / op.short_up_to - (double{op.stretch} - 1);
  kernels.rotary.decay(op.frequencies, op.dims / 2, static_cast<float>(-2.0 * log(growth) / (op.dims - 2)), stretched);
  return stretched;
}

Status Run(const RotateOp& op, const OpRun& run) {
  const size_t width = op.output.width, dims = op.dims;
  const RotaryKernels& rotary = run.kernels->rotary;
  const SpaceRows& texts = run.spaces[op.output.space];
  auto* angles = static_cast<float*>(run.scratch);
  const int32_t* said = op.position_ids == kBlobNone ? nullptr : run.Indices(1);
  const float* numbers = op.position_numbers ? run.Input(1) : nullptr;
  // Positions outside the table are clamped to its first or last row.
  const auto in_table = [&](int32_t place) {
    return op.table == nullptr ? place : std::min(std::max(place, int32_t{0}), static_cast<int32_t>(op.positions - 1));
  };
  ForEachTextPiece(run, op.output, [&](uint32_t row, uint32_t rows, uint32_t position, uint32_t segment) {
    const float* frequencies = nullptr;
    if (op.table == nullptr) {
      const uint64_t past = texts.starts == nullptr ? 0 : texts.starts[segment];
      frequencies = FrequenciesOf(op, *run.kernels, past + texts.segments.length(segment), angles + dims);
    }
    for (uint32_t i = 0; i < rows; ++i) {
      const uint32_t local = row + i - run.row_begin;
      const size_t at = size_t{local} * width;
      const int64_t place = said != nullptr      ? int64_t{said[local]}
                            : numbers != nullptr ? int64_t{in_table(NearestWhole(numbers[local]))}
                                                 : int64_t{position} + i;
      const float* cos = op.table == nullptr ? angles : op.table + static_cast<size_t>(place) * dims;
      if (op.table == nullptr) {
        rotary.angles(static_cast<float>(place + op.offset), frequencies, dims / 2, op.factor, angles,
                      angles + dims / 2);
      }
      rotary.rotate(run.Input(0) + at, op.parts, width / op.parts, dims, cos, cos + dims / 2, op.interleaved,
                    run.output + at);
    }
  });
  return kOk;
}

double Flops(const RotateOp& op) { return 6.0 * op.output.width; }

SegmentLimit MostRows(const RotateOp& op) { return {op.output.space, op.ReadsPositions() ? UINT32_MAX : op.positions}; }

// Ids are limited by the rows of a table; frequencies accept any position.
IdLimit Ids(const RotateOp& op, uint32_t i) {
  const bool bounded = i == 1 && op.table != nullptr && op.position_ids != kBlobNone;
  return {op.position_ids, bounded ? op.positions : 0};
}

constexpr Attribute kAttributes[] = {Attribute::kHeads, Attribute::kInterleaved, Attribute::kOffset,
                                     Attribute::kScale, Attribute::kShortUpTo,   Attribute::kStretch};

}  // namespace

extern const OpDef kRotateOp = DefineOp<OpCode::kRotate, Lower, Run>([](OpDef& def) {
  def.attributes = kAttributes;
  def.scratch = OfOp<Scratch>::Call;
  def.segment_limit = OfOp<MostRows>::Call;
  def.id_limit = OfOp<Ids>::Call;
  def.flops_per_row = OfOp<Flops>::Call;
});

}  // namespace fovea
