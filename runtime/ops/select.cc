// Which rows of a space a selected space has in this run: their indices in the source, ascending. The rows of a value
// are chosen segment by segment; the segments of the selected space follow from that.
#include <string.h>

#include "runtime/ops/op.h"

namespace fovea {
namespace {

Status Check(const OpView& op, Reporter& reporter) {
  const DType type = DType(op.Input(0).type);
  if ((type != DType::kF32 && type != DType::kI32) || op.Input(0).width != 1 || op.Output().width != 1) {
    return reporter.Fail(FOVEA_E_SHAPE, "select reads f32 or i32 of width 1 and makes indices of width 1");
  }
  if (type == DType::kI32 && IdsOf(op, 0) == kBlobNone) {
    return reporter.Fail(FOVEA_E_SHAPE, "select does not read indices");
  }
  if (op.OutputSpace().kind != SpaceKind::kSelected || op.OutputSpace().source != op.Input(0).space ||
      op.OutputSpace().parent != op.InputSpace(0).parent) {
    return reporter.Fail(FOVEA_E_SHAPE, "output's space must be selected from the input's", op.Input(0).space,
                         op.OutputSpace().source);
  }
  FOVEA_TRY(CheckChoice<SelectKind>(op, Attribute::kKind, "unknown kind of selection", reporter));
  if (op.Choice(Attribute::kKind, SelectKind::kNonzero) != SelectKind::kThreshold && op.Has(Attribute::kThreshold)) {
    return reporter.Fail(FOVEA_E_RECORD, "only a selection of kind threshold has one");
  }
  return kOk;
}

// Numbers that order rows by their values, larger is better. NaN comes last: below lowest().
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

// The least rank among the `count` best of rows [begin, end), of which there are at least as many, and in *equal how
// many rows of just that rank are among them. Digit by digit: time grows with the rows alone, whatever the count.
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

// Writes the chosen rows of [begin, end) to `out` and returns how many they are.
uint32_t ChooseBest(const Ranks& ranks, uint32_t begin, uint32_t end, uint32_t most, int32_t* out) {
  uint32_t eligible = 0;
  for (uint32_t row = begin; row < end; ++row) eligible += ranks[row] >= ranks.lowest() ? 1 : 0;
  uint32_t least = ranks.lowest(), equal = eligible, count = 0;
  if (eligible > most) least = LeastOfBest(ranks, begin, end, most, &equal);
  for (uint32_t row = begin; row < end; ++row) {
    const uint32_t rank = ranks[row];
    if (rank < least || (rank == least && equal == 0)) continue;
    equal -= rank == least ? 1 : 0;
    out[count++] = static_cast<int32_t>(row);
  }
  return count;
}

bool Qualifies(const OpRun& run, SelectKind kind, float threshold, uint32_t row) {
  const bool integer = DType(run.view.Input(0).type) == DType::kI32;
  const double value = integer ? run.Indices(0)[row] : run.Input(0)[row];
  return kind == SelectKind::kThreshold ? value > threshold : value != 0;
}

Status Run(const OpRun& run) {
  const OpView& op = run.view;
  const Segments& source = run.SegmentsOf(op.Input(0));
  const SelectKind kind = op.Choice(Attribute::kKind, SelectKind::kNonzero);
  const float threshold = op.F32(Attribute::kThreshold, 0.0f);
  const uint32_t most = op.OutputSpace().extra == 0 ? UINT32_MAX : op.OutputSpace().extra;
  const Ranks ranks(run.inputs[0], DType(op.Input(0).type));
  int32_t* out = reinterpret_cast<int32_t*>(run.output);
  run.offsets[0] = 0;
  for (uint32_t s = 0; s < source.count; ++s) {
    const uint32_t begin = source.offsets[s], end = source.offsets[s + 1];
    uint32_t count = 0;
    int32_t* rows = out + run.offsets[s];
    if (kind == SelectKind::kBest) {
      count = ChooseBest(ranks, begin, end, most, rows);
    } else {
      for (uint32_t row = begin; row < end; ++row) {
        if (kind != SelectKind::kFirst && !Qualifies(run, kind, threshold, row)) continue;
        if (count == most && kind == SelectKind::kFirst) break;
        if (count == most) return FOVEA_E_ROWS;  // to drop some without a word would be wrong
        rows[count++] = static_cast<int32_t>(row);
      }
    }
    run.offsets[s + 1] = run.offsets[s] + count;
  }
  return kOk;
}

constexpr OpDef Define() {
  OpDef def = {1,       1,     0,       0,   OpAttributes(Attribute::kKind, Attribute::kThreshold),
               1u << 0, Check, nullptr, Run, OneFlopPerElement};
  def.output = DType::kI32;
  def.unit = Unit::kAll;
  def.chooses = true;
  return def;
}

}  // namespace

extern const OpDef kSelectOp = Define();

}  // namespace fovea
