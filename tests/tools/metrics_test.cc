// Metrics of evaluations: values worked out by hand, and examples from the documentation of SciPy and scikit-learn.
#include "tools/eval/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "tools/eval/agreement.h"
#include "tools/eval/windows.h"
#include "tools/measure/alternating_runs.h"
#include "tools/measure/distance.h"
#include "tools/measure/percentile.h"

namespace fovea::test {
namespace {

using tools::AverageRanks;
using tools::Confusion;
using tools::Pearson;
using tools::Spearman;
using tools::Window;

using Numbers = std::vector<double>;

TEST(Metrics, CorrelationsOfKnownExamples) {
  EXPECT_NEAR(Pearson({1, 2, 3, 4, 5}, {2, 1, 4, 3, 5}), 0.8, 1e-12);
  EXPECT_NEAR(Pearson({1, 2, 3, 4, 5}, {10, 9, 2.5, 6, 4}), -0.7426106572325056, 1e-12);  // scipy.stats.pearsonr
  EXPECT_NEAR(Spearman({1, 2, 3, 4, 5}, {5, 6, 7, 8, 7}), 0.82078268166812329, 1e-12);    // scipy.stats.spearmanr
  EXPECT_NEAR(Spearman({1, 10, 100, 1000}, {-5, 0, 1, 9000}), 1, 1e-12);                  // any rising function
  EXPECT_NEAR(Pearson({1e9 + 1, 1e9 + 2, 1e9 + 3}, {3, 2, 1}), -1, 1e-6);                 // far from zero
  EXPECT_EQ(AverageRanks({30, 10, 20, 10, 30, 30}), (Numbers{5, 1.5, 3, 1.5, 5, 5}));
  EXPECT_EQ(AverageRanks({}), Numbers());
}

TEST(Metrics, CorrelationsThatAreNotDefined) {
  EXPECT_TRUE(std::isnan(Pearson({1, 2, 3}, {4, 4, 4})));
  EXPECT_TRUE(std::isnan(Spearman({4, 4}, {1, 2})));
  EXPECT_TRUE(std::isnan(Pearson({1}, {2})));
  EXPECT_TRUE(std::isnan(Pearson({}, {})));
}

// Ranks by counting: the smaller values, and half of the equal ones.
TEST(Metrics, RanksOfRandomNumbersWithTies) {
  std::mt19937 random(3);
  Numbers numbers(200);
  for (double& number : numbers) number = static_cast<double>(random() % 40);
  const Numbers ranks = AverageRanks(numbers);
  for (size_t i = 0; i < numbers.size(); ++i) {
    double expected = 0.5;
    for (const double other : numbers) expected += other < numbers[i] ? 1 : other == numbers[i] ? 0.5 : 0;
    EXPECT_EQ(ranks[i], expected);
  }
}

Confusion Of(size_t classes, const std::vector<std::pair<size_t, size_t>>& pairs) {
  Confusion confusion(classes);
  for (const auto& [expected, said] : pairs) confusion.Add(expected, said);
  return confusion;
}

TEST(Metrics, ClassesOfKnownExamples) {
  // cat, dog, pig: scikit-learn's example of precision_recall_fscore_support, macro: 0.22, 0.33, 0.26.
  const Confusion animals = Of(3, {{0, 0}, {1, 2}, {2, 1}, {0, 0}, {1, 0}, {2, 1}});
  EXPECT_NEAR(animals.Of(0).precision, 2.0 / 3, 1e-12);
  EXPECT_EQ(animals.Of(0).recall, 1);
  EXPECT_NEAR(animals.Of(0).f1, 0.8, 1e-12);
  EXPECT_EQ(animals.Of(1).f1, 0);
  EXPECT_NEAR(animals.MacroF1(), 0.8 / 3, 1e-12);
  EXPECT_NEAR(animals.Accuracy(), 2.0 / 6, 1e-12);
  // Its confusion_matrix of ant, bird, cat: [[2, 0, 0], [0, 0, 1], [1, 0, 2]].
  const Confusion matrix = Of(3, {{2, 0}, {0, 0}, {2, 2}, {2, 2}, {0, 0}, {1, 2}});
  const uint64_t expected[3][3] = {{2, 0, 0}, {0, 0, 1}, {1, 0, 2}};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) EXPECT_EQ(matrix.At(i, j), expected[i][j]);
  }
  EXPECT_EQ(matrix.Of(2).support, 3u);
  EXPECT_EQ(matrix.Of(0).predicted, 3u);
  EXPECT_NEAR(matrix.Of(2).precision, 2.0 / 3, 1e-12);
}

