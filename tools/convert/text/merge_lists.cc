#include "tools/convert/text/merge_lists.h"

#include <algorithm>
#include <string_view>

#include "tools/base/fail.h"
#include "tools/convert/text/string_index.h"

namespace fovea::tools {
namespace {

using text::Merge;

class Lists {
 public:
  Lists(const TextModel& model, const std::vector<TrieKey>& keys)
      : model_(model), keys_(keys), spelled_(model.tokens.size()), shortened_(model.tokens.size()) {
    for (const TrieKey& key : keys) spelled_[key.value] = true;
  }

  MergeTable Run() {
    Collect();
    if ((model_.flags & text::kTiesByLeft) != 0 && model_.continuation.empty()) Shorten();
    MergeTable kept;
    kept.merges.reserve(all_.merges.size());
    kept.offsets.reserve(all_.offsets.size());
    for (size_t id = 0; id < spelled_.size(); ++id) {
      kept.offsets.push_back(static_cast<uint32_t>(kept.merges.size()));
      if (shortened_[id]) {
        kept.merges.push_back({text::kNoId, Begin(id)->rank});
      } else {
        kept.merges.insert(kept.merges.end(), Begin(id), Begin(id + 1));
      }
    }
    kept.offsets.push_back(static_cast<uint32_t>(kept.merges.size()));
    return kept;
  }

 private:
  Merge* Begin(size_t id) { return all_.merges.data() + all_.offsets[id]; }
  size_t Ways(size_t id) const { return all_.offsets[id + 1] - all_.offsets[id]; }

  // The pairs of all tokens that the trie has, by token and left piece.
  void Collect() {
    const size_t count = spelled_.size();
    std::vector<uint32_t>& offsets = all_.offsets;
    offsets.assign(count + 2, 0);
    for (const TextMerge& merge : model_.merges) offsets[merge.merged + 2] += spelled_[merge.merged] ? 1 : 0;
    for (size_t id = 2; id < offsets.size(); ++id) offsets[id] += offsets[id - 1];
    all_.merges.resize(offsets.back());
    for (const TextMerge& merge : model_.merges) {
      if (spelled_[merge.merged]) all_.merges[offsets[merge.merged + 1]++] = {merge.left, merge.rank};
    }
    offsets.pop_back();
    for (size_t id = 0; id < count; ++id) {
      if (Ways(id) < 2) continue;
      Merge *const begin = Begin(id), *const end = Begin(id + 1);
      std::sort(begin, end, [](const Merge& a, const Merge& b) { return a.left < b.left; });
      const auto same = [](const Merge& a, const Merge& b) { return a.left == b.left; };
      if (std::adjacent_find(begin, end, same) != end) {
        Fail("two merges make \"{}\" of the same pieces", model_.tokens[id].piece);
      }
    }
  }

  // Finds the tokens of which a single record is enough.
  void Shorten() {
    const auto text_of = [this](uint32_t place) { return keys_[place].text; };
    StringIndex<decltype(text_of)> places(keys_.size(), text_of);
    for (uint32_t place = 0; place < keys_.size(); ++place) places.Add(place);
    std::vector<uint32_t> lefts;
    ForEachKey(keys_, [&](const TrieKey& key, const std::vector<TrieKey>& prefixes) {
      if (Ways(key.value) < 2) return;
      lefts.clear();
      for (const TrieKey& left : prefixes) {
        if (places[key.text.substr(left.text.size())] != places.kNone) lefts.push_back(left.value);
      }
      shortened_[key.value] = IsEvery(&lefts, key.value);
    });
  }

  // Whether the pairs of a token begin with exactly these left pieces, in the order of their ids.
  bool IsEvery(std::vector<uint32_t>* lefts, uint32_t id) {
    if (lefts->size() != Ways(id)) return false;
    std::sort(lefts->begin(), lefts->end());
    const Merge* const ways = Begin(id);
    for (size_t i = 0; i < lefts->size(); ++i) {
      if (ways[i].left != (*lefts)[i] || ways[i].rank != ways[0].rank + i) return false;
    }
    return true;
  }

  const TextModel& model_;
  const std::vector<TrieKey>& keys_;
  std::vector<bool> spelled_, shortened_;  // by token
  MergeTable all_;
};

}  // namespace

MergeTable MergeLists(const TextModel& model, const std::vector<TrieKey>& keys) { return Lists(model, keys).Run(); }

}  // namespace fovea::tools
