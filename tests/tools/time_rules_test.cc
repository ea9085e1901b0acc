// Rules of times against the original's definition written down plainly over logits in double, and the segments of
// texts.
#include "tools/generate/time_rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "tests/support/plain_time_rules.h"
#include "tools/generate/speech_segments.h"

namespace fovea::tools {
namespace {

using Ids = std::vector<int32_t>;
using Logits = std::vector<double>;

constexpr uint32_t kTokens = 75;
constexpr int32_t kStop = 40, kNone = 44, kFirst = 45;
constexpr double kNever = -HUGE_VAL;

TEST(TimeRules, AreTheOriginalsOnRandomScores) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 2);
  size_t forced = 0, ended = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    // Texts that follow the rules and texts that break them.
    Ids made(random() % 9);
    for (int32_t& token : made)
      token = static_cast<int32_t>(random() % 2 == 0 ? random() % 40 : kFirst + random() % 30);
    TimeTokens times = {kFirst, kStop, kNone, std::nullopt};
    if (random() % 2 == 0) times.latest_first = random() % 30;
    std::vector<float> scores(kTokens);
    for (float& x : scores) x = normal(random);
    if (trial % 3 == 0) scores[random() % kTokens] += 6;  // a token that nothing outweighs
    // Some that are suppressed.
    std::vector<uint32_t> bits((kTokens + 31) / 32, ~0u);
    Logits logits(scores.begin(), scores.end());
    for (int i = 0; i < 5; ++i) {
      const uint32_t token = random() % kStop;
      bits[token / 32] &= ~(1u << token % 32);
      logits[token] = kNever;
    }
    const Logits before = logits;
    test::ApplyPlainTimeRules({kFirst, kStop, kNone, times.latest_first}, made, &logits);
    ApplyTimeRules(times, made.data(), made.size(), scores.data(), kTokens, bits.data());
    for (uint32_t t = 0; t < kTokens; ++t) {
      EXPECT_EQ((bits[t / 32] >> t % 32 & 1) != 0, logits[t] != kNever) << "trial " << trial << " token " << t;
    }
    bool text = false;
    for (uint32_t t = 0; t < kStop; ++t) text = text || logits[t] != kNever;
    forced += text ? 0 : 1;
    ended += logits[kStop] != kNever ? 1 : 0;
    double sum = 0;
    for (const double x : logits) sum += std::exp(x);
    if (sum > 0) {
      EXPECT_NEAR(LogSum(scores.data(), bits.data(), 0, kTokens), std::log(sum), 1e-9);
    }
  }
  EXPECT_GT(forced, 300u);
  EXPECT_LT(forced, 2700u);
  EXPECT_GT(ended, 300u);
}

// Greedy texts of random scores follow the rules.
TEST(TimeRules, TextsComeInSegments) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0, 1);
  const TimeTokens times = {kFirst, kStop, kNone, 6};
  for (int trial = 0; trial < 200; ++trial) {
    Ids made;
    for (int step = 0; step < 60; ++step) {
      std::vector<float> scores(kTokens);
      for (float& x : scores) x = normal(random);
      for (uint32_t t = kFirst; t < kTokens; ++t) scores[t] -= 3;
      for (uint32_t t = kStop + 1; t < kFirst; ++t) scores[t] = NAN;
      std::vector<uint32_t> bits((kTokens + 31) / 32, ~0u);
      ApplyTimeRules(times, made.data(), made.size(), scores.data(), kTokens, bits.data());
      int32_t best = -1;
      for (uint32_t t = 0; t < kTokens; ++t) {
        const bool may = (bits[t / 32] >> t % 32 & 1) != 0 && scores[t] == scores[t];
        if (may && (best < 0 || scores[t] > scores[static_cast<size_t>(best)])) best = static_cast<int32_t>(t);
      }
      if (best < 0 || best == kStop) break;
      made.push_back(best);
    }
    ASSERT_FALSE(made.empty());
    EXPECT_GE(made[0], kFirst);
    EXPECT_LE(made[0], kFirst + 6);
    int32_t last = made[0];
    size_t in_row = 1;
    for (size_t i = 1; i < made.size(); ++i) {
      if (made[i] < kFirst) {
        in_row = 0;
        continue;
      }
      EXPECT_LE(++in_row, 2u);
      EXPECT_TRUE(in_row == 2 ? made[i] >= last : made[i] > last) << i;
      last = made[i];
    }
  }
}

