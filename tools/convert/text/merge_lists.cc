#include "tools/convert/text/merge_lists.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

using text::Merge;

using Keys = std::unordered_map<std::string_view, uint32_t>;

// The left piece of every pair of pieces whose concatenation is `key`.
std::vector<uint32_t> LeftPieces(std::string_view key, const Keys& keys) {
  std::vector<uint32_t> lefts;
  for (size_t size = 1; size < key.size(); ++size) {
    const auto left = keys.find(key.substr(0, size));
    if (left != keys.end() && keys.count(key.substr(size)) != 0) lefts.push_back(left->second);
  }
  std::sort(lefts.begin(), lefts.end());
  return lefts;
}

// Replaces `ways`, sorted by left piece, by one record if that is equivalent.
void Shorten(std::string_view key, const Keys& keys, std::vector<Merge>* ways) {
  if (ways->size() < 2) return;
  const std::vector<uint32_t> lefts = LeftPieces(key, keys);
  if (lefts.size() != ways->size()) return;
  for (size_t i = 0; i < lefts.size(); ++i) {
    if ((*ways)[i].left != lefts[i] || (*ways)[i].rank != ways->front().rank + i) return;
  }
  *ways = {{text::kNoId, ways->front().rank}};
}

}  // namespace

std::vector<std::vector<Merge>> MergeLists(const TextModel& model, const std::map<std::string, uint32_t>& keys) {
  Keys quick(2 * keys.size());
  for (const auto& [key, id] : keys) quick.emplace(key, id);
  std::vector<const std::string*> spelled(model.tokens.size());
  for (const auto& [key, id] : keys) spelled[id] = &key;
  std::vector<std::vector<Merge>> lists(model.tokens.size());
  for (const TextMerge& merge : model.merges) {
    if (spelled[merge.merged] != nullptr) lists[merge.merged].push_back({merge.left, merge.rank});
  }
  for (size_t id = 0; id < lists.size(); ++id) {
    std::vector<Merge>& ways = lists[id];
    std::sort(ways.begin(), ways.end(), [](const Merge& a, const Merge& b) { return a.left < b.left; });
    for (size_t i = 1; i < ways.size(); ++i) {
      if (ways[i].left == ways[i - 1].left) Fail("two merges make \"{}\" of the same pieces", *spelled[id]);
    }
    if ((model.flags & text::kTiesByLeft) != 0 && model.continuation.empty() && !ways.empty()) {
      Shorten(*spelled[id], quick, &ways);
    }
  }
  return lists;
}

}  // namespace fovea::tools
