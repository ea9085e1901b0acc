// Operations that make a row of the same row of each input.
#include <algorithm>

#include "runtime/blob/attributes.h"
#include "tools/convert/rules/check.h"

namespace fovea::tools {
namespace {

void Embed(Check& c) {
  if (c.in_count() != c.tensor_count()) Fail("{} ids and {} tables", c.in_count(), c.tensor_count());
  for (size_t i = 0; i < c.in_count(); ++i) {
    if (!c.HoldsIds(i)) Fail("{} does not hold ids", c.in(i).name);
    if (!c.Has(i)) Fail("table {} is missing", i);
    c.SameSpace(0, i);
    c.Shape(i, c.tensor(i).rows, c.tensor(0).width);
  }
  c.Real(Attribute::kScale);
  c.MayBeQuantized(Matrices::kTables);
  c.Result(c.in(0).space, c.tensor(0).width);
}

void Position(Check& c) {
  const uint32_t offset = c.Number(Attribute::kOffset, 0);
  if (c.Has(0)) {
    c.Shape(0, c.tensor(0).rows, c.in(0).width);
    if (offset >= c.tensor(0).rows) Fail("offset lies after the table's {} rows", c.tensor(0).rows);
  } else if (c.in(0).width != 1) {
    Fail("{} is {} wide; positions as numbers have the width 1", c.in(0).name, c.in(0).width);
  }
  c.Result(c.in(0).space, c.in(0).width);
}

void Linear(Check& c) {
  c.Shape(0, c.tensor(0).rows, c.in(0).width);
  c.Vector(1, c.tensor(0).rows);
  c.Choice<Activation>(Attribute::kActivation, Activation::kNone);
  c.MayBeQuantized(Matrices::kWeights);
  c.Result(c.in(0).space, c.tensor(0).rows);
}

void Experts(Check& c) {
  c.SameSpace(0, 1);
  const bool apart = c.Choice<ExpertsKind>(Attribute::kKind, ExpertsKind::kApart) == ExpertsKind::kApart;
  const uint32_t experts = c.Number(Attribute::kExperts, std::nullopt),
                 chosen = c.Number(Attribute::kTopK, std::nullopt);
  if (experts == 0 || c.in(1).width != experts) {
    Fail("{} is {} wide, which is not a score for each of {} experts", c.in(1).name, c.in(1).width, experts);
  }
  if (chosen == 0 || chosen > experts) Fail("{} of {} experts cannot be chosen", chosen, experts);
  if (c.tensor(0).rows % experts != 0) {
    Fail("tensor {} has {} rows, which {} experts cannot share", c.tensor(0).name, c.tensor(0).rows, experts);
  }
  if (!apart && c.in(0).width % chosen != 0) {
    Fail("{} is {} wide, which is not {} parts", c.in(0).name, c.in(0).width, chosen);
  }
  c.Shape(0, c.tensor(0).rows, apart ? c.in(0).width : c.in(0).width / chosen);
  c.Vector(1, c.tensor(0).rows);
  c.MayBeQuantized(Matrices::kWeights);
  c.Result(c.in(0).space, uint64_t{c.tensor(0).rows / experts} * (apart ? chosen : 1));
}

void Norm(Check& c) {
  const uint32_t heads = c.Number(Attribute::kHeads, 1);
  if (heads == 0 || c.in(0).width % heads != 0) {
    Fail("{} is {} wide, which is not {} heads", c.in(0).name, c.in(0).width, heads);
  }
  const uint32_t weights = c.Has(0) && c.tensor(0).rows == heads ? heads : 1;  // one for all, or one for each
  for (size_t i = 0; i < 2; ++i) {
    if (c.Has(i)) c.Shape(i, weights, c.in(0).width / heads);
  }
  const bool rms = c.Choice<NormKind>(Attribute::kKind, NormKind::kLayer) == NormKind::kRms;
  if (rms && c.Has(1)) Fail("rms norm has no bias");
  c.Real(Attribute::kEpsilon, true);
  if (rms) c.Real(Attribute::kWeightOffset);
  c.Result(c.in(0).space, c.in(0).width);
}

void Add(Check& c) {
  c.SameShape(0, 1);
  c.Result(c.in(0).space, c.in(0).width);
}

void Activate(Check& c) {
  c.Choice<Activation>(Attribute::kActivation, std::nullopt);
  c.Real(Attribute::kLimit);
  c.Real(Attribute::kFloor);
  c.Result(c.in(0).space, c.in(0).width);
}

// One of both may be a number for all columns of the other.
void Gate(Check& c) {
  c.SameSpace(0, 1);
  if (c.in(0).width != 1 && c.in(1).width != 1) c.SameWidth(0, 1);
  c.Choice<Activation>(Attribute::kActivation, std::nullopt);
  c.Real(Attribute::kLimit);
  c.Real(Attribute::kShift);
  c.Result(c.in(0).space, std::max(c.in(0).width, c.in(1).width));
}

void Rotate(Check& c) {
  const uint32_t heads = c.Number(Attribute::kHeads, std::nullopt);
  if (heads == 0 || c.in(0).width % heads != 0)
    Fail("{} is {} wide, which is not {} heads", c.in(0).name, c.in(0).width, heads);
  if (c.Has(0) == c.Has(1)) Fail("rotate takes either a table or frequencies");
  const uint64_t dims = c.Has(0) ? c.tensor(0).width : uint64_t{2} * c.tensor(1).width;
  if (dims % 2 != 0 || dims > c.in(0).width / heads) {
    Fail("{} of {} columns cannot rotate heads of {}", c.Has(0) ? "a table" : "frequencies",
         c.tensor(c.Has(0) ? 0 : 1).width, c.in(0).width / heads);
  }
  const uint32_t offset = c.Number(Attribute::kOffset, 0);
  if (c.Has(0) && offset >= c.tensor(0).rows) Fail("offset lies after the table's {} rows", c.tensor(0).rows);
  c.Flag(Attribute::kInterleaved);
  if (c.in_count() > 1) {
    c.SameSpace(0, 1);
    if ((c.in(1).type == DType::kI32 && !c.HoldsIds(1)) || c.in(1).width != 1) {
      Fail("{} holds no positions: ids or numbers, one for each row", c.in(1).name);
    }
  }
  if (c.Has(1)) {
    for (size_t i = 1; i <= 2; ++i) {
      if (c.Has(i)) c.Shape(i, 1, static_cast<uint32_t>(dims / 2));
    }
    c.Real(Attribute::kScale);
    c.Real(Attribute::kStretch);
    c.Number(Attribute::kShortUpTo, UINT32_MAX);
  }
  c.Result(c.in(0).space, c.in(0).width);
}

void Normalize(Check& c) {
  if (c.in_count() > 1) {
    c.SameSpace(0, 1);
    if (c.in(1).width != 1) Fail("{} is {} wide, 1 is needed", c.in(1).name, c.in(1).width);
  }
  c.Real(Attribute::kEpsilon, true);
  c.Choice<NormClamp>(Attribute::kClamp, NormClamp::kLength);
  c.Result(c.in(0).space, c.in(0).width);
}

void RowLocal(Check& c) { c.Result(c.in(0).space, c.in(0).width); }

void Softmax(Check& c) {
  c.Flag(Attribute::kLog);
  RowLocal(c);
}

void ScaleRule(Check& c) {
  c.Real(Attribute::kScale, true);
  c.Real(Attribute::kShift);
  RowLocal(c);
}

void Concat(Check& c) {
  uint64_t width = 0;
  for (size_t i = 0; i < c.in_count(); ++i) {
    c.SameSpace(0, i);
    width += c.in(i).width;
  }
  c.Result(c.in(0).space, width);
}

void SliceRule(Check& c) {
  const uint32_t begin = c.Number(Attribute::kBegin, 0), width = c.Number(Attribute::kWidth, std::nullopt);
  if (begin > c.in(0).width || width > c.in(0).width - begin) {
    Fail("{} is {} wide, it has no columns {} to {}", c.in(0).name, c.in(0).width, begin, uint64_t{begin} + width);
  }
  c.Result(c.in(0).space, width);
}

}  // namespace

extern const Rule kEmbedRule = {1, kMaxInputs, 1, kMaxTensors, Embed, ~0u};
extern const Rule kPositionRule = {1, 1, 0, 1, Position};
extern const Rule kLinearRule = {1, 1, 1, 2, Linear};
extern const Rule kExpertsRule = {2, 2, 1, 2, Experts, 0, 0, 0, 0, 0, 1u << 1};
extern const Rule kNormRule = {1, 1, 0, 2, Norm};
extern const Rule kAddRule = {2, 2, 0, 0, Add};
extern const Rule kActivateRule = {1, 1, 0, 0, Activate};
extern const Rule kGateRule = {2, 2, 0, 0, Gate};
extern const Rule kRotateRule = {1, 2, 0, 3, Rotate, 2u};
extern const Rule kNormalizeRule = {1, 2, 0, 0, Normalize};
extern const Rule kSoftmaxRule = {1, 1, 0, 0, Softmax};
extern const Rule kScaleRule = {1, 1, 0, 0, ScaleRule};
extern const Rule kConcatRule = {1, kMaxInputs, 0, 0, Concat};
extern const Rule kSliceRule = {1, 1, 0, 0, SliceRule};

}  // namespace fovea::tools
