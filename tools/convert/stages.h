// A program cut into parts that run one after the other, each with a few of the model's tensors.
#ifndef FOVEA_TOOLS_CONVERT_STAGES_H_
#define FOVEA_TOOLS_CONVERT_STAGES_H_

#include <stdint.h>

#include <map>
#include <set>
#include <vector>

#include "tools/blob/blob.h"

namespace fovea::tools {

// Values are those of the whole program, but for those of `program`; tensors are the model's.
struct Stage {
  BlobProgram program;                  // its inputs: all of the whole program's, in their order, then `given`
  uint32_t inputs = 0;                  // of the whole program
  std::map<uint32_t, uint32_t> values;  // the stage's own
  std::vector<uint32_t> given;          // made by stages before
  std::vector<uint32_t> made;           // wanted, or given to later stages: its outputs
};

// As many stages as it takes for the tensors of each, as f32, and its wanted values, with so many rows each, to be no
// more than `most_bytes`, unless one operation needs more. What `wanted` does not depend on is left out. Rows that a
// run selects or keeps, and values other than f32, are not given: a stage that needs them makes them again. No wanted
// value is an input.
std::vector<Stage> CutIntoStages(const BlobContent& content, const BlobProgram& program,
                                 const std::set<uint32_t>& wanted, uint64_t rows, uint64_t most_bytes);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_STAGES_H_
