// Chooses the rows of a selected space in this run: ascending indices of rows of its source. Rows are chosen by value,
// segment by segment, which determines the segments of the selected space.
#include <string.h>

#include <algorithm>

#include "runtime/blob/attributes.h"
#include "runtime/blob/operands.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

struct SelectOp : Op {
  SelectKind kind = SelectKind::kNonzero;
  float threshold = 0.0f;
  uint32_t most = UINT32_MAX;  // limit on rows chosen per segment
  float share = 1.0f;          // and at most this fraction of its rows
  uint32_t front = 0;          // leading rows, always chosen
};

Status Lower(const OpView& view, Reporter& reporter, SelectOp* op) {
  const OpValue& x = op->inputs[0];
  if ((x.type != DType::kF32 && x.type != DType::kI32) || x.width != 1) {
    return reporter.Fail(FOVEA_E_SHAPE, "input must be f32 or i32 of width 1", 1, x.width);
  }
  op->output.width = 1;
  if (x.type == DType::kI32 && IdsOf(view, 0) == kBlobNone) {
    return reporter.Fail(FOVEA_E_SHAPE, "input must not be indices of rows");
  }
  const SpaceRecord& space = view.OutputSpace();
  if (space.kind != SpaceKind::kSelected || space.source != x.space || space.parent != view.InputSpace(0).parent) {
    return reporter.FailSpace("output's space must be selected from the input's", x.space, space.source);
  }
  FOVEA_TRY(ReadChoice(view, Attribute::kKind, "unknown kind of selection", reporter, &op->kind));
  if (op->kind != SelectKind::kThreshold && view.Has(Attribute::kThreshold)) {
    return reporter.Fail(FOVEA_E_RECORD, "only kind threshold has a threshold");
  }
  op->threshold = view.F32(Attribute::kThreshold, op->threshold);
  if (op->kind != SelectKind::kBest && (view.Has(Attribute::kShare) || view.Has(Attribute::kFront))) {
    return reporter.Fail(FOVEA_E_RECORD, "only kind best has share and front");
  }
  op->share = view.F32(Attribute::kShare, op->share);
  op->front = view.U32(Attribute::kFront, op->front);
  if (!(op->share > 0.0f && op->share <= 1.0f)) {
    return reporter.Fail(FOVEA_E_RECORD, "share must be above 0 and at most 1");
  }
  if (space.extra != 0) op->most = space.extra;
  return kOk;
}

// Integers that order rows by value, larger is better. NaN is ordered last, below lowest().
class Ranks {
 public:
  Ranks(const void* values, DType type) : bits_(static_cast<const uint32_t*>(values)), type_(type) {}

  uint32_t lowest() const { return type_ == DType::kI32 ? 0 : 1; }
  uint32_t operator[](uint32_t row) const {
    constexpr uint32_t kSign = 0x80000000u, kInfinity = 0x7f800000u;
    const uint32_t bits = bits_[row], magnitude = bits & ~kSign;
    if (type_ == DType::kI32) return bits ^ kSign;
    if (magnitude > kInfinity) return 0;
    return (bits & kSign) != 0 ? kSign - magnitude : kSign + magnitude;
  }

 private:
  const uint32_t* bits_;
  DType type_;
};

// Returns the lowest rank among the `count` best of rows [begin, end), count <= end - begin, and in *equal how many of
// these have exactly that rank. A radix select: time is linear in the rows and does not depend on the count.
uint32_t LeastOfBest(const Ranks& ranks, uint32_t begin, uint32_t end, uint32_t count, uint32_t* equal) {
  uint32_t prefix = 0, known = 0;  // the bits of the answer found so far, and which ones they are
  for (uint32_t shift = 32; shift > 0;) {
    shift -= 8;
    uint32_t rows_of[256] = {};
    for (uint32_t row = begin; row < end; ++row) {
      const uint32_t rank = ranks[row];
      if ((rank & known) == prefix) ++rows_of[(rank >> shift) & 255];
    }
    uint32_t digit = 255;
    for (; rows_of[digit] < count; --digit) count -= rows_of[digit];
    prefix |= digit << shift;
    known |= uint32_t{255} << shift;
  }
  *equal = count;
  return prefix;
}

// The most rows chosen of a segment of `rows` rows. The product is rounded to f32 first: 0.1 of 10 rows is 1, although
// the f32 nearest to 0.1 is slightly more.
uint32_t MostOf(const SelectOp& op, uint32_t rows) {
  if (op.share == 1.0f) return std::min(op.most, rows);  // f32 cannot represent every row count
  const float share = op.share * static_cast<float>(rows);
  const auto whole = static_cast<uint32_t>(share);
  return std::min(op.most, static_cast<float>(whole) < share ? whole + 1 : whole);
}

