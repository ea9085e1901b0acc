// Joins texts of overlapping chunks of a sound.
#ifndef FOVEA_TOOLS_GENERATE_OVERLAP_H_
#define FOVEA_TOOLS_GENERATE_OVERLAP_H_

#include <stdint.h>

#include <vector>

namespace fovea::tools {

// Two neighbours are overlaid so that the largest share of overlapping tokens match, at least two of them; the later
// text counts from the middle of the overlap on. If no overlay has that many matches, they are concatenated.
std::vector<int32_t> JoinOverlapping(const std::vector<std::vector<int32_t>>& parts);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_OVERLAP_H_
