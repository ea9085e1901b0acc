// Times of words: the path through tokens and frames against all possible paths, plain versions of the filters and
// norms, and words of tokens.
#include "tools/generate/word_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace fovea::tools {
namespace {

using Rows = std::vector<std::vector<double>>;

// The original's costs from weights, before it searches for a path: softmax over the frames that count, the norm over
// tokens, the median of a mirrored row, the mean of heads; then rows `from` to `end` negated.
Rows Costs(const HeadWeights& weights, int width, size_t from, size_t end) {
  Rows mean(weights.tokens, std::vector<double>(weights.frames));
  for (size_t head = 0; head < weights.heads; ++head) {
    Rows rows(weights.tokens);
    for (size_t t = 0; t < weights.tokens; ++t) {
      const auto at = weights.values.begin() + static_cast<ptrdiff_t>((head * weights.tokens + t) * weights.frames);
      rows[t].assign(at, at + static_cast<ptrdiff_t>(weights.frames));
      double sum = 0;
      for (const double x : rows[t]) sum += x;
      for (double& x : rows[t]) x /= sum;
    }
    for (size_t f = 0; f < weights.frames; ++f) {
      double m = 0, v = 0;
      for (const auto& row : rows) m += row[f];
      m /= static_cast<double>(rows.size());
      for (const auto& row : rows) v += (row[f] - m) * (row[f] - m);
      v /= static_cast<double>(rows.size());
      for (auto& row : rows) row[f] = (row[f] - m) / std::sqrt(v);
    }
    const int count = static_cast<int>(weights.frames);
    for (size_t t = 0; t < weights.tokens; ++t) {
      for (int f = 0; f < count; ++f) {
        std::vector<double> window;
        for (int k = f - width / 2; k <= f + width / 2; ++k) {
          const int mirrored = k < 0 ? -k : k >= count ? 2 * (count - 1) - k : k;
          if (count > width / 2) window.push_back(rows[t][static_cast<size_t>(mirrored)]);
        }
        std::sort(window.begin(), window.end());
        const double x = window.empty() ? rows[t][static_cast<size_t>(f)] : window[window.size() / 2];
        mean[t][static_cast<size_t>(f)] -= x / static_cast<double>(weights.heads);
      }
    }
  }
  return {mean.begin() + static_cast<ptrdiff_t>(from), mean.begin() + static_cast<ptrdiff_t>(end)};
}

// The lowest sum of all paths to the last entry, and the first column of each row on that path.
struct Best {
  double sum = HUGE_VAL;
  std::vector<size_t> first;
};
void Walk(const Rows& costs, size_t row, size_t column, double sum, std::vector<size_t> first, Best* best) {
  if (first.size() <= row) first.push_back(column);
  sum += costs[row][column];
  if (row + 1 == costs.size() && column + 1 == costs[0].size()) {
    if (sum < best->sum) *best = {sum, first};
    return;
  }
  if (row + 1 < costs.size()) Walk(costs, row + 1, column, sum, first, best);
  if (column + 1 < costs[0].size()) Walk(costs, row, column + 1, sum, first, best);
  if (row + 1 < costs.size() && column + 1 < costs[0].size()) Walk(costs, row + 1, column + 1, sum, first, best);
}

TEST(WordTimes, ThePathIsTheBestOfAll) {
  std::mt19937 random(9);
  std::uniform_real_distribution<double> uniform(0.01, 1);
  for (int trial = 0; trial < 60; ++trial) {
    HeadWeights weights;
    weights.heads = 1 + random() % 3, weights.tokens = 4 + random() % 4,
    weights.frames = 2 + random() % 6;  // with one frame, norms are not defined
    for (size_t i = 0; i < weights.heads * weights.tokens * weights.frames; ++i)
      weights.values.push_back(uniform(random));
    const size_t from = random() % 2 + 1, end = weights.tokens - 1;
    for (const int width : {1, 3, 7}) {
      Best best;
      Walk(Costs(weights, width, from, end), 0, 0, 0, {}, &best);
      EXPECT_EQ(FirstFrames(weights, static_cast<size_t>(width), from, end), best.first) << trial << " width " << width;
    }
  }
}

TEST(WordTimes, WeightsThatAreAllAlike) {
  HeadWeights weights = {2, 4, 5, std::vector<double>(40, 0.0)};
  EXPECT_EQ(FirstFrames(weights, 7, 1, 4).size(), 3u);
}

// Two bytes of a character are two tokens.
std::string TextOf(const std::vector<int32_t>& tokens) {
  static const std::vector<std::string> kPieces = {" It", "'s", " na", "\xc3", "\xaf", "ve",
                                                   ".",   " (", "ok",  ")",    " -",   "\xff"};
  std::string bytes, text;
  for (const int32_t token : tokens) bytes += kPieces[static_cast<size_t>(token)];
  for (size_t i = 0; i < bytes.size(); ++i) {
    const bool whole = bytes[i] == '\xc3' && i + 1 < bytes.size() && bytes[i + 1] == '\xaf';
    if (whole) {
      text += bytes.substr(i++, 2);
    } else {
      text += (bytes[i] & 0x80) != 0 ? "\xef\xbf\xbd" : bytes.substr(i, 1);
    }
  }
  return text;
}

std::vector<std::string> Texts(const std::vector<TimedWord>& words) {
  std::vector<std::string> texts;
  for (const TimedWord& word : words) texts.push_back(word.text);
  return texts;
}

TEST(WordTimes, WordsOfTokens) {
  using Strings = std::vector<std::string>;
  const std::vector<int32_t> tokens = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11};
  std::vector<TimedWord> words = SplitWords(tokens, true, TextOf);
  // A token that is no character in the whole text either is a separate word, here joined to the text before it.
  EXPECT_EQ(Texts(words), (Strings{" It's", " na\xc3\xafve", ".", " (ok", ")\xef\xbf\xbd"}));
  std::vector<int32_t> all;
  for (const TimedWord& word : words) all.insert(all.end(), word.tokens.begin(), word.tokens.end());
  EXPECT_EQ(all, tokens);
  EXPECT_EQ(Texts(SplitWords({0, 1, 2, 3, 4, 5, 6}, true, TextOf)), (Strings{" It's", " na\xc3\xafve", "."}));
  EXPECT_EQ(Texts(SplitWords({0, 1, 2, 3, 4, 5, 6}, false, TextOf)),
            (Strings{" It", "'s", " na", "\xc3\xaf", "ve", "."}));
  EXPECT_EQ(Texts(SplitWords({8, 7, 8, 9, 6}, true, TextOf)), (Strings{"ok", " (ok", ")", "."}));
  words = SplitWords({0, 7, 8, 9, 6, 10}, true, TextOf);
  MergePunctuation(&words);
  EXPECT_EQ(Texts(words), (Strings{" It", " (ok).", "", "", " -"}));
  EXPECT_EQ(words[1].tokens, (std::vector<int32_t>{7, 8, 9, 6}));
  EXPECT_TRUE(SplitWords({}, true, TextOf).empty());
}

