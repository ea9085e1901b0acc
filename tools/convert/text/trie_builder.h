// Builds the double-array tries that runtime/text/table.h reads, and lists the keys of one.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_TRIE_BUILDER_H_
#define FOVEA_TOOLS_CONVERT_TEXT_TRIE_BUILDER_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/table.h"

namespace fovea::tools {

struct TrieKey {
  std::string_view text;
  uint32_t value = 0;
};

// Sorts keys by their bytes; of equal texts the least value stays.
void SortKeys(std::vector<TrieKey>* keys);

// `keys`: as SortKeys leaves them. Each must be non-empty and free of NUL bytes, its value below 2^31. Without keys
// there are no units.
std::vector<uint32_t> BuildSortedTrie(const std::vector<TrieKey>& keys);
std::vector<uint32_t> BuildTrie(const std::map<std::string, uint32_t>& keys);

// Calls `use` with each key and the keys that it begins with, the shortest first. `keys`: as SortKeys leaves them.
template <typename Use>
void ForEachKey(const std::vector<TrieKey>& keys, const Use& use) {
  std::vector<TrieKey> prefixes;
  for (const TrieKey& key : keys) {
    const auto begins = [&](const TrieKey& prefix) {
      return key.text.compare(0, prefix.text.size(), prefix.text) == 0;
    };
    while (!prefixes.empty() && !begins(prefixes.back())) prefixes.pop_back();
    use(key, static_cast<const std::vector<TrieKey>&>(prefixes));
    prefixes.push_back(key);
  }
}

// All keys up to `longest` bytes, sorted; fails if a key is longer.
std::vector<std::string> ListTrie(const text::Trie& trie, uint32_t longest);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_TRIE_BUILDER_H_
