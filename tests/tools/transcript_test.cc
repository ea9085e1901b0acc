// How transcripts are written.
#include "tools/transcribe/transcript.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tools/media/notes.h"
#include "tools/transcribe/position.h"

namespace fovea::tools {
namespace {

std::string Written(TranscriptFormat format, bool times) {
  std::ostringstream out;
  TranscriptWriter writer(format, times, out);
  writer.Write({"a.wav",
                "One two. Three",
                {{0, 1.5, " One two."}, {59.9996, 61.25, " a --> b\nc"}, {3600.007, 7325.1, " Three"}},
                {{"input", "a.wav"}}});
  writer.End();
  return out.str();
}

TEST(Transcript, Positions) {
  EXPECT_EQ(PositionText(0), "0:00");
  EXPECT_EQ(PositionText(59.99), "0:59");
  EXPECT_EQ(PositionText(754), "12:34");
  EXPECT_EQ(PositionText(3600 * 11 + 62), "11:01:02");
}

TEST(Transcript, EqualNotesAreOneLine) {
  std::ostringstream err;
  PrintNotes(err, "a.wav", {"one", "two", "two", "two", "one"});
  EXPECT_EQ(err.str(), "fovea: a.wav: one\nfovea: a.wav: two (3 times)\nfovea: a.wav: one\n");
}

TEST(Transcript, IsALine) { EXPECT_EQ(Written(TranscriptFormat::kText, false), "One two. Three\n"); }

TEST(Transcript, WithTimes) {
  EXPECT_EQ(Written(TranscriptFormat::kText, true),
            "a.wav\n    0.00     1.50  One two.\n   60.00    61.25  a --> b c\n 3600.01  7325.10  Three\n");
}

// As the original writes them: hours always, or where there are some; no arrow within a text.
TEST(Transcript, AsSubtitles) {
  EXPECT_EQ(Written(TranscriptFormat::kSrt, true),
            "1\n00:00:00,000 --> 00:00:01,500\nOne two.\n\n2\n00:01:00,000 --> 00:01:01,250\na -> b c\n\n"
            "3\n01:00:00,007 --> 02:02:05,100\nThree\n\n");
  EXPECT_EQ(Written(TranscriptFormat::kVtt, true),
            "WEBVTT\n\n00:00.000 --> 00:01.500\nOne two.\n\n01:00.000 --> 01:01.250\na -> b c\n\n"
            "01:00:00.007 --> 02:02:05.100\nThree\n\n");
}

TEST(Transcript, AsJson) {
  EXPECT_EQ(Written(TranscriptFormat::kJson, true), "[\n  {\n    \"input\": \"a.wav\"\n  }\n]\n");
}

TEST(Transcript, AsJsonLines) { EXPECT_EQ(Written(TranscriptFormat::kJsonLines, true), "{\"input\":\"a.wav\"}\n"); }

// Lines that are written as they are found make the same text as a whole transcript, and nothing twice.
TEST(Transcript, LineByLine) {
  const std::vector<TimedLine> lines = {{0, 1.5, "  One\ntwo. "}, {2, 3, " Three "}, {3, 4, ""}};
  const Transcript transcript = {"a.wav", LineOf("  One\ntwo.  Three "), lines, {{"input", "a.wav"}}};
  for (const TranscriptFormat format : {TranscriptFormat::kText, TranscriptFormat::kSrt, TranscriptFormat::kVtt,
                                        TranscriptFormat::kJson, TranscriptFormat::kJsonLines}) {
    const bool json = format == TranscriptFormat::kJson || format == TranscriptFormat::kJsonLines;
    for (const bool times : {false, true}) {
      std::ostringstream whole, streamed;
      TranscriptWriter at_once(format, times, whole), by_line(format, times, streamed);
      for (int file = 0; file < 2; ++file) {
        at_once.Write(transcript);
        for (const TimedLine& line : lines) {
          const size_t before = streamed.str().size();
          by_line.WriteLine("a.wav", line);
          EXPECT_TRUE(json ? streamed.str().size() == before : !streamed.str().empty());
        }
        by_line.Write(transcript);
      }
      at_once.End();
      by_line.End();
      EXPECT_EQ(streamed.str(), whole.str()) << static_cast<int>(format) << times;
    }
  }
}

}  // namespace
}  // namespace fovea::tools
