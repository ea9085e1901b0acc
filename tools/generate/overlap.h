// Texts of parts of a sound that overlap, as one.
#ifndef FOVEA_TOOLS_GENERATE_OVERLAP_H_
#define FOVEA_TOOLS_GENERATE_OVERLAP_H_

#include <stdint.h>

#include <vector>

namespace fovea::tools {

// Each two neighbours lie upon each other where most of their tokens are the same, for their length, and at least two;
// from the middle of what they share on the later one counts. Where they share less, one follows the other.
std::vector<int32_t> JoinOverlapping(const std::vector<std::vector<int32_t>>& parts);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_OVERLAP_H_
