// Locality-sensitive hashing by random rotations (Reformer, arXiv 2001.04451): in each round a head's vector x is
// assigned to the bucket of the nearest direction, argmax of [x R, -x R]. If the number of buckets has two factors,
// there is a rotation for each, and a bucket's number is first + buckets * second.
#include <string.h>

#include "runtime/blob/attributes.h"
#include "runtime/blob/operands.h"
#include "runtime/kernels/kernels.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

constexpr uint32_t kMostRounds = 64, kMostBuckets = 1u << 16;

// The output has a column for each head and round.
struct HashOp : Op {
  uint32_t parts = 1, rounds = 1;  // parts of a row are heads
  uint32_t buckets = 0, more = 0;
  const float* rotations = nullptr;  // ordered by head, round, factor

  // Number of directions of a round, and of a head.
  size_t of_round() const { return size_t{buckets / 2} + more / 2; }
  size_t of_part() const { return rounds * of_round(); }
  size_t depth() const { return inputs[0].width / parts; }
};

Status Lower(const OpView& view, Reporter& reporter, HashOp* op) {
  FOVEA_TRY(CheckF32(view, 0, reporter));
  FOVEA_TRY(CheckSpace(view, 0, reporter));
  op->rounds = view.U32(Attribute::kRounds, 1);
  const uint32_t buckets = op->buckets = view.U32(Attribute::kBuckets, 0);
  const uint32_t more = op->more = view.U32(Attribute::kMoreBuckets, 0);
  FOVEA_TRY(ReadHeads(view, reporter, &op->parts));
  const uint64_t columns = uint64_t{op->parts} * op->rounds;
  if (op->rounds == 0 || op->rounds > kMostRounds) {
    return reporter.Fail(FOVEA_E_SHAPE, "number of rounds is out of range", kMostRounds, op->rounds);
  }
  FOVEA_TRY(MakeWidth(columns, reporter, op));
  const uint64_t all = uint64_t{buckets} * (more == 0 ? 1 : more);
  if (buckets == 0 || buckets % 2 != 0 || more % 2 != 0 || all > kMostBuckets) {
    return reporter.Fail(FOVEA_E_SHAPE, "number of buckets is odd or out of range", kMostBuckets, all);
  }
  const uint64_t rows = columns * (buckets / 2 + more / 2);
  if (rows > INT32_MAX) return reporter.Fail(FOVEA_E_SHAPE, "too many rotations", INT32_MAX, rows);
  op->rotations = view.Floats(0);
  return CheckFloats(view, 0, static_cast<uint32_t>(rows), op->inputs[0].width / op->parts, reporter);
}

// Rows multiplied by a head's rotations at once: enough to amortize reading the rotations.
constexpr uint32_t kBlockRows = 16;

uint64_t Scratch(const HashOp& op, uint32_t tile_rows) {
  const uint64_t row = uint64_t{op.depth()} + op.of_part();
  return row * sizeof(float) * (tile_rows < kBlockRows ? tile_rows : kBlockRows);
}

// The bucket for `count` products: the index of the largest, or count + the index of the smallest if its negative is
// larger. Ties go to the positive products, then to the lower index. NaN is never chosen unless it is the first one.
uint32_t Nearest(const float* products, uint32_t count) {
  uint32_t high = 0, low = 0;
  for (uint32_t i = 1; i < count; ++i) {
    if (products[i] > products[high]) high = i;
    if (products[i] < products[low]) low = i;
  }
  return -products[low] > products[high] ? count + low : high;
}

// Stored after the copied parts of the rows: products[row, i] = dot product of the head's part and rotation i.
void Multiply(const HashOp& op, const OpRun& run, uint32_t head, uint32_t first_row, uint32_t rows, float* copied) {
  const size_t width = op.inputs[0].width, depth = op.depth(), rotations = op.of_part();
  float* products = copied + rows * depth;
  const float* x = run.Input(0) + first_row * width + head * depth;
  for (size_t row = 0; row < rows; ++row) memcpy(copied + row * depth, x + row * width, depth * sizeof(float));
  GemmTile gemm = {};
  gemm.rows = rows;
  gemm.k = depth;
  gemm.x = copied;
  gemm.y_stride = rotations;
  for (size_t first = 0; first < rotations; first += kGemmTileColumns) {
    gemm.columns = rotations - first < kGemmTileColumns ? rotations - first : kGemmTileColumns;
    gemm.weights = op.rotations + (head * rotations + first) * depth;
    gemm.y = products + first;
    run.kernels->gemm.f32(gemm);
  }
}

Status Run(const HashOp& op, const OpRun& run) {
  const size_t step = op.of_round(), columns = op.output.width;
  float* copied = static_cast<float*>(run.scratch);
  for (uint32_t first = 0; first < run.rows(); first += kBlockRows) {
    const uint32_t rows = run.rows() - first < kBlockRows ? run.rows() - first : kBlockRows;
    for (uint32_t head = 0; head < op.parts; ++head) {
      Multiply(op, run, head, first, rows, copied);
      const float* of_round = copied + rows * op.depth();
      for (uint32_t row = 0; row < rows; ++row) {
        int32_t* out = run.indices_made() + (first + row) * columns + size_t{head} * op.rounds;
        for (uint32_t round = 0; round < op.rounds; ++round, of_round += step) {
          uint32_t bucket = Nearest(of_round, op.buckets / 2);
          if (op.more > 0) bucket += op.buckets * Nearest(of_round + op.buckets / 2, op.more / 2);
          out[round] = static_cast<int32_t>(bucket);
        }
      }
    }
  }
  return kOk;
}

double Flops(const HashOp& op) { return 2.0 * static_cast<double>(op.of_part()) * op.inputs[0].width; }

constexpr Attribute kAttributes[] = {Attribute::kHeads, Attribute::kRounds, Attribute::kBuckets,
                                     Attribute::kMoreBuckets};

}  // namespace

extern const OpDef kHashOp = DefineOp<OpCode::kHash, Lower, Run>([](OpDef& def) {
  def.attributes = kAttributes;
  def.output = DType::kI32;
  def.scratch = OfOp<Scratch>::Call;
  def.flops_per_row = OfOp<Flops>::Call;
});

}  // namespace fovea
