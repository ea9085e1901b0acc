#include "tools/convert/text/code_ranges.h"

#include <algorithm>
#include <cstring>

namespace fovea::tools {

CodeRanges::CodeRanges(const CodeSet& set) {
  const auto size = static_cast<uint32_t>(set.size());
  bool inside = false;
  for (uint32_t code = 0; code < size; ++code) {
    if (set[code] == inside) continue;
    edges_.push_back(code);
    inside = !inside;
  }
  if (inside) edges_.push_back(size);
}

CodeSet CodeRanges::ToSet() const {
  CodeSet set(kCodePoints + 1);
  for (size_t i = 0; i < edges_.size(); i += 2) std::fill(set.begin() + edges_[i], set.begin() + edges_[i + 1], true);
  return set;
}

CodeRanges CodeRanges::Of(bool (*has)(uint32_t code)) {
  CodeRanges set;
  bool inside = false;
  for (uint32_t code = 0; code < kCodePoints; ++code) {
    if (has(code) == inside) continue;
    set.edges_.push_back(code);
    inside = !inside;
  }
  if (inside) set.edges_.push_back(kCodePoints);
  return set;
}

CodeRanges CodeRanges::Category(const std::string& name) {
  CodeRanges set;
  for (const CodeRun& run : CodeRuns()) {
    if (std::strncmp(CategoryName(run.first), name.c_str(), name.size()) == 0) set.Append(run.first, run.end);
  }
  return set;
}

bool CodeRanges::operator[](uint32_t code) const {
  return (std::upper_bound(edges_.begin(), edges_.end(), code) - edges_.begin()) % 2 != 0;
}

bool CodeRanges::Meets(const CodeRanges& other) const {
  for (size_t i = 0, k = 0; i < edges_.size() && k < other.edges_.size();) {
    if (edges_[i] < other.edges_[k + 1] && other.edges_[k] < edges_[i + 1]) return true;
    (edges_[i + 1] < other.edges_[k + 1] ? i : k) += 2;
  }
  return false;
}

void CodeRanges::Append(uint32_t first, uint32_t end) {
  if (!edges_.empty() && edges_.back() == first) {
    edges_.back() = end;
  } else {
    edges_.insert(edges_.end(), {first, end});
  }
}

void CodeRanges::Include(const CodeRanges& other) {
  const std::vector<uint32_t> own = std::move(edges_);
  edges_.clear();
  for (size_t i = 0, k = 0; i < own.size() || k < other.edges_.size();) {
    const bool mine = k == other.edges_.size() || (i < own.size() && own[i] < other.edges_[k]);
    const std::vector<uint32_t>& from = mine ? own : other.edges_;
    size_t& at = mine ? i : k;
    if (!edges_.empty() && edges_.back() >= from[at]) {
      edges_.back() = std::max(edges_.back(), from[at + 1]);
    } else {
      edges_.insert(edges_.end(), {from[at], from[at + 1]});
    }
    at += 2;
  }
}

void CodeRanges::Flip() {
  if (!edges_.empty() && edges_.front() == 0) {
    edges_.erase(edges_.begin());
  } else {
    edges_.insert(edges_.begin(), 0);
  }
  if (edges_.back() == kCodePoints + 1) {
    edges_.pop_back();
  } else {
    edges_.push_back(kCodePoints + 1);
  }
}

CodeRanges CodeRanges::Inverted() const {
  CodeRanges set = *this;
  set.Flip();
  if (!set[kCodePoints]) return set;
  set.edges_.back() = kCodePoints;
  if (set.edges_.back() == set.edges_[set.edges_.size() - 2]) set.edges_.resize(set.edges_.size() - 2);
  return set;
}

}  // namespace fovea::tools
