// Stable counting sort of the rows of each segment by bucket, for each column separately. An output row holds, for
// every column, the row that is sorted to this place; after these, for every column, the place in the segment that this
// row is sorted to.
#include <string.h>

#include "runtime/blob/attributes.h"
#include "runtime/blob/op_codes.h"
#include "runtime/blob/operands.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

struct SortOp : Op {
  uint64_t buckets = 0;
};

// Number of buckets of the `hash` that computed the input.
uint64_t BucketsOf(const OpView& hash) {
  const uint32_t more = hash.U32(Attribute::kMoreBuckets, 0);
  return uint64_t{hash.U32(Attribute::kBuckets, 0)} * (more == 0 ? 1 : more);
}

Status Lower(const OpView& view, Reporter& reporter, SortOp* op) {
  const OperationRecord* maker = view.Maker(0);
  if (maker == nullptr || OpCode(maker->code) != OpCode::kHash) {
    return reporter.Fail(FOVEA_E_SHAPE, "buckets must be the output of hash");
  }
  FOVEA_TRY(CheckSpace(view, 0, reporter));
  FOVEA_TRY(MakeWidth(uint64_t{2} * op->inputs[0].width, reporter, op));
  op->buckets = BucketsOf({view.blob, maker, view.values});
  return kOk;
}

uint64_t Scratch(const SortOp& op, uint32_t /*tile_rows*/) { return op.buckets * sizeof(uint32_t); }

Status Run(const SortOp& op, const OpRun& run) {
  const Segments& segments = run.SegmentsOf(op.inputs[0]);
  const uint64_t buckets = op.buckets;
  const size_t columns = op.inputs[0].width;
  uint32_t* places = static_cast<uint32_t*>(run.scratch);
  int32_t* out = run.indices_made();
  for (uint32_t s = 0; s < segments.count; ++s) {
    const uint32_t begin = segments.offsets[s], end = segments.offsets[s + 1];
    for (size_t column = 0; column < columns; ++column) {
      const auto bucket = [&](uint32_t row) { return run.Indices(0)[row * columns + column]; };
      memset(places, 0, buckets * sizeof(uint32_t));
      for (uint32_t row = begin; row < end; ++row) ++places[bucket(row)];
      uint32_t first = 0;
      for (uint64_t b = 0; b < buckets; ++b) {
        const uint32_t count = places[b];
        places[b] = first;
        first += count;
      }
      for (uint32_t row = begin; row < end; ++row) {
        const uint32_t place = places[bucket(row)]++;
        out[size_t{begin + place} * 2 * columns + column] = static_cast<int32_t>(row);
        out[size_t{row} * 2 * columns + columns + column] = static_cast<int32_t>(place);
      }
    }
  }
  return kOk;
}

}  // namespace

extern const OpDef kSortOp = DefineOp<OpCode::kSort, Lower, Run>([](OpDef& def) {
  def.output = DType::kI32;
  def.unit = Unit::kAll;
  def.scratch = OfOp<Scratch>::Call;
});

}  // namespace fovea
