// The rows of each segment in the order of their buckets, rows of one bucket as they stand: a counting sort for each
// column. A row of the output names, for every column, the row that comes at this place; after them, for every column,
// the place in its segment where this row went.
#include <string.h>

#include "runtime/ops/op.h"

namespace fovea {
namespace {

uint64_t BucketsOf(const OpView& op) {
  const OpView hash{op.blob, op.Maker(0), op.values};
  const uint32_t more = hash.U32(Attribute::kMoreBuckets, 0);
  return uint64_t{hash.U32(Attribute::kBuckets, 0)} * (more == 0 ? 1 : more);
}

Status Check(const OpView& op, Reporter& reporter) {
  const OperationRecord* maker = op.Maker(0);
  if (maker == nullptr || OpCode(maker->code) != OpCode::kHash) {
    return reporter.Fail(FOVEA_E_SHAPE, "sort reads the buckets that hash makes");
  }
  if (op.Input(0).space != op.Output().space || op.Output().width != uint64_t{2} * op.Input(0).width) {
    return reporter.Fail(FOVEA_E_SHAPE, "output must be in the input's space and twice as wide",
                         uint64_t{2} * op.Input(0).width, op.Output().width);
  }
  return kOk;
}

uint64_t Scratch(const OpView& op, uint32_t /*tile_rows*/) { return BucketsOf(op) * sizeof(uint32_t); }

Status Run(const OpRun& run) {
  const Segments& segments = run.SegmentsOf(run.view.Input(0));
  const uint64_t buckets = BucketsOf(run.view);
  const size_t columns = run.view.Input(0).width;
  uint32_t* places = static_cast<uint32_t*>(run.scratch);
  int32_t* out = reinterpret_cast<int32_t*>(run.output);
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

constexpr OpDef Define() {
  OpDef def = {1, 1, 0, 0, OpAttributes(), 1u << 0, Check, Scratch, Run, OneFlopPerElement};
  def.output = DType::kI32;
  def.unit = Unit::kAll;
  return def;
}

}  // namespace

extern const OpDef kSortOp = Define();

}  // namespace fovea