// The same fraction of every segment is this fraction of all rows, plus up to one row per segment from rounding up and
// the rounding error of f32.
SpaceLimits MostChosen(const SelectOp& op, const SpaceLimits& input) {
  SpaceLimits chosen = input;
  chosen.max_segment_rows = MostOf(op, input.max_segment_rows);
  if (op.share == 1.0f) return chosen;
  const auto share = static_cast<uint32_t>(op.share * static_cast<float>(input.max_rows));
  const uint64_t most = uint64_t{share} + input.max_rows / (1u << 22) + 1 + input.max_segments;
  if (most < input.max_rows) chosen.max_rows = static_cast<uint32_t>(most);
  return chosen;
}

// Writes the chosen rows of [begin, end) to `out`, the `front` rows first, and returns their number.
uint32_t ChooseBest(const SelectOp& op, const Ranks& ranks, uint32_t begin, uint32_t end, int32_t* out) {
  uint32_t most = MostOf(op, end - begin), count = 0, eligible = 0;
  for (; count < op.front && most > 0; ++count, --most) out[count] = static_cast<int32_t>(begin++);
  if (most == 0) return count;
  for (uint32_t row = begin; row < end; ++row) eligible += ranks[row] >= ranks.lowest() ? 1 : 0;
  uint32_t least = ranks.lowest(), equal = eligible;
  if (eligible > most) least = LeastOfBest(ranks, begin, end, most, &equal);
  for (uint32_t row = begin; row < end; ++row) {
    const uint32_t rank = ranks[row];
    if (rank < least || (rank == least && equal == 0)) continue;
    equal -= rank == least ? 1 : 0;
    out[count++] = static_cast<int32_t>(row);
  }
  return count;
}

bool Qualifies(const SelectOp& op, const OpRun& run, uint32_t row) {
  const bool integer = op.inputs[0].type == DType::kI32;
  const double value = integer ? run.Indices(0)[row] : run.Input(0)[row];
  return op.kind == SelectKind::kThreshold ? value > op.threshold : value != 0;
}

uint32_t CountQualified(const SelectOp& op, const OpRun& run, uint32_t begin, uint32_t end) {
  uint32_t count = 0;
  for (uint32_t row = begin; row < end; ++row) count += Qualifies(op, run, row) ? 1 : 0;
  return count;
}

// Never drops rows silently.
Status FailFull(const SelectOp& op, const OpRun& run, uint32_t segment) {
  const Segments& source = run.SegmentsOf(op.inputs[0]);
  const uint32_t qualified = CountQualified(op, run, source.offsets[segment], source.offsets[segment + 1]);
  return run.Fail(FOVEA_E_ROWS, "more rows qualify than the selected space takes of a segment", op.most, qualified,
                  segment);
}

Status Run(const SelectOp& op, const OpRun& run) {
  const Segments& source = run.SegmentsOf(op.inputs[0]);
  const SelectKind kind = op.kind;
  const uint32_t most = op.most;
  const Ranks ranks(run.inputs[0], op.inputs[0].type);
  int32_t* out = run.indices_made();
  run.offsets[0] = 0;
  for (uint32_t s = 0; s < source.count; ++s) {
    const uint32_t begin = source.offsets[s], end = source.offsets[s + 1];
    uint32_t count = 0;
    int32_t* rows = out + run.offsets[s];
    if (kind == SelectKind::kBest) {
      count = ChooseBest(op, ranks, begin, end, rows);
    } else {
      for (uint32_t row = begin; row < end; ++row) {
        if (kind != SelectKind::kFirst && !Qualifies(op, run, row)) continue;
        if (count == most && kind == SelectKind::kFirst) break;
        if (count == most) return FailFull(op, run, s);
        rows[count++] = static_cast<int32_t>(row);
      }
    }
    run.offsets[s + 1] = run.offsets[s] + count;
  }
  return kOk;
}

constexpr Attribute kAttributes[] = {Attribute::kKind, Attribute::kThreshold, Attribute::kShare, Attribute::kFront};

}  // namespace

extern const OpDef kSelectOp = DefineOp<OpCode::kSelect, Lower, Run>([](OpDef& def) {
  def.attributes = kAttributes;
  def.output = DType::kI32;
  def.unit = Unit::kAll;
  def.chooses = true;
  def.most_chosen = OfOp<MostChosen>::Call;
});

}  // namespace fovea
