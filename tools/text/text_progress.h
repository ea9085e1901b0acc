// Progress over many texts, on one line of a terminal: a bar, texts per second and the time that is left.
#ifndef FOVEA_TOOLS_TEXT_TEXT_PROGRESS_H_
#define FOVEA_TOOLS_TEXT_TEXT_PROGRESS_H_

#include <stdint.h>

#include <ostream>
#include <string>

#include "tools/base/progress.h"

namespace fovea::tools {

// "[#####...............]  25%  1,024 texts, 310 texts/s, 0:10 left". `share` of the input that is done, from 0 to 1;
// 0: unknown, and then without the bar and the time.
std::string ProgressText(uint64_t texts, double share, double seconds);

// Shows nothing if standard error is not a terminal.
class TextProgress {
 public:
  explicit TextProgress(std::ostream& err);

  // A window of this many texts has been read. `share` of the input is read after it.
  void Begin(size_t texts, double share);
  // This many texts of the window are done.
  void Add(size_t texts);
  // Removes the line.
  void Clear() { line_.Clear(); }
  uint64_t texts() const { return texts_; }
  double seconds() const;

 private:
  ProgressLine line_;
  const uint64_t begin_;
  uint64_t texts_ = 0;
  size_t window_ = 0, in_window_ = 0;  // texts of the window, in all and done
  double from_ = 0, to_ = 0;           // share of the input before the window and after it
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TEXT_TEXT_PROGRESS_H_
