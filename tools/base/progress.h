// Progress of long work, on one line of a terminal; nothing is shown if standard error is not one.
#ifndef FOVEA_TOOLS_BASE_PROGRESS_H_
#define FOVEA_TOOLS_BASE_PROGRESS_H_

#include <fmt/format.h>

#include <iostream>
#include <ostream>
#include <string>

#include "tools/base/clock.h"
#include "tools/base/printable.h"
#include "tools/base/system.h"

namespace fovea::tools {

class ProgressLine {
 public:
  explicit ProgressLine(std::ostream& err) : err_(err), shown_(&err == &std::cerr && ErrorsAreTerminal()) {}
  ~ProgressLine() { Clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Updates at most about ten times a second, and at the end of a stage.
  void Show(const std::string& stage, const std::string& name, size_t done, size_t total) {
    const uint64_t now = NanosecondClock();
    if (!shown_ || (done < total && now - last_ < 80'000'000)) return;
    last_ = now;
    const size_t percent = total == 0 ? 100 : 100 * done / total;
    err_ << "\r\x1b[K" << fmt::format("{:>3}% {} {}", percent, stage, Printable(name).substr(0, 60)) << std::flush;
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
  uint64_t last_ = 0;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_PROGRESS_H_