TEST(WordTimes, PausesAreNoPartOfWords) {
  std::vector<TimedWord> words = {
      {" a", {1}, 0, 0.2}, {" b", {2}, 0.2, 0.5}, {".", {3}, 0.5, 3}, {" c", {4}, 3, 5}, {" d", {5}, 5, 5}};
  const double median = ShortenWords(&words);  // 0.2, 0.3, 2, 2.5: 1.15
  EXPECT_EQ(median, 0.7);
  EXPECT_NEAR(words[2].end, 0.5 + 1.4, 1e-12);
  EXPECT_NEAR(words[3].begin, 5 - 1.4, 1e-12);
  words = {{" a", {1}, 0, 0.2}, {" b", {2}, 0.2, 0.5}, {" c", {3}, 0.5, 3}};
  EXPECT_NEAR(ShortenWords(&words), 0.3, 1e-12);
  EXPECT_EQ(words[2].end, 3) << "no sentence ends here";
  words.clear();
  EXPECT_EQ(ShortenWords(&words), 0);
}

// After a pause the first words are no longer than twice the median; a segment's time counts where it is far from them.
TEST(WordTimes, SegmentsAndTheirWords) {
  std::vector<SpokenSegment> segments(3);
  segments[0].begin = 0, segments[0].end = 3.9;
  segments[1].begin = 9.5, segments[1].end = 10.1;
  segments[2].begin = 12, segments[2].end = 13;
  double last_end = 0;
  const std::vector<TimedWord> words = {
      {" a", {1, 2}, 0.1, 0.4}, {" b", {3}, 0.4, 4}, {" c", {4}, 4, 10}, {" d", {5}, 10, 12.9}};
  ShareWords(words, {3, 2, 0}, 0.3, &last_end, &segments);
  ASSERT_EQ(segments[0].words.size(), 2u);
  EXPECT_EQ(segments[0].begin, 0.1);
  EXPECT_EQ(segments[0].end, 4) << "less than half a second apart";
  ASSERT_EQ(segments[1].words.size(), 2u);
  // The second word is also long: the border between both is 0.6 before its end; the first one is 0.6 long.
  EXPECT_NEAR(segments[1].words[0].end, 12.3, 1e-12);
  EXPECT_NEAR(segments[1].words[0].begin, 11.7, 1e-12);
  EXPECT_NEAR(segments[1].words[1].begin, 12.3, 1e-12);
  EXPECT_NEAR(segments[1].begin, 11.7, 1e-12);
  EXPECT_EQ(segments[1].end, 12.9) << "it is before the last word";
  EXPECT_TRUE(segments[2].words.empty());
  EXPECT_EQ(segments[2].begin, 12);
  EXPECT_EQ(last_end, 12.9);
}

}  // namespace
}  // namespace fovea::tools
