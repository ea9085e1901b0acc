// Merges of byte-pair encoding in the form of the text section: for each piece the pairs that form it.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_MERGE_LISTS_H_
#define FOVEA_TOOLS_CONVERT_TEXT_MERGE_LISTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/convert/text/model.h"

namespace fovea::tools {

// For each token of the model, the pairs that form it, sorted by left piece. If every pair of pieces that spells the
// token forms it, in the order of the left pieces' ids, a single record covers all left pieces. `keys`: the
// vocabulary's trie.
std::vector<std::vector<text::Merge>> MergeLists(const TextModel& model, const std::map<std::string, uint32_t>& keys);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_MERGE_LISTS_H_
