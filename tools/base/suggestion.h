// A likely meaning of a word that is none of those expected.
#ifndef FOVEA_TOOLS_BASE_SUGGESTION_H_
#define FOVEA_TOOLS_BASE_SUGGESTION_H_

#include <string>
#include <vector>

namespace fovea::tools {

// "; did you mean 'convert'?", or "" if no candidate is near: at most a third of its characters after leading hyphens
// differ, counted as insertions, deletions, replacements and swaps of neighbours (optimal string alignment), or `given`
// begins it with at least three characters.
std::string Suggestion(const std::string& given, const std::vector<std::string>& candidates);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_SUGGESTION_H_
