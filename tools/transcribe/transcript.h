// The transcript of a file, and its output formats.
#ifndef FOVEA_TOOLS_TRANSCRIBE_TRANSCRIPT_H_
#define FOVEA_TOOLS_TRANSCRIBE_TRANSCRIPT_H_

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "tools/base/json_list.h"
#include "tools/base/print.h"

namespace fovea::tools {

enum class TranscriptFormat { kText, kSrt, kVtt, kJson, kJsonLines };

// Replaces line ends and runs of spaces by one space, and trims.
std::string LineOf(std::string text);

// A piece of text with start and end in seconds (in frames if their duration is unknown).
struct TimedLine {
  double begin = 0, end = 0;
  std::string text;
};

struct Transcript {
  std::string name;
  std::string text;              // one line
  std::vector<TimedLine> lines;  // if times are requested
  OrderedJson json;
  std::vector<std::string> notes = {};  // about its file, for the user
};

class TranscriptWriter {
 public:
  // `times`: write lines with times instead of the text.
  TranscriptWriter(TranscriptFormat format, bool times, std::ostream& out);
  // Writes a line before its transcript is complete; not as JSON. Write then leaves out the lines of this file.
  void WriteLine(const std::string& name, const TimedLine& line);
  void Write(const Transcript& transcript);
  // Call after the last transcript.
  void End();

 private:
  void Begin(const std::string& name);
  void Add(const TimedLine& line);

  const TranscriptFormat format_;
  const bool times_;
  std::ostream& out_;
  JsonList list_;
  bool begun_ = false;       // lines of a file were written
  bool written_ = false;     // text without times: something was written
  size_t number_ = 0;        // number of the last subtitle
  std::string blanks_ = "";  // text without times: spaces that are written only in front of more text
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TRANSCRIBE_TRANSCRIPT_H_
