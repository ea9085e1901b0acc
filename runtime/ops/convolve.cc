// Depthwise convolution along the rows of a segment: a column has weights of its own, and sees no other column. Over
// cached rows it goes on with those of former runs, and then sees none that comes after a row: so a text in pieces has
// the bits of the whole.
#include <algorithm>

#include "runtime/ops/cast.h"

namespace fovea {
namespace {

struct ConvolveOp : Op {
  const float *weights = nullptr, *bias = nullptr;
  uint32_t taps = 1, before = 0;
  bool cached = false;
  uint32_t parts = 1;  // of a cached row, as `append` stores it

  StoredRows StoredAs(DType type) const { return {type, output.width, parts}; }
};

// The rows stand in pages, stored by an append.
Status LowerCached(const OpView& view, Reporter& reporter, ConvolveOp* op) {
  const SpaceRecord& space = view.InputSpace(0);
  if (op->output.space != space.source) {
    return reporter.Fail(FOVEA_E_SHAPE, "output's space must be the one whose rows are kept", space.source,
                         op->output.space);
  }
  if (op->before + 1 != op->taps) {
    return reporter.Fail(FOVEA_E_OP, "over cached rows nothing after a row is seen", op->taps - 1, op->before);
  }
  if (space.extra != 0 && op->before > space.extra) {
    return reporter.Fail(FOVEA_E_OP, "rows look further back than they are kept", space.extra, op->before);
  }
  op->parts = view.InputParts(0);
  return kOk;
}

Status Lower(const OpView& view, Reporter& reporter, ConvolveOp* op) {
  op->cached = view.InputSpace(0).kind == SpaceKind::kCached;
  FOVEA_TRY(CheckWidth(view, 0, reporter));
  if (!view.HasTensor(0)) return reporter.Fail(FOVEA_E_RECORD, "a convolution needs weights");
  FOVEA_TRY(CheckFloats(view, 0, 0, op->output.width, reporter));
  FOVEA_TRY(CheckFloats(view, 1, 1, op->output.width, reporter));
  const uint32_t after = view.U32(Attribute::kAfter, 0);
  op->weights = view.Floats(0);
  op->bias = view.Floats(1);
  op->taps = view.Tensor(0).rows;
  if (after >= op->taps) {
    return reporter.Fail(FOVEA_E_OP, "weights do not reach the row itself", op->taps - 1, after);
  }
  op->before = op->taps - 1 - after;
  if (op->cached) return LowerCached(view, reporter, op);
  if (op->inputs[0].space != op->output.space) {
    return reporter.Fail(FOVEA_E_SHAPE, "output's space must be the input's", op->inputs[0].space, op->output.space);
  }
  return CheckF32(view, 0, reporter);
}

// Where a row's neighbours lie, then, if they may be stored in a shorter type, the last of them as f32.
size_t PointerBytes(const ConvolveOp& op) { return RoundUp(size_t{op.taps} * sizeof(const float*), kAlignment); }

uint64_t Scratch(const ConvolveOp& op, uint32_t /*tile_rows*/) {
  return PointerBytes(op) + (op.cached ? uint64_t{op.taps} * op.output.width * sizeof(float) : 0);
}

// The rows of one segment as f32.
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

  // Makes a row ready for At, until `taps` later ones are.
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
  const KeyPages* pages_ = nullptr;  // null: rows follow each other
  const uint32_t* table_ = nullptr;
  float* converted_ = nullptr;
};

Status Run(const ConvolveOp& op, const OpRun& run) {
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

extern const OpDef kConvolveOp = DefineOp<Lower, Run>()
                                     .Inputs(1, 1)
                                     .Tensors(1, 2)
                                     .Attributes(kAttributes)
                                     .ReadsWhole(0)
                                     .ReadsCached(0, 1)
                                     .Scratch<Scratch>()
                                     .Flops<Flops>();

}  // namespace fovea
