#include "tools/generate/compression.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

namespace fovea::tools {
namespace {

constexpr size_t kShortest = 3, kLongest = 258, kFarthest = 32768, kTooFar = 4096, kLazy = 16, kChain = 128;
constexpr uint32_t kEnd = 256, kLiterals = 286, kDistances = 30, kLengths = 19;

struct Match {
  size_t length = 0, distance = 0;
};

// Looks for the longest match among the last kChain places with the same three bytes.
class Finder {
 public:
  explicit Finder(const std::string& text) : text_(text) {}

  Match Find(size_t at) const {
    Match best;
    if (at + kShortest > text_.size()) return best;
    const auto places = places_.find(text_.substr(at, kShortest));
    if (places == places_.end()) return best;
    const size_t most = std::min(kLongest, text_.size() - at);
    size_t tried = 0;
    for (auto place = places->second.rbegin(); place != places->second.rend() && tried < kChain; ++place, ++tried) {
      if (at - *place > kFarthest) break;
      size_t length = kShortest;
      while (length < most && text_[*place + length] == text_[at + length]) ++length;
      if (length > best.length) best = {length, at - *place};
    }
    if (best.length == kShortest && best.distance > kTooFar) best = {};
    return best;
  }

  void Add(size_t at) {
    if (at + kShortest <= text_.size()) places_[text_.substr(at, kShortest)].push_back(at);
  }

 private:
  const std::string& text_;
  std::map<std::string, std::vector<size_t>> places_;
};

// Symbols of a block, how often each comes, and the bits that go with them besides their codes.
struct Symbols {
  std::vector<uint64_t> literals = std::vector<uint64_t>(kLiterals), distances = std::vector<uint64_t>(kDistances);
  uint64_t extra_bits = 0;

  void AddLiteral(char byte) { ++literals[static_cast<uint8_t>(byte)]; }

  void AddMatch(const Match& match) {
    // Four symbols for each number of extra bits (of distances two), the first ones without any.
    const auto add = [&](size_t value, size_t group, std::vector<uint64_t>* counts, size_t first) {
      size_t bits = 0;
      while (value >= 2 * group) value >>= 1, ++bits;
      extra_bits += bits;
      ++(*counts)[first + bits * group + value];
    };
    if (match.length == kLongest) {
      ++literals[kLiterals - 1];
    } else {
      add(match.length - kShortest, 4, &literals, kEnd + 1);
    }
    add(match.distance - 1, 2, &distances, 0);
  }
};

Symbols SymbolsOf(const std::string& text) {
  Symbols symbols;
  Finder finder(text);
  Match held;  // of the byte before, which may be better
  bool holds = false;
  for (size_t at = 0; at < text.size();) {
    const Match match = held.length >= kLazy ? Match() : finder.Find(at);
    finder.Add(at);
    if (held.length >= kShortest && held.length >= match.length) {
      symbols.AddMatch(held);
      const size_t end = at - 1 + held.length;
      for (++at; at < end; ++at) finder.Add(at);
      held = {}, holds = false;
      continue;
    }
    if (holds) symbols.AddLiteral(text[at - 1]);
    held = match, holds = true;
    ++at;
  }
  if (held.length >= kShortest) {
    symbols.AddMatch(held);
  } else if (holds) {
    symbols.AddLiteral(text.back());
  }
  ++symbols.literals[kEnd];
  return symbols;
}

// Lengths of the codes of a prefix code of at most `most` bits; 0 of symbols that do not come. Of a single symbol 1.
std::vector<uint32_t> CodeLengths(std::vector<uint64_t> counts, uint32_t most) {
  struct Node {
    uint64_t count;
    size_t left, right;  // SIZE_MAX: a symbol
  };
  std::vector<uint32_t> lengths(counts.size());
  for (;; std::transform(counts.begin(), counts.end(), counts.begin(), [](uint64_t c) { return (c + 1) / 2; })) {
    std::vector<Node> nodes;
    std::vector<size_t> open, symbols;
    for (size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] == 0) continue;
      open.push_back(nodes.size());
      symbols.push_back(i);
      nodes.push_back({counts[i], SIZE_MAX, SIZE_MAX});
    }
    if (open.size() == 1) lengths[symbols[0]] = 1;
    if (open.size() < 2) return lengths;
    const auto rarer = [&](size_t a, size_t b) { return nodes[a].count > nodes[b].count; };
    std::make_heap(open.begin(), open.end(), rarer);
    const auto take = [&] {
      std::pop_heap(open.begin(), open.end(), rarer);
      const size_t node = open.back();
      open.pop_back();
      return node;
    };
    while (open.size() > 1) {
      const size_t left = take(), right = take();
      nodes.push_back({nodes[left].count + nodes[right].count, left, right});
      open.push_back(nodes.size() - 1);
      std::push_heap(open.begin(), open.end(), rarer);
    }
    std::vector<uint32_t> depths(nodes.size());
    uint32_t deepest = 0;
    for (size_t i = nodes.size(); i-- > 0;) {
      if (nodes[i].left == SIZE_MAX) {
        lengths[symbols[i]] = depths[i];
        deepest = std::max(deepest, depths[i]);
      } else {
        depths[nodes[i].left] = depths[nodes[i].right] = depths[i] + 1;
      }
    }
    if (deepest <= most) return lengths;  // else again with counts that differ less
  }
}

