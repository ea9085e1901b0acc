// A program that is a part of another one: cut off at values, which become its inputs and outputs. It has the other's
// operations, so both share every tensor, and a value has the same bits whichever of them makes it.
#ifndef FOVEA_TOOLS_CONVERT_PART_H_
#define FOVEA_TOOLS_CONVERT_PART_H_

#include <vector>

#include "tools/blob/blob.h"
#include "tools/convert/description.h"

namespace fovea::tools {

// Fails with what the values of `part` are not.
BlobProgram PartOf(const BlobProgram& whole, const Program& part, const std::vector<BlobSpace>& spaces);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_PART_H_
