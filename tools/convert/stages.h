// Splits a program into parts that run one after the other, each with a few of the model's tensors.
#ifndef FOVEA_TOOLS_CONVERT_STAGES_H_
#define FOVEA_TOOLS_CONVERT_STAGES_H_

#include <stdint.h>

#include <map>
#include <set>
#include <vector>

#include "tools/blob/blob.h"

namespace fovea::tools {

// Indices of values refer to the whole program, except in `program`; tensors are the model's.
struct Stage {
  BlobProgram program;                  // its inputs: all inputs of the whole program in order, then `given`
  uint32_t inputs = 0;                  // number of inputs of the whole program
  std::map<uint32_t, uint32_t> values;  // indices in the stage
  std::vector<uint32_t> given;          // computed by earlier stages
  std::vector<uint32_t> made;           // wanted, or read by later stages: its outputs
};

// Splits into as many stages as necessary for the tensors of each, as f32, and its wanted values, of `rows` rows each,
// to take at most `most_bytes`, unless one operation needs more. Operations that `wanted` does not depend on are
// omitted. Rows that a run selects or caches, and values other than f32, are not passed on: a stage that needs them
// recomputes them. No wanted value is an input.
std::vector<Stage> CutIntoStages(const BlobContent& content, const BlobProgram& program,
                                 const std::set<uint32_t>& wanted, uint64_t rows, uint64_t most_bytes);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_STAGES_H_
