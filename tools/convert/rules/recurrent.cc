// Recurrent layers, by segment or step by step.
#include "tools/convert/rules/check.h"

namespace fovea::tools {
namespace {

const Names kCells = {"gru", "lstm"};
constexpr uint32_t kSigmoid = 6, kHardSigmoid = 8;

// What both operations know. Returns the width of the state.
uint64_t TakeCell(Check& c) {
  const bool lstm = c.Choice(Attribute::kCell, kCells, std::nullopt) == 1;
  if (!lstm) {
    const uint32_t after = c.Number(Attribute::kResetAfter, 1);
    if (after > 1) Fail("reset_after is 0 or 1, not {}", after);
  }
  const uint32_t gate = c.Choice(Attribute::kActivation, kActivations, kSigmoid);
  if (gate != kSigmoid && gate != kHardSigmoid) Fail("gates are sigmoid or hard_sigmoid");
  const uint32_t width = c.tensor(0).width;
  const uint64_t gates = uint64_t{lstm ? 4u : 3u} * width;
  if (c.tensor(0).rows != gates || c.in(0).width != gates) {
    Fail("{} is {} wide and tensor {} is [{}, {}]; {} gates of {} need [{}, {}]", c.in(0).name, c.in(0).width,
         c.tensor(0).name, c.tensor(0).rows, width, lstm ? 4 : 3, width, gates, width);
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

}  // namespace

extern const Rule kCellRule = {2, 2, 1, 2, Cell};

}  // namespace fovea::tools
