// The rows that operations mix, as op_list.inc states them, agree with the definitions of the operations.
#include <gtest/gtest.h>

#include "runtime/blob/op_names.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

// The planner ends a phase before an operation that reads other rows than the ones that it writes.
TEST(Mixes, OnlyRowLocalOperationsReadTheRowsThatTheyWrite) {
  for (const Named<OpCode>& op : NamesOf<OpCode>::list) {
    const OpDef* def = FindOp(static_cast<uint32_t>(op.number));
    ASSERT_NE(def, nullptr) << op.name;
    const bool reads_other_rows = def->whole.begin < def->whole.end;
    // append reads the rows of one space and writes them to another.
    EXPECT_EQ(reads_other_rows || def->appends, !IsRowLocal(op.number)) << op.name;
    if (def->unit != Unit::kRows || def->chooses) {
      EXPECT_FALSE(IsRowLocal(op.number)) << op.name;
    }
  }
}

TEST(Mixes, AreOneOfFourKinds) {
  EXPECT_EQ(MixesOf(OpCode::kLinear), Mixes::kNothing);
  EXPECT_EQ(MixesOf(OpCode::kAttention), Mixes::kRows);
  EXPECT_EQ(MixesOf(OpCode::kLexical), Mixes::kSegments);
  EXPECT_EQ(MixesOf(OpCode::kPool), Mixes::kSpaces);
  EXPECT_EQ(MixesOf(OpCode(0)), Mixes::kSpaces) << "an unknown operation is not row-local";
}

}  // namespace
}  // namespace fovea
