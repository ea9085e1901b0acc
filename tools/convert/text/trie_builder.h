// Builds the double-array tries that runtime/text/table.h reads, and lists the keys of one.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_TRIE_BUILDER_H_
#define FOVEA_TOOLS_CONVERT_TEXT_TRIE_BUILDER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/text/table.h"

namespace fovea::tools {

// Keys must be non-empty and free of NUL bytes, values below 2^31. Without keys there are no units.
std::vector<uint32_t> BuildTrie(const std::map<std::string, uint32_t>& keys);

// All keys up to `longest` bytes with their values; fails if a key is longer.
std::map<std::string, uint32_t> ListTrie(const text::Trie& trie, uint32_t longest);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_TRIE_BUILDER_H_
