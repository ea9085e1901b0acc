// Descriptions with hashed and sorted rows, chunks and concatenated values: what they become and what is refused.
#include <gtest/gtest.h>

#include "tests/convert/graph_support.h"
#include "tests/support/second_reader.h"
#include "tools/base/fail.h"
#include "tools/convert/convert.h"
#include "tools/convert/graph_json.h"

namespace fovea::tools {
namespace {

Json Clustered() {
  return Json::parse(R"({
    "fovea": 1,
    "spaces": [{"name": "texts"}, {"name": "tokens", "parent": "texts"}, {"name": "others", "parent": "texts"}],
    "constants": [
      {"name": "rotations",
       "values": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24],
       "reshape": [12, 2]},
      {"name": "table", "indices": [[0, 1]]}
    ],
    "programs": [{
      "name": "main",
      "inputs": [{"name": "x", "space": "tokens", "type": "f32", "width": 4},
                 {"name": "z", "space": "others", "type": "f32", "width": 4},
                 {"name": "ids", "space": "tokens", "type": "i32"}],
      "operations": [
        {"op": "hash", "in": ["x"], "tensors": ["rotations"], "out": "buckets", "heads": 2, "rounds": 2, "buckets": 4,
         "more_buckets": 2},
        {"op": "sort", "in": ["buckets"], "out": "sorted"},
        {"op": "attention", "in": ["x", "x", "x", "sorted"], "out": "seen", "heads": 2, "rounds": 2, "chunk": 4,
         "chunks_before": 1, "causal": true, "self_score": -1e5},
        {"op": "attention", "in": ["x", "x", "x"], "out": "near", "heads": 1, "chunk": 4, "chunks_before": 1},
        {"op": "concat", "in": ["x", "seen", "near"], "out": "y"}
      ],
      "outputs": ["y"]
    }]
  })");
}

std::vector<uint8_t> Build(const Json& json) {
  ConvertReport report;
  return BuildBlob(ParseGraph(json.dump(), ".", "graph"), ConvertOptions(), report);
}

TEST(HashRules, BecomeWhatTheySay) {
  const test::ReadBlob blob = test::SecondReader(Build(Clustered()));
  const test::ReadProgram& program = blob.programs.at(0);
  const uint32_t widths[] = {4, 8, 4, 4, 12};
  for (size_t i = 0; i < std::size(widths); ++i) EXPECT_EQ(program.values.at(3 + i).width, widths[i]) << i;
  EXPECT_EQ(program.operations.at(0).attributes.at(31), 4u);
  EXPECT_EQ(program.operations.at(0).attributes.at(32), 2u);
  EXPECT_EQ(program.operations.at(2).attributes.at(22), 2u);
  EXPECT_EQ(program.operations.at(3).attributes.count(22), 0u);
  EXPECT_EQ(program.operations.at(4).code, 22u);
}

TEST(HashRules, MistakesAreNamedWithTheirPlace) {
  ExpectRefused(
      Clustered(),
      {
          {"/programs/0/operations/0/heads", "3", "operation 0 (hash -> buckets): x is 4 wide, which is not 3 heads"},
          {"/programs/0/operations/0/heads", "0", "x is 4 wide, which is not 0 heads"},
          {"/programs/0/operations/0/buckets", "5", "5 and 2 buckets are not even"},
          {"/programs/0/operations/0/more_buckets", "3", "4 and 3 buckets are not even"},
          {"/programs/0/operations/0/buckets", "40000", "40000 x 2 buckets are too many"},
          {"/programs/0/operations/0/buckets", "0", "0 and 2 buckets are not even"},
          {"/programs/0/operations/0/rounds", "3", "tensor rotations is [12, 2], [18, 2] is needed"},
          {"/programs/0/operations/0/tensors", "[\"table\"]", "tensor table holds indices"},
          {"/programs/0/operations/0/tensors", "[]", "0 tensors, 1 to 1 are needed"},
          {"/programs/0/operations/0/in", "[\"ids\"]", "ids holds ids, which hash does not take there"},
          {"/programs/0/operations/0/chunk", "3", "hash has no attribute chunk"},
          {"/programs/0/operations/1/in", "[\"x\"]", "x holds no buckets"},
          {"/programs/0/operations/2/in", "[\"x\", \"x\", \"x\"]",
           "attention with these attributes takes 4 inputs, not 3"},
          {"/programs/0/operations/2/in", "[\"x\", \"x\", \"sorted\", \"sorted\"]",
           "sorted holds ids, which attention"},
          {"/programs/0/operations/3/in", "[\"x\", \"x\", \"x\", \"sorted\"]", "takes 3 inputs, not 4"},
          {"/programs/0/operations/4/in", "[\"x\", \"z\"]", "x has rows of space tokens, z of space others"},
          {"/programs/0/operations/4/in", "[\"x\", \"buckets\"]",
           "buckets holds ids, which concat does not take there"},
          {"/programs/0/operations/4/in", "[]", "0 inputs, 1 to 32 are needed"},
          {"/programs/0/operations/4/heads", "1", "concat has no attribute heads"},
      });
}

}  // namespace
}  // namespace fovea::tools
