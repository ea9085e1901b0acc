// Locality-sensitive hashing by random rotations (Reformer, arXiv 2001.04451): in each round a head's vector x falls
// into the bucket whose direction is nearest, arg max of [x R, -x R]. With two factors of buckets there is a rotation
// for each, and the buckets are counted as first + buckets * second.
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

// Which of `count` rows of `table` has the largest product with x, or count + which one if its negative is larger.
uint32_t Nearest(const float* x, const float* table, uint32_t count, uint32_t depth) {
  uint32_t best = 0;
  float largest = 0;
  bool first = true;
  // The positive ones come first, and the first of equal ones counts.
  for (uint32_t i = 0; i < 2 * count; ++i) {
    const float* row = table + size_t{i % count} * depth;
    float product = 0;
    for (uint32_t j = 0; j < depth; ++j) product += x[j] * row[j];
    if (i >= count) product = -product;
    if (first || product > largest) best = i, largest = product;
    first = false;
  }
  return best;
}

Status Run(const OpRun& run) {
  const OpView& op = run.view;
  const uint32_t heads = op.U32(Attribute::kHeads, 1), rounds = op.U32(Attribute::kRounds, 1);
  const uint32_t buckets = op.U32(Attribute::kBuckets, 0), more = op.U32(Attribute::kMoreBuckets, 0);
  const uint32_t width = op.Input(0).width, depth = width / heads;
  const size_t step = size_t{buckets / 2 + more / 2} * depth;
  int32_t* out = reinterpret_cast<int32_t*>(run.output);
  for (uint32_t row = 0; row < run.rows(); ++row) {
    const float* table = op.Floats(0);
    for (uint32_t head = 0; head < heads; ++head) {
      const float* x = run.Input(0) + size_t{row} * width + size_t{head} * depth;
      for (uint32_t round = 0; round < rounds; ++round, table += step) {
        uint32_t bucket = Nearest(x, table, buckets / 2, depth);
        if (more > 0) bucket += buckets * Nearest(x, table + size_t{buckets / 2} * depth, more / 2, depth);
        *out++ = static_cast<int32_t>(bucket);
      }
    }
  }
  return kOk;
}

double Flops(const OpView& op) {
  const double columns = op.U32(Attribute::kBuckets, 0) + op.U32(Attribute::kMoreBuckets, 0);
  return 2.0 * op.Input(0).width * op.U32(Attribute::kRounds, 1) * columns;
}

constexpr OpDef Define() {
  OpDef def = {
      "hash", 1,     1,
      1,      1,     OpAttributes(Attribute::kHeads, Attribute::kRounds, Attribute::kBuckets, Attribute::kMoreBuckets),
      0,      Check, nullptr,
      Run,    Flops};
  def.output = DType::kI32;
  return def;
}

}  // namespace

extern const OpDef kHashOp = Define();

}  // namespace fovea
