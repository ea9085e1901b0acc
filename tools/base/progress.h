// Progress of long work, on one line of a terminal; nothing is shown if standard error is not one.
#ifndef FOVEA_TOOLS_BASE_PROGRESS_H_
#define FOVEA_TOOLS_BASE_PROGRESS_H_

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <ostream>
#include <string>

#include "tools/base/clock.h"
#include "tools/base/printable.h"
#include "tools/base/system.h"

namespace fovea::tools {

// Minutes and seconds, and hours if there are any: 1:02:03, 2:03.
inline std::string PositionText(double seconds) {
  const auto all = static_cast<uint64_t>(std::max(0.0, seconds));
  const uint64_t hours = all / 3600, minutes = all / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, all % 60)
                   : fmt::format("{}:{:02}", minutes, all % 60);
}

class ProgressLine {
 public:
  explicit ProgressLine(std::ostream& err) : err_(err), shown_(&err == &std::cerr && ErrorsAreTerminal()) {}
  ~ProgressLine() { Clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Updates at most about ten times a second, and at the end of a stage.
  void Show(const std::string& stage, const std::string& name, size_t done, size_t total) {
    if (!IsDue(done >= total)) return;
    const size_t percent = total == 0 ? 100 : 100 * done / total;
    Write(fmt::format("{:>3}% {} {}", percent, stage, Printable(name).substr(0, 60)));
  }
  // The two parts of Show, for other texts.
  bool IsDue(bool last) const { return shown_ && (last || NanosecondClock() - written_ >= 80'000'000); }
  void Write(const std::string& text) {
    written_ = NanosecondClock();
    err_ << "\r\x1b[K" << text << std::flush;
    dirty_ = true;
  }
  void Clear() {
    if (dirty_) err_ << "\r\x1b[K" << std::flush;
    dirty_ = false;
  }

 private:
  std::ostream& err_;
  const bool shown_;
  bool dirty_ = false;
  uint64_t written_ = 0;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_PROGRESS_H_
