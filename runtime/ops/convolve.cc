// Depthwise convolution along the rows of a segment, or over the neighbours that a table names (e.g. of a pixel, in two
// dimensions): each column has separate weights and does not depend on other columns. Over cached rows it continues the
// rows of earlier runs and is causal, so a sequence processed in pieces has the same bits as the whole sequence.
#include <string.h>

#include <algorithm>

#include "runtime/blob/attributes.h"
#include "runtime/blob/operands.h"
#include "runtime/kernels/kernels.h"
#include "runtime/ops/cast.h"
#include "runtime/ops/row_table.h"

namespace fovea {
namespace {

struct ConvolveOp : Op {
  const float *weights = nullptr, *bias = nullptr;
  uint32_t taps = 1, before = 0;
  bool cached = false;
  uint32_t parts = 1;  // parts of a cached row, as `append` stores it
  RowTable table;      // without indices: neighbours are the adjacent rows

  StoredRows StoredAs(DType type) const { return {type, output.width, parts}; }
};

// The rows are stored in pages by an `append`.
Status LowerCached(const OpView& view, Reporter& reporter, ConvolveOp* op) {
  const SpaceRecord& space = view.InputSpace(0);
  if (op->output.space != space.source) {
    return reporter.FailSpace("output must be in the space whose rows are cached", space.source, op->output.space);
  }
  if (op->before + 1 != op->taps) {
    return reporter.Fail(FOVEA_E_OP, "after must be 0 over cached rows", op->taps - 1, op->before);
  }
  if (space.extra != 0 && op->before > space.extra) {
    return reporter.Fail(FOVEA_E_OP, "weights reach further back than rows are cached", space.extra, op->before);
  }
  op->parts = view.InputParts(0);
  return kOk;
}

Status LowerTable(const OpView& view, Reporter& reporter, ConvolveOp* op) {
  FOVEA_TRY(CheckF32(view, 0, reporter));
  if (view.Has(Attribute::kAfter)) {
    return reporter.Fail(FOVEA_E_OP, "after cannot be combined with a table of neighbours");
  }
  FOVEA_TRY(LowerRowTable(view, 2, reporter, &op->table));
  if (op->table.columns == op->taps) return kOk;
  return reporter.Fail(FOVEA_E_SHAPE, "table must have a column for each row of weights", op->taps, op->table.columns);
}

Status Lower(const OpView& view, Reporter& reporter, ConvolveOp* op) {
  op->cached = view.InputSpace(0).kind == SpaceKind::kCached;
  op->output.width = op->inputs[0].width;
  FOVEA_TRY(CheckFloats(view, 0, 0, op->output.width, reporter));
  FOVEA_TRY(CheckFloats(view, 1, 1, op->output.width, reporter));
  op->weights = view.Floats(0);
  op->bias = view.Floats(1);
  op->taps = view.Tensor(0).rows;
  if (view.Has(TensorNumber(2))) return LowerTable(view, reporter, op);
  const uint32_t after = view.U32(Attribute::kAfter, 0);
  if (after >= op->taps) {
    return reporter.Fail(FOVEA_E_OP, "after must be less than the number of rows of weights", op->taps - 1, after);
  }
  op->before = op->taps - 1 - after;
  if (op->cached) return LowerCached(view, reporter, op);
  if (op->inputs[0].space != op->output.space) {
    return reporter.FailSpace("output's space must be the input's", op->inputs[0].space, op->output.space);
  }
  return CheckF32(view, 0, reporter);
}

// Layout of scratch: pointers to a row's neighbours; then the last neighbours as f32 if they may be stored in a shorter
// type, or a row of zeros for neighbours that a table omits.
size_t PointerBytes(const ConvolveOp& op) { return RoundUp(size_t{op.taps} * sizeof(const float*), kAlignment); }

uint64_t Scratch(const ConvolveOp& op, uint32_t /*tile_rows*/) {
  const uint32_t rows = op.cached ? op.taps : op.table.indices != nullptr ? 1 : 0;
  return PointerBytes(op) + uint64_t{rows} * op.output.width * sizeof(float);
}

// Reads the rows of one segment as f32.
class SegmentRows {
 public:
  SegmentRows(const ConvolveOp& op, const OpRun& run, uint32_t segment)
      : kernels_(*run.kernels), taps_(op.taps), stored_(op.StoredAs(DType::kF32)) {
    const auto* all = static_cast<const uint8_t*>(run.inputs[0]);
    if (op.cached) {
      pages_ = run.spaces[op.inputs[0].space].pages;
      table_ = pages_->TableOf(segment);
      stored_ = op.StoredAs(run.TypeOf(op.inputs[0]));
      converted_ = reinterpret_cast<float*>(static_cast<uint8_t*>(run.scratch) + PointerBytes(op));
    }
    row_bytes_ = stored_.row_bytes();
    rows_ = op.cached ? all : all + run.SegmentsOf(op.inputs[0]).offsets[segment] * row_bytes_;
  }

