#include "tools/base/suggestion.h"

#include <fmt/format.h>
#include <stddef.h>

#include <algorithm>
#include <utility>

namespace fovea::tools {
namespace {

// Optimal string alignment: Levenshtein's distance with swaps of neighbours.
size_t Distance(const std::string& a, const std::string& b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string Suggestion(const std::string& given, const std::vector<std::string>& candidates) {
  constexpr size_t kLongest = 64;  // longer words are no names
  if (given.empty() || given.size() > kLongest) return "";
  const std::string* best = nullptr;
  size_t least = 0;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongest) continue;
    const size_t letters = candidate.size() - std::min(candidate.find_first_not_of('-'), candidate.size());
    const bool begins = given.size() >= 3 && candidate.compare(0, given.size(), given) == 0;
    const size_t distance = begins ? 1 : Distance(given, candidate);
    if (distance > std::max<size_t>(1, letters / 3) || distance >= letters) continue;
    if (best != nullptr && distance >= least) continue;
    best = &candidate;
    least = distance;
  }
  return best == nullptr ? "" : fmt::format("; did you mean '{}'?", *best);
}

}  // namespace fovea::tools