uint64_t Bits(const std::vector<uint64_t>& counts, const std::vector<uint32_t>& lengths) {
  uint64_t bits = 0;
  for (size_t i = 0; i < counts.size(); ++i) bits += counts[i] * lengths[i];
  return bits;
}

uint32_t UsedSymbols(const std::vector<uint32_t>& lengths, uint32_t least) {
  auto used = static_cast<uint32_t>(lengths.size());
  while (used > least && lengths[used - 1] == 0) --used;
  return used;
}

// The bits that say the lengths of both codes: runs of one length and of zeros are short.
uint64_t HeaderBits(const std::vector<uint32_t>& literals, const std::vector<uint32_t>& distances) {
  std::vector<uint32_t> all(literals.begin(), literals.begin() + UsedSymbols(literals, kEnd + 1));
  all.insert(all.end(), distances.begin(), distances.begin() + UsedSymbols(distances, 1));
  std::vector<uint64_t> counts(kLengths);
  uint64_t extra = 0;
  for (size_t i = 0; i < all.size();) {
    size_t end = i;
    while (end < all.size() && all[end] == all[i]) ++end;
    size_t run = end - i;
    if (all[i] != 0) ++counts[all[i]], --run;
    while (run > 0) {
      size_t part = std::min<size_t>(run, all[i] != 0 ? 6 : 138);
      if (part < 3) {
        counts[all[i]] += part;
      } else if (all[i] != 0) {
        ++counts[16], extra += 2;
      } else {
        part <= 10 ? (++counts[17], extra += 3) : (++counts[18], extra += 7);
      }
      run -= part;
    }
    i = end;
  }
  static constexpr std::array<uint8_t, kLengths> kOrder = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                           11, 4,  12, 3, 13, 2, 14, 1, 15};
  const std::vector<uint32_t> lengths = CodeLengths(counts, 7);
  size_t told = kLengths;
  while (told > 4 && lengths[kOrder[told - 1]] == 0) --told;
  return 5 + 5 + 4 + 3 * told + Bits(counts, lengths) + extra;
}

std::vector<uint32_t> FixedLengths() {
  std::vector<uint32_t> lengths(kLiterals, 8);
  std::fill(lengths.begin() + 144, lengths.begin() + 256, 9);
  std::fill(lengths.begin() + 256, lengths.begin() + 280, 7);
  return lengths;
}

}  // namespace

uint64_t CompressedBytes(const std::string& text) {
  const Symbols symbols = SymbolsOf(text);
  const std::vector<uint32_t> literals = CodeLengths(symbols.literals, 15),
                              distances = CodeLengths(symbols.distances, 15);
  const uint64_t own = HeaderBits(literals, distances) + Bits(symbols.literals, literals) +
                       Bits(symbols.distances, distances) + symbols.extra_bits;
  const uint64_t fixed = Bits(symbols.literals, FixedLengths()) +
                         Bits(symbols.distances, std::vector<uint32_t>(kDistances, 5)) + symbols.extra_bits;
  const uint64_t stored = 5 + text.size() + text.size() / 65535 * 5;
  // Around it the two bytes of the stream's header, and four of its check.
  return 2 + std::min((3 + std::min(own, fixed) + 7) / 8, stored) + 4;
}

double CompressionRatio(const std::string& text) {
  return static_cast<double>(text.size()) / static_cast<double>(CompressedBytes(text));
}

}  // namespace fovea::tools
