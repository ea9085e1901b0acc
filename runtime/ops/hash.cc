// Locality-sensitive hashing by random rotations (Reformer, arXiv 2001.04451): in each round a head's vector x falls
// into the bucket whose direction is nearest, arg max of [x R, -x R]. With two factors of buckets there is a rotation
// for each, and the buckets are counted as first + buckets * second.
#include <string.h>

#include "runtime/ops/op.h"

namespace fovea {
namespace {

constexpr uint32_t kMostRounds = 64, kMostBuckets = 1u << 16;

Status Check(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckF32(op, 0, reporter));
  if (op.Input(0).space != op.Output().space) {
    return reporter.Fail(FOVEA_E_SHAPE, "input and output must be in one space", op.Output().space, op.Input(0).space);
  }
  const uint32_t heads = op.U32(Attribute::kHeads, 1), rounds = op.U32(Attribute::kRounds, 1);
  const uint32_t buckets = op.U32(Attribute::kBuckets, 0), more = op.U32(Attribute::kMoreBuckets, 0);
  if (heads == 0 || op.Input(0).width % heads != 0) {
    return reporter.Fail(FOVEA_E_SHAPE, "heads do not divide the width", op.Input(0).width, heads);
  }
  if (rounds == 0 || rounds > kMostRounds || op.Output().width != uint64_t{heads} * rounds) {
    return reporter.Fail(FOVEA_E_SHAPE, "output needs a column for each head and round", uint64_t{heads} * rounds,
                         op.Output().width);
  }
  const uint64_t all = uint64_t{buckets} * (more == 0 ? 1 : more);
  if (buckets == 0 || buckets % 2 != 0 || more % 2 != 0 || all > kMostBuckets) {
    return reporter.Fail(FOVEA_E_SHAPE, "number of buckets is odd or out of range", kMostBuckets, all);
  }
  if (!op.HasTensor(0)) return reporter.Fail(FOVEA_E_RECORD, "hash has no rotations");
  const uint64_t rows = uint64_t{heads} * rounds * (buckets / 2 + more / 2);
  if (rows > INT32_MAX) return reporter.Fail(FOVEA_E_SHAPE, "too many rotations", INT32_MAX, rows);
  return CheckFloats(op, 0, static_cast<uint32_t>(rows), op.Input(0).width / heads, reporter);
}

// Rows that are multiplied with a head's rotations at once: enough to spread the reading of the rotations.
constexpr uint32_t kBlockRows = 16;

// The rotations of a head, of all rounds and factors one below the other.
size_t RotationsOf(const OpView& op) {
  const uint64_t factors = uint64_t{op.U32(Attribute::kBuckets, 0)} / 2 + op.U32(Attribute::kMoreBuckets, 0) / 2;
  return static_cast<size_t>(op.U32(Attribute::kRounds, 1) * factors);
}

size_t DepthOf(const OpView& op) { return op.Input(0).width / op.U32(Attribute::kHeads, 1); }

uint64_t Scratch(const OpView& op, uint32_t tile_rows) {
  const uint64_t row = uint64_t{DepthOf(op)} + RotationsOf(op);
  return row * sizeof(float) * (tile_rows < kBlockRows ? tile_rows : kBlockRows);
}

// The bucket of `count` products: the largest, or count + the smallest if its negative is larger. The positive ones
// come first, and the first of equal ones counts. A product that is no number is never taken, unless it is the first.
uint32_t Nearest(const float* products, uint32_t count) {
  uint32_t high = 0, low = 0;
  for (uint32_t i = 1; i < count; ++i) {
    if (products[i] > products[high]) high = i;
    if (products[i] < products[low]) low = i;
  }
  return -products[low] > products[high] ? count + low : high;
}

// products[row, i] = head's part of the row . rotation i.
void Multiply(const OpRun& run, uint32_t head, uint32_t first_row, uint32_t rows, float* copied, float* products) {
  const size_t width = run.view.Input(0).width, depth = DepthOf(run.view), rotations = RotationsOf(run.view);
  const float* x = run.Input(0) + first_row * width + head * depth;
  for (size_t row = 0; row < rows; ++row) memcpy(copied + row * depth, x + row * width, depth * sizeof(float));
  GemmTile gemm = {};
  gemm.rows = rows;
  gemm.k = depth;
  gemm.x = copied;
  gemm.y_stride = rotations;
  for (size_t first = 0; first < rotations; first += kGemmTileColumns) {
    gemm.columns = rotations - first < kGemmTileColumns ? rotations - first : kGemmTileColumns;
    gemm.weights = run.view.Floats(0) + (head * rotations + first) * depth;
    gemm.y = products + first;
    run.kernels->gemm.f32(gemm);
  }
}

Status Run(const OpRun& run) {
  const OpView& op = run.view;
  const uint32_t heads = op.U32(Attribute::kHeads, 1), rounds = op.U32(Attribute::kRounds, 1);
  const uint32_t buckets = op.U32(Attribute::kBuckets, 0), more = op.U32(Attribute::kMoreBuckets, 0);
  const size_t step = size_t{buckets / 2} + more / 2, columns = size_t{heads} * rounds;
  float* copied = static_cast<float*>(run.scratch);
  for (uint32_t first = 0; first < run.rows(); first += kBlockRows) {
    const uint32_t rows = run.rows() - first < kBlockRows ? run.rows() - first : kBlockRows;
    float* products = copied + rows * DepthOf(op);
    for (uint32_t head = 0; head < heads; ++head) {
      Multiply(run, head, first, rows, copied, products);
      const float* of_round = products;
      for (uint32_t row = 0; row < rows; ++row) {
        int32_t* out = reinterpret_cast<int32_t*>(run.output) + (first + row) * columns + size_t{head} * rounds;
        for (uint32_t round = 0; round < rounds; ++round, of_round += step) {
          uint32_t bucket = Nearest(of_round, buckets / 2);
          if (more > 0) bucket += buckets * Nearest(of_round + buckets / 2, more / 2);
          out[round] = static_cast<int32_t>(bucket);
        }
      }
    }
  }
  return kOk;
}

double Flops(const OpView& op) { return 2.0 * static_cast<double>(RotationsOf(op)) * op.Input(0).width; }

constexpr OpDef Define() {
  OpDef def = {1,
               1,
               1,
               1,
               OpAttributes(Attribute::kHeads, Attribute::kRounds, Attribute::kBuckets, Attribute::kMoreBuckets),
               0,
               Check,
               Scratch,
               Run,
               Flops};
  def.output = DType::kI32;
  return def;
}

}  // namespace

extern const OpDef kHashOp = Define();

}  // namespace fovea
