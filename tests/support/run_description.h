// Runs a model description, the JSON text that `fovea convert` reads as graph.json (tools/convert/GRAPH.md), on inputs
// given by name. The shortest test of an operation: it passes the operation's name, attributes and operands through the
// converter, the blob, the planner and the session, and needs no code beside the expected numbers.
//
//   const DescriptionOutputs out = RunDescription(R"({
//     "fovea": 1,
//     "spaces": [{"name": "texts"}, {"name": "tokens", "parent": "texts"}],
//     "programs": [{
//       "name": "main",
//       "inputs": [{"name": "x", "space": "tokens", "width": 2}],
//       "operations": [{"op": "pool", "in": ["x"], "kind": "mean", "out": "y"}],
//       "outputs": ["y"]
//     }]
//   })", {{{"tokens", {2, 1}}}, {{"x", {1, 2, 3, 6, 5, 5}}}, {}});
//   EXPECT_EQ(out.at("y"), (std::vector<float>{2, 4, 5, 5}));
#ifndef FOVEA_TESTS_SUPPORT_RUN_DESCRIPTION_H_
#define FOVEA_TESTS_SUPPORT_RUN_DESCRIPTION_H_

#include <stdint.h>

#include <map>
#include <string>
#include <vector>

#include "runtime/base/dtype.h"

namespace fovea::test {

struct DescriptionInputs {
  // Lengths of the segments of each input space that has a parent, by name of the space.
  std::map<std::string, std::vector<uint32_t>> segments;
  // Entries of each input, row by row, by name: f32 and i32.
  std::map<std::string, std::vector<float>> numbers;
  std::map<std::string, std::vector<int32_t>> ids;
};

// By name of the output: its rows, concatenated. Indices of rows are numbers.
using DescriptionOutputs = std::map<std::string, std::vector<float>>;

// The outputs of the description's first program in one run, with weights of the given type. Expects the same bits for
// several tile sizes and numbers of workers. Throws tools::Failure, with the converter's message, if the description is
// refused (RefusalOfDescription returns this message), and std::out_of_range for an input or space without this name.
DescriptionOutputs RunDescription(const std::string& json, const DescriptionInputs& inputs,
                                  DType weights = DType::kF32);

// The message with which a description is refused; "" if it is accepted.
std::string RefusalOfDescription(const std::string& json);

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SUPPORT_RUN_DESCRIPTION_H_
