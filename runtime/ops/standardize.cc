// (x - mean) / standard deviation for each column of a segment: of samples, of features of an utterance, or with weight
// and bias a normalisation of channels. A constant column becomes zeros (plus the bias).
#include <math.h>

#include <initializer_list>

#include "runtime/blob/attributes.h"
#include "runtime/blob/operands.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

struct StandardizeOp : Op {
  const float *weight = nullptr, *bias = nullptr;
  float epsilon = 0.0f;
};

Status Lower(const OpView& view, Reporter& reporter, StandardizeOp* op) {
  FOVEA_TRY(LowerElementwise(view, reporter, op));
  for (const StandardizeTensor i : {StandardizeTensor::kWeight, StandardizeTensor::kBias})
    FOVEA_TRY(CheckFloats(view, i, 1, op->output.width, reporter));
  op->weight = view.Floats(StandardizeTensor::kWeight);
  op->bias = view.Floats(StandardizeTensor::kBias);
  op->epsilon = view.F32(Attribute::kEpsilon, 0.0f);
  return kOk;
}

constexpr size_t kColumns = 16;  // columns processed at once
constexpr size_t kGroup = 64;    // rows summed first, so that the error of a long sum stays small

// Sums (x - center) or its square over rows, for each of `columns` columns.
template <bool kSquares>
void Sum(const float* x, size_t rows, size_t columns, size_t width, const float* center, float* sums) {
  for (size_t c = 0; c < columns; ++c) sums[c] = 0.0f;
  for (size_t first = 0; first < rows; first += kGroup) {
    const size_t end = first + kGroup < rows ? first + kGroup : rows;
    float group[kColumns] = {};
    for (size_t r = first; r < end; ++r) {
      for (size_t c = 0; c < columns; ++c) {
        const float v = x[r * width + c] - center[c];
        group[c] += kSquares ? v * v : v;
      }
    }
    for (size_t c = 0; c < columns; ++c) sums[c] += group[c];
  }
}

// Standardizes columns [column, column + columns) of one segment.
void Columns(const StandardizeOp& op, const float* x, size_t rows, size_t column, size_t columns, float* y) {
  const size_t width = op.output.width;
  const float inverse_count = 1.0f / static_cast<float>(rows);
  float mean[kColumns] = {}, sums[kColumns], factor[kColumns], shift[kColumns];
  // The second pass removes the rounding error of the mean.
  for (int i = 0; i < 2; ++i) {
    Sum<false>(x + column, rows, columns, width, mean, sums);
    for (size_t c = 0; c < columns; ++c) mean[c] += sums[c] * inverse_count;
  }
  Sum<true>(x + column, rows, columns, width, mean, sums);
  for (size_t c = 0; c < columns; ++c) {
    const float deviation = sqrtf(sums[c] * inverse_count + op.epsilon);
    factor[c] = deviation == 0.0f ? 0.0f : 1.0f / deviation;
    if (op.weight != nullptr) factor[c] *= op.weight[column + c];
    shift[c] = op.bias != nullptr ? op.bias[column + c] : 0.0f;
  }
  for (size_t r = 0; r < rows; ++r) {
    const size_t at = r * width + column;
    for (size_t c = 0; c < columns; ++c) y[at + c] = (x[at + c] - mean[c]) * factor[c] + shift[c];
  }
}

Status Run(const StandardizeOp& op, const OpRun& run) {
  const uint32_t* offsets = run.SegmentsOf(op.inputs[0]).offsets;
  const size_t width = op.output.width;
  for (uint32_t segment = run.row_begin; segment < run.row_end; ++segment) {
    const size_t at = offsets[segment] * width, rows = offsets[segment + 1] - offsets[segment];
    for (size_t column = 0; column < width && rows > 0; column += kColumns) {
      const size_t left = width - column, columns = left < kColumns ? left : kColumns;
      Columns(op, run.Input(0) + at, rows, column, columns, run.output + at);
    }
  }
  return kOk;
}

constexpr Attribute kAttributes[] = {Attribute::kEpsilon};

}  // namespace

extern const OpDef kStandardizeOp = DefineOp<OpCode::kStandardize, Lower, Run>([](OpDef& def) {
  def.attributes = kAttributes;
  def.unit = Unit::kSegments;
});

}  // namespace fovea
