// Recurrent layers, by segment or step by step.
#include "runtime/blob/attributes.h"
#include "tools/convert/rules/check.h"

namespace fovea::tools {
namespace {

// What both operations know. Returns the width of the state.
uint64_t TakeCell(Check& c) {
  const CellKind kind = c.Choice<CellKind>(Attribute::kCell, std::nullopt);
  const bool lstm = kind == CellKind::kLstm, rnn = kind == CellKind::kRnn;
  if (kind == CellKind::kGru) c.Flag(Attribute::kResetAfter, true);
  const Activation activation =
      c.Choice<Activation>(Attribute::kActivation, rnn ? Activation::kTanh : Activation::kSigmoid);
  if (rnn && activation != Activation::kTanh && activation != Activation::kRelu) Fail("an rnn has tanh or relu");
  if (!rnn && activation != Activation::kSigmoid && activation != Activation::kHardSigmoid) {
    Fail("gates are sigmoid or hard_sigmoid");
  }
  const uint32_t width = c.tensor(0).width, parts = rnn ? 1 : lstm ? 4 : 3;
  const uint64_t gates = uint64_t{parts} * width;
  if (c.Has(2) && !lstm) Fail("only an lstm has peepholes");
  if (c.Has(2)) c.Shape(2, 3, width);
  if (c.tensor(0).rows != gates || c.in(0).width != gates) {
    Fail("{} is {} wide and tensor {} is [{}, {}]; {} gates of {} need [{}, {}]", c.in(0).name, c.in(0).width,
         c.tensor(0).name, c.tensor(0).rows, width, parts, width, gates, width);
  }
  c.Vector(1, c.tensor(0).rows);
  c.MayBeQuantized(Matrices::kWeights);
  return lstm ? uint64_t{2} * width : width;
}

void Cell(Check& c) {
  const uint64_t state = TakeCell(c);
  c.SameSpace(0, 1);
  if (c.in(1).width != state) Fail("{} is {} wide, the state is {}", c.in(1).name, c.in(1).width, state);
  c.Result(c.in(0).space, state);
}

void Recurrent(Check& c) {
  const uint64_t state = TakeCell(c);
  const uint32_t width = c.tensor(0).width;
  const bool initial = c.Flag(Attribute::kInitial), masked = c.Flag(Attribute::kMasked);
  c.Flag(Attribute::kReverse);
  const size_t inputs = 1 + (initial ? 1 : 0) + (masked ? 1 : 0);
  if (c.in_count() != inputs) Fail("{} inputs, with these attributes {} are needed", c.in_count(), inputs);
  if (initial) {
    if (c.in(1).type != DType::kF32) Fail("{} holds ids", c.in(1).name);
    if (c.in(1).space != c.Parent(c.in(0).space)) {
      Fail("{} is not in the parent of space {}", c.in(1).name, c.spaces()[c.in(0).space].name);
    }
    if (c.in(1).width != state) Fail("{} is {} wide, the state is {}", c.in(1).name, c.in(1).width, state);
  }
  if (masked) {
    c.SameSpace(0, inputs - 1);
    const BlobValue& keep = c.in(inputs - 1);
    if (keep.width != 1) Fail("{} is {} wide, 1 is needed", keep.name, keep.width);
  }
  const bool whole = c.Choice<CellOutput>(Attribute::kOutput, CellOutput::kHidden) == CellOutput::kState;
  c.Result(c.in(0).space, whole ? state : width);
}

}  // namespace

extern const Rule kRecurrentRule = {1, 3, 1, 3, Recurrent, ~1u};
extern const Rule kCellRule = {2, 2, 1, 3, Cell};

}  // namespace fovea::tools