// A class that is neither expected nor predicted does not count; one that is only predicted counts with 0.
TEST(Metrics, MacroF1IsOverClassesThatOccur) {
  const Confusion confusion = Of(4, {{0, 0}, {0, 0}, {0, 2}});
  EXPECT_NEAR(confusion.MacroF1(), 0.8 / 2, 1e-12);
  EXPECT_EQ(Confusion(3).MacroF1(), 0);
  EXPECT_EQ(Confusion(3).Accuracy(), 0);
}

TEST(Metrics, PercentilesAndAgreement) {
  const Numbers numbers = {5, 1, 4, 2, 3, 10, 9, 8, 7, 6};
  EXPECT_EQ(tools::PercentileOf(numbers, 0), 1);
  EXPECT_EQ(tools::PercentileOf(numbers, 5), 1);
  EXPECT_EQ(tools::PercentileOf(numbers, 50), 5);
  EXPECT_EQ(tools::PercentileOf(numbers, 51), 6);
  EXPECT_EQ(tools::PercentileOf(numbers, 100), 10);
  EXPECT_TRUE(std::isnan(tools::PercentileOf({3, NAN, 1}, 0)));
  EXPECT_EQ(tools::PercentileOf({3, NAN, 1}, 100), 3);
  EXPECT_TRUE(std::isnan(tools::PercentileOf({}, 50)));

  tools::Agreement agreement(true);
  agreement.Add({2, 2, {3, 4, 1, 0}}, {2, 2, {4, 3, 2, 0}});
  const tools::OrderedJson told = agreement.Json();
  EXPECT_EQ(told["rows"], 2);
  EXPECT_EQ(told["same_choice"], 0.5);
  EXPECT_NEAR(told["cosine"]["p0"].get<double>(), 0.96, 1e-6);
  EXPECT_NEAR(told["cosine"]["p50"].get<double>(), 0.96, 1e-6);
  agreement.Add({1, 2, {1, 1}}, {1, 3, {1, 1, 1}});
  EXPECT_TRUE(agreement.Json().is_null());
  EXPECT_TRUE(tools::Agreement(false).Json().is_null());
}

TEST(Closeness, OfRowsWithAndWithoutDirection) {
  const auto cosine = [](const std::vector<float>& a, const std::vector<float>& b) {
    return tools::Cosine(a.data(), b.data(), a.size());
  };
  EXPECT_NEAR(cosine({3, 4}, {4, 3}), 0.96, 1e-12);
  EXPECT_NEAR(cosine({1, 2}, {-2, -4}), -1, 1e-12);
  EXPECT_NEAR(cosine({1e30f, 0}, {3e38f, 3e38f}), std::sqrt(0.5), 1e-6);
  EXPECT_EQ(cosine({0, 0}, {0, 0}), 1);
  EXPECT_EQ(cosine({0, 0}, {1, 0}), 0);
  EXPECT_EQ(cosine({-INFINITY, 1}, {-INFINITY, 1}), 1);
  EXPECT_EQ(cosine({-INFINITY, 1}, {-INFINITY, 2}), 0);
  EXPECT_EQ(cosine({1, NAN}, {1, 2}), 0);
  EXPECT_EQ(cosine({1, NAN}, {1, NAN}), 0);
  EXPECT_EQ(tools::Difference(2, 0.5), 1.5);
  EXPECT_EQ(tools::Difference(-INFINITY, -INFINITY), 0);
  EXPECT_EQ(tools::Difference(INFINITY, 1), INFINITY);
  EXPECT_EQ(tools::Difference(1, NAN), INFINITY);
}