  // Makes a row available to At, until `taps` later rows have been read.
  void Read(size_t position) const {
    if (stored_.type == DType::kF32) return;
    const uint8_t* row = Stored(position);
    const bool scaled = stored_.type == DType::kI8;
    const size_t parts = scaled ? stored_.parts : 1, width = stored_.width / parts;
    const auto* scales = reinterpret_cast<const float*>(row);
    if (scaled) row += parts * sizeof(float);
    const RowToF32 convert = kernels_.dequantize.set[static_cast<size_t>(stored_.type)];
    for (size_t i = 0; i < parts; ++i) {
      convert(row + i * RowBytes(stored_.type, width), scales + i, width, 1.0f, Converted(position) + i * width);
    }
  }

  const float* At(size_t position) const {
    return stored_.type == DType::kF32 ? reinterpret_cast<const float*>(Stored(position)) : Converted(position);
  }

 private:
  const uint8_t* Stored(size_t position) const {
    return rows_ + (pages_ == nullptr ? position : pages_->Row(table_, position)) * row_bytes_;
  }
  float* Converted(size_t position) const { return converted_ + position % taps_ * stored_.width; }

  const Kernels& kernels_;
  const size_t taps_;
  StoredRows stored_;
  const uint8_t* rows_;
  size_t row_bytes_;
  const KeyPages* pages_ = nullptr;  // null: rows are contiguous
  const uint32_t* table_ = nullptr;
  float* converted_ = nullptr;
};

void RunTable(const ConvolveOp& op, const OpRun& run) {
  const size_t width = op.output.width, taps = op.taps;
  auto** neighbours = static_cast<const float**>(run.scratch);
  auto* zeros = reinterpret_cast<float*>(static_cast<uint8_t*>(run.scratch) + PointerBytes(op));
  memset(zeros, 0, width * sizeof(float));
  float* y = run.output;
  for (uint32_t row = run.row_begin; row < run.row_end; ++row, y += width) {
    const float* x = run.Input(0) + op.table.PieceOf(row) * width;
    const int32_t* indices = op.table.IndicesOf(row);
    for (size_t tap = 0; tap < taps; ++tap) {
      neighbours[tap] = indices[tap] < 0 ? zeros : x + static_cast<uint32_t>(indices[tap]) * width;
    }
    run.kernels->convolve.row(neighbours, op.weights, taps, op.bias, width, y);
  }
}

Status Run(const ConvolveOp& op, const OpRun& run) {
  if (op.table.indices != nullptr) return RunTable(op, run), kOk;
  const size_t width = op.output.width, taps = op.taps, before = op.before;
  const Segments& segments = run.SegmentsOf(op.output);
  const uint32_t* starts = op.cached ? run.spaces[op.output.space].starts : nullptr;
  auto** neighbours = static_cast<const float**>(run.scratch);
  float* y = run.output;
  ForEachSegmentPiece(
      segments, run.row_begin, run.row_end, [&](uint32_t, uint32_t rows, uint32_t in_segment, uint32_t segment) {
        const SegmentRows x(op, run, segment);
        const size_t start = starts == nullptr ? 0 : starts[segment];
        const size_t first = start + in_segment, length = start + segments.length(segment);
        for (size_t at = first - std::min(first, before); at < first; ++at) x.Read(at);
        for (size_t at = first; at < first + rows; ++at, y += width) {
          x.Read(at);
          const size_t low = at < before ? before - at : 0, high = std::min(taps, length + before - at);
          for (size_t tap = low; tap < high; ++tap) neighbours[tap] = x.At(at + tap - before);
          run.kernels->convolve.row(neighbours + low, op.weights + low * width, high - low, op.bias, width, y);
        }
      });
  return kOk;
}

double Flops(const ConvolveOp& op) { return 2.0 * op.taps * op.output.width; }

constexpr Attribute kAttributes[] = {Attribute::kAfter};

}  // namespace

extern const OpDef kConvolveOp = DefineOp<OpCode::kConvolve, Lower, Run>([](OpDef& def) {
  def.attributes = kAttributes;
  def.cached = {0, 1};
  def.scratch = OfOp<Scratch>::Call;
  def.flops_per_row = OfOp<Flops>::Call;
});

}  // namespace fovea