// ---- Segments ----

constexpr uint64_t kStep = 10;
constexpr SpeechWindow kWindow = {1000, 300};

int32_t At(int32_t steps) { return kFirst + steps; }

CutText Cut(const Ids& tokens) { return CutAtTimes(tokens, {kFirst, kStop, kNone, std::nullopt}, kStep, kWindow); }

using Span = std::pair<uint64_t, uint64_t>;
std::vector<Span> Spans(const CutText& cut) {
  std::vector<Span> spans;
  for (const SpeechSegment& segment : cut.segments) spans.emplace_back(segment.begin, segment.end);
  return spans;
}

TEST(SpeechSegments, PairsEndThem) {
  // The text after the last pair of times belongs to the next window.
  CutText cut = Cut({At(0), 1, 2, At(5), At(6), 3, At(9), At(9), 4, 5});
  EXPECT_EQ(Spans(cut), (std::vector<Span>{{1000, 1050}, {1060, 1090}}));
  EXPECT_EQ(cut.segments[0].tokens, (Ids{At(0), 1, 2, At(5)}));
  EXPECT_EQ(cut.segments[1].tokens, (Ids{At(6), 3, At(9)}));
  EXPECT_EQ(cut.next, 1090u);
  EXPECT_FALSE(cut.ends_early);
  // Unless a single time ends it.
  cut = Cut({At(0), 1, 2, At(5), At(6), 3, At(9)});
  EXPECT_EQ(Spans(cut), (std::vector<Span>{{1000, 1050}, {1060, 1090}}));
  EXPECT_EQ(cut.next, 1300u);
  EXPECT_TRUE(cut.ends_early);
  // A pair at the end: the next segment begins there.
  cut = Cut({At(2), 1, At(7), At(8)});
  EXPECT_EQ(Spans(cut), (std::vector<Span>{{1020, 1070}}));
  EXPECT_EQ(cut.next, 1070u);
}

TEST(SpeechSegments, WithoutPairsTheWindowIsOne) {
  CutText cut = Cut({At(3), 1, 2, At(20)});
  EXPECT_EQ(Spans(cut), (std::vector<Span>{{1000, 1200}}));
  EXPECT_EQ(cut.next, 1300u);
  EXPECT_TRUE(cut.ends_early);
  EXPECT_EQ(Spans(Cut({At(0), 1, 2})), (std::vector<Span>{{1000, 1300}})) << "the time 0 gives no end";
  EXPECT_EQ(Spans(Cut({At(4), 1, 2})), (std::vector<Span>{{1000, 1040}}));
  EXPECT_EQ(Spans(Cut({1, 2})), (std::vector<Span>{{1000, 1300}}));
  cut = Cut({});
  EXPECT_EQ(Spans(cut), (std::vector<Span>{{1000, 1300}}));
  EXPECT_EQ(cut.next, 1300u);
  EXPECT_EQ(Cut({At(0)}).next, 1300u);
}

TEST(SpeechSegments, ThereIsAlwaysProgress) {
  EXPECT_EQ(Cut({At(0), At(0), 1, 2}).next, 1300u);
  EXPECT_EQ(Cut({At(0), At(0)}).next, 1300u);
  EXPECT_EQ(Cut({1, At(0), At(0)}).next, 1300u) << "tokens without a time before them";
}

}  // namespace
}  // namespace fovea::tools