TEST(AlternatingRuns, ChangeWhoIsFirstAndTellTheRatio) {
  tools::AlternatingRuns turns;
  std::string order;
  for (int i = 0; i < 4; ++i) turns.RunBoth([&] { return order += 'a', 1.0; }, [&] { return order += 'b', 1.0; });
  EXPECT_EQ(order, "abbaabba");
  EXPECT_EQ(turns.count(), 4u);
  tools::AlternatingRuns plain;
  const Numbers a = {1, 2, 4, 8}, b = {2, 6, 4, 20};
  for (size_t i = 0; i < 4; ++i) plain.RunBoth([&] { return a[i]; }, [&] { return b[i]; });
  EXPECT_EQ(plain.seconds(), 47);
  const tools::OrderedJson told = plain.Json();
  EXPECT_EQ(told["first"]["runs"], 4);
  EXPECT_EQ(told["first"]["seconds"], 15);
  EXPECT_EQ(told["second"]["ms"]["p50"], 4000);
  EXPECT_EQ(told["ratio"], 2);         // 4 by 2
  EXPECT_EQ(told["turns"]["p25"], 1);  // quartile of 1, 2, 2.5, 3
  EXPECT_EQ(told["turns"]["p50"], 2);
  EXPECT_EQ(told["turns"]["p75"], 2.5);
  EXPECT_EQ(plain.Json(false)["ratio"], 32.0 / 15);
  EXPECT_FALSE(plain.Json(false).contains("turns"));
  EXPECT_NE(tools::AlternatingRunsText(told, "A", "B").find("B takes 2.000 times as long as A"), std::string::npos);
}

// The loop of transformers' documentation, written down: which tokens have labels in which window, less the first of
// each window, which the shift takes away.
std::vector<Window> DocumentedWindows(size_t tokens, size_t length, size_t stride) {
  std::vector<Window> windows;
  size_t previous_end = 0;
  for (size_t begin = 0; begin < tokens; begin += stride) {
    const size_t end = std::min(begin + length, tokens), targets = end - previous_end;
    const size_t counted = std::max(end - targets, begin + 1);
    if (counted < end) windows.push_back({begin, end, counted});
    previous_end = end;
    if (end == tokens) break;
  }
  return windows;
}

TEST(Windows, AreThoseOfTheDocumentation) {
  for (size_t tokens = 0; tokens < 40; ++tokens) {
    for (size_t length = 2; length < 14; ++length) {
      for (size_t stride = 1; stride <= length; ++stride) {
        const std::vector<Window> found = tools::WindowsOf(tokens, length, stride);
        const std::vector<Window> expected = DocumentedWindows(tokens, length, stride);
        ASSERT_EQ(found.size(), expected.size()) << tokens << " " << length << " " << stride;
        for (size_t i = 0; i < found.size(); ++i) {
          EXPECT_EQ(found[i].begin, expected[i].begin);
          EXPECT_EQ(found[i].end, expected[i].end);
          EXPECT_EQ(found[i].counted, expected[i].counted);
        }
      }
    }
  }
}

// For any run: rows in order, each counted token once as a target, and its bytes.
TEST(Windows, StepsReadEveryRowOnce) {
  std::vector<tools::TokenText> texts;
  for (const size_t length : {1, 9, 2, 30, 3}) {
    tools::TokenText text;
    for (size_t i = 0; i < length; ++i) {
      text.ids.push_back(static_cast<int32_t>(100 * texts.size() + i));
      text.bytes.push_back(i + 1);
    }
    texts.push_back(text);
  }
  for (const tools::StepLimits limits : {tools::StepLimits{1, 100, true}, {3, 8, true}, {3, 8, false}, {2, 3, true}}) {
    const std::vector<tools::WindowStep> steps = tools::StepsOf(texts, 10, 6, limits);
    std::vector<int32_t> targets;
    uint64_t bytes = 0;
    for (const tools::WindowStep& step : steps) {
      size_t rows = 0;
      for (const uint32_t length : step.lengths) rows += length;
      EXPECT_EQ(rows, step.ids.size());
      EXPECT_EQ(rows, step.targets.size());
      EXPECT_LE(step.lengths.size(), limits.windows);
      if (limits.parts || step.lengths.size() > 1) {
        EXPECT_LE(rows, limits.rows);
      }
      if (!step.begins) {
        EXPECT_EQ(step.lengths.size(), 1u);
      }
      bytes += step.bytes;
      for (size_t i = 0; i < rows; ++i) {
        if (step.targets[i] < 0) continue;
        EXPECT_EQ(step.targets[i], step.ids[i] + 1);
        targets.push_back(step.targets[i]);
      }
    }
    std::vector<int32_t> expected;
    uint64_t expected_bytes = 0;
    for (const tools::TokenText& text : texts) {
      for (size_t i = 1; i < text.ids.size(); ++i) {
        expected.push_back(text.ids[i]);
        expected_bytes += i + 1;
      }
    }
    EXPECT_EQ(targets, expected);
    EXPECT_EQ(bytes, expected_bytes);
  }
}

}  // namespace
}  // namespace fovea::test
