#include "tools/transcribe/transcript.h"

#include <fmt/format.h>
#include <math.h>
#include <stdint.h>

#include <algorithm>

#include "tools/base/printable.h"

namespace fovea::tools {
namespace {

// To milliseconds, as subtitles: sums of frames are not exact.
double Rounded(double seconds) { return round(seconds * 1000) / 1000; }

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

ListForm ListOf(TranscriptFormat format) {
  if (format == TranscriptFormat::kJson) return ListForm::kArray;
  return format == TranscriptFormat::kJsonLines ? ListForm::kLines : ListForm::kText;
}

}  // namespace

std::string LineOf(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  const size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

TranscriptWriter::TranscriptWriter(TranscriptFormat format, bool times, std::ostream& out)
    : format_(format), times_(times), out_(out), list_(out, ListOf(format)) {}

void TranscriptWriter::Begin(const std::string& name) {
  if (format_ == TranscriptFormat::kText && times_) out_ << Printable(name) << "\n";
  if (format_ == TranscriptFormat::kVtt) out_ << "WEBVTT\n\n";
  begun_ = true;
  number_ = 0;
  blanks_.clear();
}

void TranscriptWriter::Add(const TimedLine& line) {
  if (format_ == TranscriptFormat::kText && times_) {
    out_ << fmt::format("{:8.2f} {:8.2f}  {}\n", Rounded(line.begin), Rounded(line.end), LineOf(line.text));
    return;
  }
  const bool srt = format_ == TranscriptFormat::kSrt;
  const char point = srt ? ',' : '.';
  if (srt) out_ << ++number_ << "\n";
  out_ << Clock(line.begin, srt, point) << " --> " << Clock(line.end, srt, point) << "\n"
       << SubtitleOf(line.text) << "\n\n";
}

void TranscriptWriter::WriteLine(const std::string& name, const TimedLine& line) {
  if (ListOf(format_) != ListForm::kText) return;
  if (!begun_) Begin(name);
  if (format_ == TranscriptFormat::kText && !times_) {
    // As LineOf of the whole text.
    std::string text = blanks_ + line.text;
    std::replace(text.begin(), text.end(), '\n', ' ');
    if (!written_) text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
    const size_t end = text.find_last_not_of(' ') + 1;
    blanks_ = text.substr(end);
    written_ = written_ || end != 0;
    out_ << text.substr(0, end) << std::flush;
    return;
  }
  Add(line);
  out_ << std::flush;
}

void TranscriptWriter::Write(const Transcript& transcript) {
  const bool plain = format_ == TranscriptFormat::kText && !times_;
  if (ListOf(format_) != ListForm::kText) {
    list_.Add(transcript.json);
  } else if (plain) {
    out_ << (begun_ ? "" : transcript.text) << "\n";
  } else if (!begun_) {
    Begin(transcript.name);
    for (const TimedLine& line : transcript.lines) Add(line);
  }
  out_ << std::flush;
  begun_ = written_ = false;
}

void TranscriptWriter::End() {
  list_.End();
  if (begun_ && format_ == TranscriptFormat::kText && !times_) out_ << std::endl;  // interrupted within a file
}

}  // namespace fovea::tools
