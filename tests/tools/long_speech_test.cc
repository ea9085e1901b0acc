// Transcription of long sounds: where the next window begins, which windows are tried again and which prompt the model
// gets, with a model that follows a script.
#include "tools/generate/long_speech.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>

namespace fovea::tools {
namespace {

using Ids = std::vector<int32_t>;

constexpr int32_t kStop = 40, kFirst = 45;
constexpr uint32_t kRate = 100;              // samples in a second
constexpr uint64_t kStep = 2, kWindow = 60;  // 0.02 s, 0.6 s

int32_t At(int32_t steps) { return kFirst + steps; }

// The model's output for a window at each attempt.
struct Script {
  std::deque<HeardWindow> attempts;
  std::vector<TimedWord> words = {};
};

struct Asked {
  uint64_t begin, length;  // the samples of a sound count up from 0
  Ids previous;
  float temperature;
  bool operator==(const Asked& o) const {
    return begin == o.begin && length == o.length && previous == o.previous && temperature == o.temperature;
  }
};
std::ostream& operator<<(std::ostream& out, const Asked& a) {
  return out << a.begin << "+" << a.length << " after " << ::testing::PrintToString(a.previous) << " at "
             << a.temperature;
}

class Fake : public WindowListener {
 public:
  std::map<std::pair<size_t, uint64_t>, Script> scripts;  // by sound and first sample
  std::map<size_t, std::vector<Asked>> asked;             // by sound
  size_t stop_after = SIZE_MAX;                           // calls of Write

  void Hear(const std::vector<SoundWindow>& windows) override { windows_ = windows; }
  std::vector<HeardWindow> Write(const std::vector<WindowTask>& tasks, float temperature) override {
    EXPECT_EQ(tasks.size(), windows_.size());
    if (stop_after-- == 0) return {};
    std::vector<HeardWindow> heard(tasks.size());
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (!tasks[i].wanted) continue;
      const SoundWindow& window = windows_[i];
      const uint64_t begin = window.part.begin;
      EXPECT_EQ(window.sound->Part(begin, 1).samples.at(0), static_cast<float>(begin));
      asked[window.number].push_back({begin, window.part.length, tasks[i].previous, temperature});
      Script& script = scripts[{window.number, begin}];
      if (script.attempts.empty()) {
        ADD_FAILURE() << "sound " << window.number << " at " << begin << " is not expected";
        return {};
      }
      heard[i] = script.attempts.front();
      heard[i].text = TextOf(heard[i].tokens);
      script.attempts.pop_front();
    }
    return heard;
  }
  // A letter for each token; the token 0 is a space.
  std::string TextOf(const Ids& tokens) const override {
    std::string text;
    for (const int32_t token : tokens) {
      if (token < kStop) text += token == 0 ? ' ' : static_cast<char>('a' + token % 26);
    }
    return text;
  }
  std::vector<TimedWord> Words(size_t window, const Ids& tokens) override {
    std::vector<TimedWord> words = scripts[{windows_[window].number, windows_[window].part.begin}].words;
    Ids all;
    for (const TimedWord& word : words) all.insert(all.end(), word.tokens.begin(), word.tokens.end());
    EXPECT_EQ(all, tokens);
    return words;
  }

