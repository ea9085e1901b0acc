// A program that is a part of another one, cut at values that become its inputs and outputs. It has the same
// operations, so both share every tensor, and a value has the same bits in both.
#ifndef FOVEA_TOOLS_CONVERT_PART_H_
#define FOVEA_TOOLS_CONVERT_PART_H_

#include <vector>

#include "tools/blob/blob.h"
#include "tools/convert/description.h"

namespace fovea::tools {

// Fails if values of `part` cannot be its inputs or outputs.
BlobProgram PartOf(const BlobProgram& whole, const Program& part, const std::vector<BlobSpace>& spaces);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_PART_H_
