#include "tools/transcribe/transcript.h"

#include <fmt/format.h>
#include <math.h>
#include <stdint.h>

#include <algorithm>

#include "tools/base/printable.h"

namespace fovea::tools {
namespace {

// `hours`: always write hours; else only if there are any.
std::string Clock(double seconds, bool hours, char point) {
  const auto all = static_cast<uint64_t>(llround(std::max(0.0, seconds) * 1000));
  const uint64_t minutes = all / 60000, hour = minutes / 60;
  const std::string before = hours || hour > 0 ? fmt::format("{:02}:", hour) : "";
  return fmt::format("{}{:02}:{:02}{}{:03}", before, minutes % 60, all / 1000 % 60, point, all % 1000);
}

// Replaces arrows, which would be parsed as times.
std::string SubtitleOf(std::string text) {
  text = LineOf(text);
  for (size_t at = 0; (at = text.find("-->", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

}  // namespace

std::string LineOf(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  const size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

TranscriptWriter::TranscriptWriter(TranscriptFormat format, bool times, std::ostream& out)
    : format_(format), times_(times), out_(out) {}

void TranscriptWriter::WriteLines(const Transcript& transcript) {
  const bool srt = format_ == TranscriptFormat::kSrt;
  if (format_ == TranscriptFormat::kText) out_ << Printable(transcript.name) << "\n";
  if (format_ == TranscriptFormat::kVtt) out_ << "WEBVTT\n\n";
  size_t number = 0;
  for (const TimedLine& line : transcript.lines) {
    if (format_ == TranscriptFormat::kText) {
      out_ << fmt::format("{:8.2f} {:8.2f}  {}\n", line.begin, line.end, LineOf(line.text));
      continue;
    }
    const char point = srt ? ',' : '.';
    if (srt) out_ << ++number << "\n";
    out_ << Clock(line.begin, srt, point) << " --> " << Clock(line.end, srt, point) << "\n"
         << SubtitleOf(line.text) << "\n\n";
  }
  out_ << std::flush;
}

void TranscriptWriter::Write(const Transcript& transcript) {
  if (format_ == TranscriptFormat::kJson) {
    list_.push_back(transcript.json);
  } else if (format_ == TranscriptFormat::kText && !times_) {
    out_ << transcript.text << std::endl;
  } else {
    WriteLines(transcript);
  }
}

void TranscriptWriter::End() {
  if (format_ == TranscriptFormat::kJson) PrintJson(out_, list_);
}

}  // namespace fovea::tools
