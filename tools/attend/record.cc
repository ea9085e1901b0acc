#include "tools/attend/record.h"

#include <algorithm>

#include "tools/base/fail.h"

namespace fovea::tools {

std::optional<uint32_t> NumberOf(const std::string& name) {
  const size_t dot = name.rfind('.');
  const std::string digits = dot == std::string::npos ? "" : name.substr(dot + 1);
  if (digits.empty() || digits.size() > 5 || digits.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  return static_cast<uint32_t>(std::stoul(digits));
}

uint32_t SegmentOf(const std::vector<uint32_t>& offsets, uint32_t row) {
  return static_cast<uint32_t>(std::upper_bound(offsets.begin(), offsets.end(), row) - offsets.begin()) - 1;
}

uint32_t AttentionRecord::KeySegment(const RecordStep& step, uint32_t query_row) const {
  const RecordSpace& keys = spaces[step.key_space];
  const auto query_space = static_cast<int>(step.query_space);
  uint32_t segment = query_row;
  // The keys' parent has one segment per row; find the row's ancestor there.
  for (int space = query_space; space != keys.parent; space = spaces[static_cast<size_t>(space)].parent) {
    if (space < 0) Fail("step {}: its queries and keys have no common parent", step.name);
    segment = SegmentOf(spaces[static_cast<size_t>(space)].offsets, segment);
  }
  if (segment >= keys.segments()) Fail("step {}: row {} has no segment of keys", step.name, query_row);
  return segment;
}

}  // namespace fovea::tools
