// Merges of byte-pair encoding in the form of the text section: for each piece the pairs that form it.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_MERGE_LISTS_H_
#define FOVEA_TOOLS_CONVERT_TEXT_MERGE_LISTS_H_

#include <cstdint>
#include <vector>

#include "tools/convert/text/model.h"
#include "tools/convert/text/trie_builder.h"

namespace fovea::tools {

// The pairs that form token `id` are `merges` [offsets[id], offsets[id + 1]), sorted by left piece.
struct MergeTable {
  std::vector<uint32_t> offsets;
  std::vector<text::Merge> merges;
};

// If every pair of pieces that spells a token forms it, in the order of the left pieces' ids, a single record covers
// all left pieces. `keys`: the sorted keys of the vocabulary's trie.
MergeTable MergeLists(const TextModel& model, const std::vector<TrieKey>& keys);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_MERGE_LISTS_H_
