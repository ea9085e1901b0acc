// What was said in a file, and how it is written.
#ifndef FOVEA_TOOLS_TRANSCRIBE_TRANSCRIPT_H_
#define FOVEA_TOOLS_TRANSCRIBE_TRANSCRIPT_H_

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "tools/common/print.h"

namespace fovea::tools {

enum class TranscriptFormat { kText, kSrt, kVtt, kJson };

// Without spaces and ends of lines around and within it.
std::string LineOf(std::string text);

// From when to when something is said, in seconds (frames where nobody knows how long they are).
struct TimedLine {
  double begin = 0, end = 0;
  std::string text;
};

struct Transcript {
  std::string name;
  std::string text;              // one line
  std::vector<TimedLine> lines;  // where times are wanted
  OrderedJson json;
  std::vector<std::string> notes = {};  // on its file, for the user
};

class TranscriptWriter {
 public:
  // `times`: the lines, not the text alone.
  TranscriptWriter(TranscriptFormat format, bool times, std::ostream& out);
  void Write(const Transcript& transcript);
  // After the last one.
  void End();

 private:
  void WriteLines(const Transcript& transcript);

  const TranscriptFormat format_;
  const bool times_;
  std::ostream& out_;
  OrderedJson list_ = OrderedJson::array();
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TRANSCRIBE_TRANSCRIPT_H_