 private:
  std::vector<SoundWindow> windows_;
};

Sound Counting(uint64_t samples) {
  Sound sound = {kRate, {}};
  for (uint64_t i = 0; i < samples; ++i) sound.samples.push_back(static_cast<float>(i));
  return sound;
}

std::vector<LongSpeech> Listen(const std::vector<Sound>& sounds, const LongSpeechOptions& options, Fake* fake) {
  std::vector<SoundReader> readers;
  for (const Sound& sound : sounds) readers.emplace_back(sound);
  return ListenToAll(&readers, options, fake);
}

LongSpeechOptions Options() {
  LongSpeechOptions options;
  options.times = {kFirst, kStop, 44, std::nullopt};
  options.step = kStep, options.window = kWindow;
  return options;
}

HeardWindow Good(const Ids& tokens) { return {tokens, "", -0.5, 0.1}; }
HeardWindow Unsure(const Ids& tokens, double no_speech = 0.1) { return {tokens, "", -1.5, no_speech}; }

using Span = std::pair<double, double>;
void ExpectSpans(const LongSpeech& speech, const std::vector<Span>& expected) {
  ASSERT_EQ(speech.segments.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(speech.segments[i].begin, expected[i].first, 1e-9) << i;
    EXPECT_NEAR(speech.segments[i].end, expected[i].second, 1e-9) << i;
  }
}

TEST(LongSpeech, GoesOnWhereItHasFinished) {
  Fake fake;
  const Ids first = {At(0), 1, At(10)}, second = {At(12), 2, At(15)}, third = {At(1), 3, 4, At(20)}, last = {At(0), 5};
  Ids all = first;
  all.insert(all.end(), second.begin(), second.end());
  fake.scripts[{0, 0}].attempts = {Good({At(0), 1, At(10), At(12), 2, At(15), At(15), 3})};
  fake.scripts[{0, 30}].attempts = {Good(third)};  // ends early: the rest of the window is silent
  fake.scripts[{0, 90}].attempts = {Good(last)};   // not finished: until the end
  const LongSpeech speech = Listen({Counting(130)}, Options(), &fake)[0];
  EXPECT_TRUE(speech.finished);
  ExpectSpans(speech, {{0, 0.2}, {0.24, 0.3}, {0.3, 0.7}, {0.9, 1.3}});
  EXPECT_EQ(speech.segments[2].text, "de");
  EXPECT_EQ(speech.segments[2].tokens, third);
  Ids told = all;
  told.insert(told.end(), third.begin(), third.end());
  EXPECT_EQ(fake.asked[0], (std::vector<Asked>{{0, 60, {}, 0}, {30, 60, all, 0}, {90, 40, told, 0}}));
}

// A model may write times of the silence after a sound: its segments and words end with the sound all the same, and
// none is lost.
TEST(LongSpeech, TimesWithinTheSound) {
  Fake fake;
  fake.scripts[{0, 0}].attempts = {Good({At(0), 1, At(10), At(10), 2, At(25)})};
  fake.scripts[{1, 0}].attempts = {Good({At(22), 1, At(23), At(23), 2, At(25)})};
  const std::vector<LongSpeech> all = Listen({Counting(41), Counting(40)}, Options(), &fake);
  ExpectSpans(all[0], {{0, 0.2}, {0.2, 0.41}});
  ExpectSpans(all[1], {{0.4, 0.4}, {0.4, 0.4}});
  EXPECT_EQ(all[1].segments[0].text, "b");

  LongSpeechOptions options = Options();
  options.words = true;
  Fake words;
  words.scripts[{0, 0}].attempts = {Good({At(0), 1, 2, At(25)})};
  words.scripts[{0, 0}].words = {{"b", {1}, 0.1, 0.3}, {"c", {2}, 0.3, 0.5}};
  const LongSpeech timed = Listen({Counting(41)}, options, &words)[0];
  ASSERT_EQ(timed.segments.size(), 1u);
  ASSERT_EQ(timed.segments[0].words.size(), 2u);
  EXPECT_NEAR(timed.segments[0].end, 0.41, 1e-9);
  EXPECT_NEAR(timed.segments[0].words[1].end, 0.41, 1e-9);
  EXPECT_NEAR(timed.segments[0].words[1].begin, 0.3, 1e-9);
}

TEST(LongSpeech, SeveralSoundsAndShortRests) {
  Fake fake;
  fake.scripts[{0, 0}].attempts = {Good({At(0), 1, At(9), At(9), 2})};
  fake.scripts[{0, 18}].attempts = {Good({At(0), 2, At(5)})};
  fake.scripts[{1, 0}].attempts = {Good({At(0), 7, At(9)})};
  fake.scripts[{2, 0}].attempts = {Good({At(0), 8, At(30)})};
  Sound fine = Counting(60 * 10 + 9);  // the rest is less than 10 ms
  fine.rate = 1000;
  Fake slow;
  LongSpeechOptions options = Options();
  const std::vector<LongSpeech> all = Listen(
      {Counting(70), Counting(40), Counting(61)},
      [&] {
        fake.scripts[{2, 60}].attempts = {Good({At(0), 9, At(1)})};
        return options;
      }(),
      &fake);
  ASSERT_EQ(all.size(), 3u);
  ExpectSpans(all[0], {{0, 0.18}, {0.18, 0.28}});
  ExpectSpans(all[1], {{0, 0.18}});
  ExpectSpans(all[2], {{0, 0.6}, {0.6, 0.61}});  // the model writes 0.62, the sound ends before
  EXPECT_EQ(fake.asked[1].size(), 1u);
  EXPECT_EQ(fake.asked[1][0].length, 40u);
  options.window = 600, options.step = 20;
  slow.scripts[{0, 0}].attempts = {Good({At(0), 1, At(5)})};
  ExpectSpans(Listen({fine}, options, &slow)[0], {{0, 0.1}});
}

// Higher temperatures until a text is good enough, or there are no more.
TEST(LongSpeech, TriesAgain) {
  const Ids text = {At(0), 1, 2, At(9)};
  Ids regular = {At(0)};
  for (int i = 0; i < 80; ++i) regular.push_back(1 + i % 2);
  Ids regular_and_end = regular;
  regular_and_end.push_back(At(9));
  const auto asked = [&](const std::deque<HeardWindow>& attempts, const LongSpeechOptions& options,
                         std::vector<SpokenSegment>* segments = nullptr) {
    Fake fake;
    fake.scripts[{0, 0}].attempts = attempts;
    const LongSpeech speech = Listen({Counting(50)}, options, &fake)[0];
    EXPECT_TRUE(speech.finished);
    if (segments != nullptr) *segments = speech.segments;
    std::vector<float> temperatures;
    for (const Asked& a : fake.asked[0]) temperatures.push_back(a.temperature);
    return temperatures;
  };
  using Floats = std::vector<float>;
  std::vector<SpokenSegment> segments;
  EXPECT_EQ(asked({Good(text)}, Options()), Floats{0});
  EXPECT_EQ(asked({Unsure(text), Unsure(text), Good(text)}, Options(), &segments), (Floats{0, 0.2f, 0.4f}));
  ASSERT_EQ(segments.size(), 1u);
  EXPECT_EQ(segments[0].temperature, 0.4f);
  EXPECT_EQ(segments[0].log_probability, -0.5);
  EXPECT_EQ(segments[0].no_speech, 0.1);
  EXPECT_EQ(asked({Good(regular_and_end), Good(text)}, Options(), &segments), (Floats{0, 0.2f}));
  EXPECT_LT(segments[0].compression_ratio, 2.4);
  const std::deque<HeardWindow> never(6, Unsure(text));
  EXPECT_EQ(asked(never, Options(), &segments), (Floats{0, 0.2f, 0.4f, 0.6f, 0.8f, 1}));
  EXPECT_EQ(segments.size(), 1u) << "the last one is taken";
  EXPECT_EQ(segments[0].temperature, 1.0f);
  LongSpeechOptions options = Options();
  options.temperatures = {0.5f};
  EXPECT_EQ(asked({Unsure(text)}, options), Floats{0.5f});
  options = Options();
  options.log_probability.reset();
  EXPECT_EQ(asked({Unsure(text)}, options), Floats{0});
  options.log_probability = -2;
  EXPECT_EQ(asked({Unsure(text)}, options), Floats{0});
  options.compression_ratio.reset();
  EXPECT_EQ(asked({Good(regular_and_end)}, options), Floats{0});
}

TEST(LongSpeech, WhereNobodySpeaksThereIsNoText) {
  const Ids text = {At(0), 1, 2, At(9)};
  const auto said = [&](const std::deque<HeardWindow>& attempts, const LongSpeechOptions& options, size_t tries) {
    Fake fake;
    fake.scripts[{0, 0}].attempts = attempts;
    fake.scripts[{0, 60}].attempts = {Good({At(0), 3, At(9)})};
    const LongSpeech speech = Listen({Counting(100)}, options, &fake)[0];
    EXPECT_EQ(fake.asked[0].size(), tries + 1);
    return speech.segments.size() - 1;
  };
  EXPECT_EQ(said({Unsure(text, 0.7)}, Options(), 1), 0u) << "and nothing is tried again";
  EXPECT_EQ(said({{text, "", -0.5, 0.7}}, Options(), 1), 1u) << "the model is sure of the text";
  LongSpeechOptions options = Options();
  options.no_speech.reset();
  EXPECT_EQ(said(std::deque<HeardWindow>(6, Unsure(text, 0.99)), options, 6), 1u);
  options = Options();
  options.log_probability.reset();
  EXPECT_EQ(said({Unsure(text, 0.7)}, options, 1), 0u);
}

// Text of a high temperature, empty text and text without duration are left out of the prompt.
TEST(LongSpeech, WhatTheModelIsTold) {
  const auto told = [](const std::deque<HeardWindow>& attempts, const LongSpeechOptions& options) {
    Fake fake;
    fake.scripts[{0, 0}].attempts = attempts;
    fake.scripts[{0, 60}].attempts = {Good({At(0), 3, At(9)})};
    Listen({Counting(100)}, options, &fake);
    return fake.asked[0].back().previous;
  };
  const Ids text = {At(0), 1, 2, At(9)};
  EXPECT_EQ(told({Good(text)}, Options()), text);
  EXPECT_EQ(told({Unsure(text), Unsure(text), Good(text)}, Options()), text);
  EXPECT_EQ(told({Unsure(text), Unsure(text), Unsure(text), Good(text)}, Options()), Ids()) << "0.6";
  LongSpeechOptions options = Options();
  options.previous = false;
  EXPECT_EQ(told({Good(text)}, options), Ids());
  EXPECT_EQ(told({Good({At(0), 0, At(9)})}, Options()), Ids()) << "a space";
  EXPECT_EQ(told({Good({At(0), 1, At(4), At(4), At(4), At(5), 2, At(9)})}, Options()),
            (Ids{At(0), 1, At(4), At(5), 2, At(9)}));
}

TEST(LongSpeech, Interrupted) {
  Fake fake;
  fake.stop_after = 1;
  fake.scripts[{0, 0}].attempts = {Good({At(0), 3, At(9)})};
  fake.scripts[{1, 0}].attempts = {Good({At(0), 3, At(9)})};
  const std::vector<LongSpeech> all = Listen({Counting(100), Counting(20)}, Options(), &fake);
  EXPECT_FALSE(all[0].finished);
  EXPECT_NEAR(all[0].reached, 0.6, 1e-9);
  EXPECT_EQ(all[0].segments.size(), 1u) << "what was found is kept";
  EXPECT_TRUE(all[1].finished);
  EXPECT_NEAR(all[1].reached, 0.2, 1e-9);
}

// With words the next window begins after the last word; segments have the times of their words.
TEST(LongSpeech, Words) {
  Fake fake;
  LongSpeechOptions options = Options();
  options.words = true;
  HeardWindow heard = Good({At(0), 1, 2, At(10), At(10), 3, At(14), At(14), 5});
  heard.probabilities = {0.9, 0.5, 0.25, 0.9, 0.9, 0.125, 0.9, 0.9, 0.8};
  fake.scripts[{0, 0}].attempts = {heard};
  fake.scripts[{0, 0}].words = {{"bc", {1, 2}, 0.04, 0.16}, {"d", {3}, 0.22, 0.27}};
  fake.scripts[{0, 27}].attempts = {Good({At(0), 5, At(9)})};
  fake.scripts[{0, 27}].words = {{"f", {5}, 0.1, 0.2}};
  const LongSpeech speech = Listen({Counting(70)}, options, &fake)[0];
  ExpectSpans(speech, {{0.04, 0.16}, {0.22, 0.27}, {0.37, 0.47}});
  ASSERT_EQ(speech.segments[0].words.size(), 1u);
  EXPECT_EQ(speech.segments[0].words[0].probability, 0.375);
  EXPECT_EQ(speech.segments[1].words[0].probability, 0.125);
  EXPECT_NEAR(speech.segments[2].words[0].begin, 0.37, 1e-9);
  EXPECT_EQ(fake.asked[0].back().begin, 27u);
}

// An initial prompt precedes the text of the first windows, and segments are passed on as they are found.
TEST(LongSpeech, InitialPromptAndSegmentsAsTheyAreFound) {
  Fake fake;
  fake.scripts[{0, 0}].attempts = {Good({At(0), 1, At(10), At(10), 2, At(20), At(20)})};
  fake.scripts[{0, 40}].attempts = {Good({At(0), 3, At(30), At(30)})};
  LongSpeechOptions options = Options();
  options.initial = {7, 8};
  std::vector<double> reached;
  options.reached = [&](size_t, double seconds) { reached.push_back(seconds); };
  std::vector<std::string> found;
  std::vector<size_t> windows;  // that were asked for when a segment was found
  options.found = [&](size_t sound, const SpokenSegment& segment) {
    EXPECT_EQ(sound, 0u);
    found.push_back(segment.text);
    windows.push_back(fake.asked[0].size());
  };
  const std::vector<LongSpeech> all = Listen({Counting(100)}, options, &fake);
  EXPECT_EQ(found, (std::vector<std::string>{"b", "c", "d"}));
  EXPECT_EQ(windows, (std::vector<size_t>{1, 1, 2}));
  ASSERT_EQ(reached.size(), 2u);
  EXPECT_NEAR(reached[0], 0.4, 1e-9);
  EXPECT_NEAR(reached[1], 1, 1e-9);
  ASSERT_EQ(fake.asked[0].size(), 2u);
  EXPECT_EQ(fake.asked[0][0].previous, (Ids{7, 8}));
  const Ids& second = fake.asked[0][1].previous;
  ASSERT_GT(second.size(), 2u);
  EXPECT_EQ((Ids{second[0], second[1]}), (Ids{7, 8}));
  EXPECT_TRUE(all[0].finished);
}

}  // namespace
}  // namespace fovea::tools
