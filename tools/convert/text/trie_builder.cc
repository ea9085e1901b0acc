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
  explicit Builder(const std::vector<TrieKey>& entries) : entries_(entries) {}

  std::vector<uint32_t> Run() {
    for (std::vector<uint32_t>* list : {&units_, &next_, &previous_}) list->reserve(4 * entries_.size() + kBlock + 1);
    Grow();
    Take(0);
    units_[0] = 0;
    struct Node {
      uint32_t place;
      size_t begin, end, depth;
    };
    std::vector<Node> open = {{0, 0, entries_.size(), 0}}, children;
    std::vector<uint8_t> labels;
    while (!open.empty()) {
      const Node node = open.back();
      open.pop_back();
      children.clear();
      labels.clear();
      size_t begin = node.begin;
      const bool leaf = entries_[begin].text.size() == node.depth;
      if (leaf) {
        labels.push_back(0);
        children.push_back({0, begin, begin + 1, 0});
        ++begin;
      }
      while (begin < node.end) {
        const char label = entries_[begin].text[node.depth];
        const size_t end = EndOf(label, node.depth, begin, node.end);
        labels.push_back(static_cast<uint8_t>(label));
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
          units_[place] = kUnused | entries_[children[0].begin].value;
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
  // The end of the entries from `begin` on that have this byte at a depth.
  size_t EndOf(char label, size_t depth, size_t begin, size_t end) const {
    // Steps that double, then halves: most runs are short, and those near the root are long.
    size_t step = 1, last = begin;
    while (last + step < end && entries_[last + step].text[depth] == label) {
      last += step;
      step *= 2;
    }
    end = std::min(end, last + step);
    while (last + 1 < end) {
      const size_t middle = last + (end - last) / 2;
      (entries_[middle].text[depth] == label ? last : end) = middle;
    }
    return end;
  }

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

  const std::vector<TrieKey>& entries_;
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

  std::vector<std::string> Run() {
    List(0);
    return std::move(keys_);
  }

 private:
  void List(uint32_t node) {
    if (left_-- == 0) Fail("a character map is damaged: its trie has keys without end");
    uint32_t value = 0;
    if (trie_.Value(node, &value)) keys_.push_back(key_);
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
  std::vector<std::string> keys_;
};

}  // namespace

void SortKeys(std::vector<TrieKey>* keys) {
  // The first bytes as a number decide most comparisons without reading the texts.
  struct Place {
    uint64_t head;
    TrieKey key;
  };
  std::vector<Place> places(keys->size());
  for (size_t i = 0; i < places.size(); ++i) {
    const std::string_view text = (*keys)[i].text;
    uint64_t head = 0;
    for (size_t k = 0; k < sizeof(head); ++k) head = head << 8 | (k < text.size() ? static_cast<uint8_t>(text[k]) : 0u);
    places[i] = {head, (*keys)[i]};
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    if (a.head != b.head) return a.head < b.head;
    const int order = a.key.text.compare(b.key.text);
    return order != 0 ? order < 0 : a.key.value < b.key.value;
  });
  const auto same = [](const Place& a, const Place& b) { return a.key.text == b.key.text; };
  places.erase(std::unique(places.begin(), places.end(), same), places.end());
  keys->resize(places.size());
  for (size_t i = 0; i < places.size(); ++i) (*keys)[i] = places[i].key;
}

std::vector<uint32_t> BuildSortedTrie(const std::vector<TrieKey>& keys) {
  if (keys.empty()) return {};
  for (const TrieKey& key : keys) {
    if (key.text.empty() || key.text.find('\0') != std::string_view::npos) {
      Fail("a token is empty or holds a NUL byte");
    }
    if (key.value >= kUnused) Fail("an id is too large");
  }
  return Builder(keys).Run();
}

std::vector<uint32_t> BuildTrie(const std::map<std::string, uint32_t>& keys) {
  // std::map orders strings as bytes, as the builder needs them.
  std::vector<TrieKey> list;
  for (const auto& [text, value] : keys) list.push_back({text, value});
  return BuildSortedTrie(list);
}

std::vector<std::string> ListTrie(const text::Trie& trie, uint32_t longest) { return Lister(trie, longest).Run(); }

}  // namespace fovea::tools
