// The keys of each line as ranges of consecutive keys: for a sliding window one range per line.
#ifndef FOVEA_TOOLS_ATTEND_KEY_RANGES_H_
#define FOVEA_TOOLS_ATTEND_KEY_RANGES_H_

#include "tools/attend/record.h"

namespace fovea::tools {

struct KeyRanges {
  std::vector<uint32_t> offsets;  // first range of each line
  std::vector<uint32_t> ranges;   // pairs: first key, count
};

// For a step with sparse keys.
inline KeyRanges RangesOf(const RecordStep& step) {
  KeyRanges found;
  found.offsets.push_back(0);
  for (size_t line = 0; line < step.lines(); ++line) {
    for (uint64_t i = step.line_offsets[line]; i < step.line_offsets[line + 1]; ++i) {
      if (i > step.line_offsets[line] && step.keys[i] == step.keys[i - 1] + 1) {
        ++found.ranges.back();
      } else {
        found.ranges.insert(found.ranges.end(), {step.keys[i], 1});
      }
    }
    found.offsets.push_back(static_cast<uint32_t>(found.ranges.size() / 2));
  }
  return found;
}

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_KEY_RANGES_H_
