// Merges of byte-pair encoding as the section has them: for each piece the ways to make it.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_MERGE_LISTS_H_
#define FOVEA_TOOLS_CONVERT_TEXT_MERGE_LISTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/convert/text/model.h"

namespace fovea::tools {

// For each token of the model the ways to make it, sorted by the left piece. Where every two pieces that spell it
// together make it, one after the other in the order of the left ones' ids, that is a single record for any left piece.
// `keys`: the vocabulary's trie.
std::vector<std::vector<text::Merge>> MergeLists(const TextModel& model, const std::map<std::string, uint32_t>& keys);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_MERGE_LISTS_H_
