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
          {"/programs/0/operations/0/heads", "3",
           "operation 0 (hash -> buckets): heads do not divide the width: expected 4, found 3"},
          {"/programs/0/operations/0/heads", "0", "heads do not divide the width: expected 4, found 0"},
          {"/programs/0/operations/0/buckets", "5", "number of buckets is odd or out of range"},
          {"/programs/0/operations/0/more_buckets", "3", "number of buckets is odd or out of range"},
          {"/programs/0/operations/0/buckets", "40000",
           "number of buckets is odd or out of range: expected 65536, found 80000"},
          {"/programs/0/operations/0/buckets", "0", "number of buckets is odd or out of range"},
          {"/programs/0/operations/0/rounds", "3",
           "tensor rotations: tensor has the wrong number of rows: expected 18, found 12"},
          {"/programs/0/operations/0/tensors", "[\"table\"]", "tensor table: tensor must be f32"},
          {"/programs/0/operations/0/tensors", "[]", "too few tensors: expected 1, found 0"},
          {"/programs/0/operations/0/in", "[\"ids\"]", "input must be f32 (ids i32"},
          {"/programs/0/operations/0/chunk", "3", "hash has no attribute chunk"},
          {"/programs/0/operations/1/in", "[\"x\"]", "buckets must be the output of hash"},
          {"/programs/0/operations/2/in", "[\"x\", \"x\", \"x\"]",
           "input clusters requires attribute rounds, and rounds requires clusters"},
          {"/programs/0/operations/2/in", "[\"x\", \"x\", \"sorted\", \"sorted\"]",
           "keys and values must have one type"},
          {"/programs/0/operations/3/in", "[\"x\", \"x\", \"x\", \"sorted\"]",
           "key_bias must have one number for each key, or one for each head"},
          {"/programs/0/operations/4/in", "[\"x\", \"z\"]",
           "inputs must be in one space: expected 1, found 2 (x f32 [tokens, 4], z f32 [others, 4])"},
          {"/programs/0/operations/4/in", "[\"x\", \"buckets\"]", "input must be f32 (x f32 [tokens, 4], buckets i32"},
          {"/programs/0/operations/4/in", "[]", "too few inputs"},
          {"/programs/0/operations/4/heads", "1", "concat has no attribute heads"},
      });
}

}  // namespace
}  // namespace fovea::tools
