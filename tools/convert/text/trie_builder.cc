// Double-array construction: every node takes the first position where all its children fit.
#include "tools/convert/text/trie_builder.h"

#include <algorithm>
#include <utility>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

constexpr uint32_t kUnused = 0x80000000u;  // no byte leads to such a unit
constexpr uint32_t kBlock = 256;
constexpr uint32_t kSearched = 32 * kBlock;  // positions from the end that are still tried
constexpr uint32_t kTries = 64;              // unused positions that a node tries before it gets a new block

class Builder {
 public:
  using Entry = std::pair<std::string, uint32_t>;

  explicit Builder(std::vector<Entry> entries) : entries_(std::move(entries)) {}

  std::vector<uint32_t> Run() {
    Grow();
    Take(0);
    units_[0] = 0;
    struct Node {
      uint32_t place;
      size_t begin, end, depth;
    };
    std::vector<Node> open = {{0, 0, entries_.size(), 0}};
    while (!open.empty()) {
      const Node node = open.back();
      open.pop_back();
      std::vector<Node> children;
      std::vector<uint8_t> labels;
      size_t begin = node.begin;
      const bool leaf = entries_[begin].first.size() == node.depth;
      if (leaf) {
        labels.push_back(0);
        children.push_back({0, begin, begin + 1, 0});
        ++begin;
      }
      while (begin < node.end) {
        const uint8_t label = static_cast<uint8_t>(entries_[begin].first[node.depth]);
        size_t end = begin;
        while (end < node.end && static_cast<uint8_t>(entries_[end].first[node.depth]) == label) ++end;
        labels.push_back(label);
        children.push_back({0, begin, end, node.depth + 1});
        begin = end;
      }
      const uint32_t base = FindBase(node.place, labels);
      base_used_[base] = true;
      const uint32_t offset = node.place ^ base;
      units_[node.place] |= (offset < 1u << 21 ? offset << 10 : offset << 2 | 1u << 9) | (leaf ? 1u << 8 : 0);
      for (size_t i = 0; i < labels.size(); ++i) {
        const uint32_t place = base ^ labels[i];
        Take(place);
        if (leaf && i == 0) {
          units_[place] = kUnused | entries_[children[0].begin].second;
        } else {
          units_[place] = labels[i];
          children[i].place = place;
          open.push_back(children[i]);
        }
      }
    }
    return units_;
  }

 private:
  void Grow() {
    const auto begin = static_cast<uint32_t>(units_.size()), end = begin + kBlock;
    units_.resize(end, kUnused);
    used_.resize(end, false);
    base_used_.resize(end, false);
    next_.resize(end + 1);
    previous_.resize(end + 1);
    // Position `end` closes the list of unused positions; before, `begin` did.
    for (uint32_t i = begin; i < end; ++i) {
      next_[i] = i + 1;
      previous_[i + 1] = i;
    }
    next_[end] = end;
  }

  void Take(uint32_t place) {
    used_[place] = true;
    const uint32_t next = next_[place], previous = previous_[place];
    if (place == cursor_) {
      cursor_ = next;
    } else {
      next_[previous] = next;
    }
    previous_[next] = previous;
  }

  bool Fits(uint32_t place, uint32_t base, const std::vector<uint8_t>& labels) const {
    const uint32_t offset = place ^ base;
    if (base_used_[base] || (offset >= 1u << 21 && (offset & 0xff) != 0)) return false;
    return std::none_of(labels.begin(), labels.end(), [&](uint8_t label) { return used_[base ^ label]; });
  }

  uint32_t FindBase(uint32_t place, const std::vector<uint8_t>& labels) {
    // Unused positions before the cursor are given up.
    const auto end = static_cast<uint32_t>(units_.size());
    while (cursor_ < end && cursor_ + kSearched < end) cursor_ = next_[cursor_];
    uint32_t tries = 0;
    for (uint32_t i = cursor_; i < end && tries < kTries; i = next_[i], ++tries) {
      const uint32_t base = i ^ labels[0];
      if (Fits(place, base, labels)) return base;
    }
    // A node that fits nowhere makes the positions that it tried less likely for the next ones.
    if (tries == kTries) cursor_ = next_[cursor_];
    const uint32_t block = static_cast<uint32_t>(units_.size());
    Grow();
    if (units_.size() > 1u << 29) Fail("a vocabulary is too large for a trie");
    return block | (place & 0xff);  // every offset to it can be encoded
  }

  const std::vector<Entry> entries_;
  std::vector<uint32_t> units_;
  std::vector<bool> used_, base_used_;
  std::vector<uint32_t> next_, previous_;  // unused positions, ascending
  uint32_t cursor_ = 0;                    // the first one that is tried
};

// Lists a trie that may be damaged. Nodes can be shared, as in published tries, but only up to a limit.
class Lister {
 public:
  Lister(const text::Trie& trie, uint32_t longest)
      : trie_(trie), longest_(longest), left_(uint64_t{kShared} * trie.count) {}

  std::map<std::string, uint32_t> Run() {
    List(0);
    return std::move(keys_);
  }

 private:
  void List(uint32_t node) {
    if (left_-- == 0) Fail("a character map is damaged: its trie has keys without end");
    uint32_t value = 0;
    if (trie_.Value(node, &value)) keys_[key_] = value;
    for (uint32_t byte = 1; byte < 256; ++byte) {
      uint32_t child = node;
      if (!trie_.Step(static_cast<uint8_t>(byte), &child)) continue;
      if (key_.size() == longest_) Fail("a character map has keys of more than {} bytes", longest_);
      key_.push_back(static_cast<char>(byte));
      List(child);
      key_.pop_back();
    }
  }

  static constexpr uint32_t kShared = 64;  // limit on visited nodes, as a multiple of the number of units

  const text::Trie& trie_;
  const uint32_t longest_;
  uint64_t left_;  // nodes that may still be visited
  std::string key_;
  std::map<std::string, uint32_t> keys_;
};

}  // namespace

std::vector<uint32_t> BuildTrie(const std::map<std::string, uint32_t>& keys) {
  if (keys.empty()) return {};
  for (const auto& [key, value] : keys) {
    if (key.empty() || key.find('\0') != std::string::npos) Fail("a token is empty or holds a NUL byte");
    if (value >= kUnused) Fail("an id is too large");
  }
  // std::map orders strings as bytes, as the builder needs them.
  return Builder(std::vector<Builder::Entry>(keys.begin(), keys.end())).Run();
}

std::map<std::string, uint32_t> ListTrie(const text::Trie& trie, uint32_t longest) {
  return Lister(trie, longest).Run();
}

}  // namespace fovea::tools
