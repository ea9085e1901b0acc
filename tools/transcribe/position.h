// Progress of a transcription on a terminal: the position in the current files.
#ifndef FOVEA_TOOLS_TRANSCRIBE_POSITION_H_
#define FOVEA_TOOLS_TRANSCRIBE_POSITION_H_

#include <string>

#include "tools/base/progress.h"

namespace fovea::tools {

class PositionLine {
 public:
  // `plain`: texts are written without line ends, in pieces; on a terminal they show the progress themselves.
  PositionLine(std::ostream& err, bool plain) : line_(err), plain_(plain && OutputIsTerminal()) {}

  // `all`: seconds of the files; 0: unknown.
  void Show(const std::string& what, const std::string& names, double seconds, double all);
  // Call before anything else is written; `text`: a piece of a text.
  void Clear(bool text);
  // Call after the end of a text.
  void EndText() { within_ = false; }

 private:
  ProgressLine line_;
  const bool plain_;
  bool within_ = false;  // a text was begun on the terminal
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TRANSCRIBE_POSITION_H_
