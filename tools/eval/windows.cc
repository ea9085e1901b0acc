#include "tools/eval/windows.h"

#include <algorithm>

namespace fovea::tools {
namespace {

// Adds rows [begin, end) of a window; all of its tokens except the last are read.
void AddRows(const TokenText& text, const Window& window, size_t begin, size_t end, WindowStep& step) {
  step.lengths.push_back(static_cast<uint32_t>(end - begin));
  for (size_t i = window.begin + begin; i < window.begin + end; ++i) {
    const bool counts = i + 1 >= window.counted;
    step.ids.push_back(text.ids[i]);
    step.targets.push_back(counts ? text.ids[i + 1] : -1);
    if (counts) step.bytes += text.bytes[i + 1];
  }
}

}  // namespace

std::vector<Window> WindowsOf(size_t tokens, size_t length, size_t stride) {
  std::vector<Window> windows;
  size_t known = 0;  // end of the previous window
  for (size_t begin = 0; known < tokens; begin += stride) {
    const Window window = {begin, std::min(tokens, begin + length), std::max(known, begin + 1)};
    if (window.counted < window.end) windows.push_back(window);
    known = window.end;
  }
  return windows;
}

std::vector<WindowStep> StepsOf(const std::vector<TokenText>& texts, size_t length, size_t stride,
                                const StepLimits& limits) {
  std::vector<WindowStep> steps;
  bool open = false;  // the last step has room for more windows
  for (const TokenText& text : texts) {
    for (const Window& window : WindowsOf(text.ids.size(), length, stride)) {
      const size_t rows = window.end - window.begin - 1;
      const bool fits =
          open && steps.back().lengths.size() < limits.windows && steps.back().ids.size() + rows <= limits.rows;
      if (!fits) steps.emplace_back();
      open = rows <= limits.rows;
      if (open || !limits.parts) {
        AddRows(text, window, 0, rows, steps.back());
        continue;
      }
      for (size_t begin = 0; begin < rows; begin += limits.rows) {
        if (begin != 0) steps.emplace_back().begins = false;
        AddRows(text, window, begin, std::min(rows, begin + limits.rows), steps.back());
      }
    }
  }
  return steps;
}

}  // namespace fovea::tools
