// Windows of contexts, labels by entailment: the rules with numbers worked out by hand.
#include "tools/prediction/answers.h"

#include <gtest/gtest.h>
#include <math.h>

#include "tools/base/fail.h"
#include "tools/prediction/zero_shot.h"
#include "tools/run/questions.h"

namespace fovea::test {
namespace {

TEST(Answers, Characters) {
  EXPECT_EQ(tools::CharactersBefore("caf\u00e9s", 6), 5u);
  EXPECT_EQ(tools::CharactersBefore("caf\u00e9s", 5), 4u);
  EXPECT_EQ(tools::CharactersBefore("\U0001f600x", 4), 1u);
}

// Tokens of a pair: 100 (special), 1 2 (question), 101, 11 12 .. (context), 102; types are 1 from the context on.
tools::Tokens Pair(int context) {
  tools::Tokens pair;
  const auto add = [&](int32_t id, bool special, bool second) {
    pair.ids.push_back(id);
    pair.types.push_back(second ? 1 : 0);
    pair.special.push_back(special ? 1 : 0);
    pair.begin.push_back(static_cast<uint32_t>(id));
    pair.end.push_back(static_cast<uint32_t>(id) + 1);
    pair.second.push_back(second ? 1 : 0);
  };
  add(100, true, false);
  add(1, false, false);
  add(2, false, false);
  add(101, true, false);
  for (int i = 0; i < context; ++i) add(11 + i, false, true);
  add(102, true, true);
  return pair;
}

std::string Ids(const std::vector<tools::Tokens>& windows) {
  std::string text;
  for (const tools::Tokens& window : windows) {
    for (const int32_t id : window.ids) text += std::to_string(id) + " ";
    text += "/ ";
  }
  return text;
}

// As tokenizers cuts with a stride: each window but the last is full, the next one begins `stride` tokens before its
// end.
TEST(Answers, LongContextsAreSplit) {
  EXPECT_EQ(Ids(tools::SplitSecond(Pair(5), 10, 1)), "100 1 2 101 11 12 13 14 15 102 / ");
  EXPECT_EQ(Ids(tools::SplitSecond(Pair(7), 10, 1)), "100 1 2 101 11 12 13 14 15 102 / 100 1 2 101 15 16 17 102 / ");
  EXPECT_EQ(Ids(tools::SplitSecond(Pair(7), 9, 0)), "100 1 2 101 11 12 13 14 102 / 100 1 2 101 15 16 17 102 / ");
  EXPECT_EQ(Ids(tools::SplitSecond(Pair(6), 8, 2)),
            "100 1 2 101 11 12 13 102 / 100 1 2 101 12 13 14 102 / 100 1 2 101 13 14 15 102 / 100 1 2 101 14 15 16 "
            "102 / ");
  const std::vector<tools::Tokens> windows = tools::SplitSecond(Pair(7), 9, 0);
  EXPECT_EQ(windows[1].types, (std::vector<int32_t>{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(windows[1].begin[4], 15u);
  EXPECT_EQ(windows[1].second, (std::vector<uint8_t>{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_THROW(tools::SplitSecond(Pair(7), 7, 2), tools::Failure);  // no progress
  EXPECT_THROW(tools::SplitSecond(Pair(7), 5, 0), tools::Failure);  // no room
}

TEST(ZeroShot, FormulasOfTheOriginal) {
  // Rows: labels; classes: contradiction, neutral, entailment.
  const tools::Matrix logits = {2, 3, {1, 9, 3, 2, -5, 1}};
  const std::vector<float> one = tools::LabelScores(logits, 2, false);
  EXPECT_NEAR(one[0], exp(3) / (exp(3) + exp(1)), 1e-7);
  EXPECT_NEAR(one[1], exp(1) / (exp(3) + exp(1)), 1e-7);
  const std::vector<float> many = tools::LabelScores(logits, 2, true);
  EXPECT_NEAR(many[0], exp(3) / (exp(3) + exp(1)), 1e-7);
  EXPECT_NEAR(many[1], exp(1) / (exp(1) + exp(2)), 1e-7);
  // Entailment first: the last class contradicts.
  EXPECT_NEAR(tools::LabelScores(logits, 0, true)[1], exp(2) / (exp(2) + exp(1)), 1e-7);
  // A single label is never certain because it is the only one.
  EXPECT_NEAR(tools::LabelScores({1, 3, {1, 9, 3}}, 2, false)[0], exp(3) / (exp(3) + exp(1)), 1e-7);

  EXPECT_EQ(tools::EntailmentClass({"CONTRADICTION", "NEUTRAL", "ENTAILMENT"}), 2u);
  EXPECT_EQ(tools::EntailmentClass({"entailed", "not_entailment"}), 0u);
  EXPECT_EQ(tools::EntailmentClass({"LABEL_0", "not_entailment"}), std::nullopt);
  EXPECT_EQ(tools::HypothesisFor("This is {}.", "{}"), "This is {}.");
  EXPECT_EQ(tools::HypothesisFor("{}", "a b"), "a b");
  EXPECT_THROW(tools::HypothesisFor("This is.", "a"), tools::Failure);
  EXPECT_THROW(tools::HypothesisFor("{} is {}.", "a"), tools::Failure);
  EXPECT_EQ(tools::SplitLabels(" a, b c,,d ,"), (std::vector<std::string>{"a", "b c", "d"}));
  EXPECT_EQ(tools::SplitLabels(" , "), std::vector<std::string>());
}

}  // namespace
}  // namespace fovea::test
