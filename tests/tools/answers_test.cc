// Answers as spans, labels by entailment: the rules with numbers worked out by hand.
#include "tools/prediction/answers.h"

#include <gtest/gtest.h>
#include <math.h>

#include "tools/base/fail.h"
#include "tools/prediction/zero_shot.h"
#include "tools/run/questions.h"

namespace fovea::test {
namespace {

using tools::Answer;
using tools::AnswerRules;
using tools::AnswerToken;
using tools::AnswerWindow;
using tools::FindAnswers;

// Scores whose softmax over the tokens that count are these probabilities.
std::vector<double> Logs(const std::vector<double>& shares) {
  std::vector<double> logs;
  for (const double share : shares) logs.push_back(share == 0 ? -1000 : log(share) + 3);
  return logs;
}

// "[CLS] who [SEP] Ada met Bob s [SEP]": "Bobs" is one word of two tokens.
const char kContext[] = "Ada met Bobs";
AnswerWindow Window(const std::vector<double>& starts, const std::vector<double>& ends) {
  return {{{false, 0, 0, false},
           {false, 0, 3, false},
           {false, 0, 0, false},
           {true, 0, 3, false},
           {true, 4, 7, false},
           {true, 8, 11, false},
           {true, 11, 12, true},
           {false, 0, 0, false}},
          true,
          Logs(starts),
          Logs(ends)};
}

std::string Text(const std::vector<Answer>& answers) {
  std::string text;
  for (const Answer& answer : answers) {
    text += fmt::format("{}-{} {:.4f}; ", answer.begin, answer.end, answer.score);
  }
  return text;
}

TEST(Answers, ProductOfProbabilitiesOfWholeWords) {
  // The question's and the last special token do not count, however large their scores are.
  AnswerWindow window = Window({0.1, 0, 0, 0.5, 0.2, 0.16, 0.04, 0}, {0.2, 0, 0, 0.1, 0.1, 0.2, 0.4, 0});
  window.starts[1] = window.ends[1] = window.starts[7] = window.ends[2] = 50;
  AnswerRules rules;
  EXPECT_EQ(Text(FindAnswers(kContext, {window}, rules)), "0-12 0.2000; ");  // 0.5 * 0.4, to the end of the word
  // 0.5 * 0.4 and 0.5 * 0.2 are both "Ada met Bobs", as the word of the last token is taken as a whole.
  rules.top = 2;
  EXPECT_EQ(Text(FindAnswers(kContext, {window}, rules)), "0-12 0.3000; ");
  // Then 0.2 * 0.4 and 0.16 * 0.4.
  rules.top = 4;
  EXPECT_EQ(Text(FindAnswers(kContext, {window}, rules)), "0-12 0.3000; 4-12 0.0800; 8-12 0.0640; ");
  // One token: 0.5 * 0.1, 0.16 * 0.2 and 0.04 * 0.4 (both "Bobs"), 0.2 * 0.1.
  rules.longest = 1;
  EXPECT_EQ(Text(FindAnswers(kContext, {window}, rules)), "0-3 0.0500; 8-12 0.0480; 4-7 0.0200; ");
  rules.longest = 2;  // 0.5 * 0.1 twice, 0.16 * 0.4, 0.2 * 0.2
  EXPECT_EQ(Text(FindAnswers(kContext, {window}, rules)), "8-12 0.0640; 0-3 0.0500; 0-7 0.0500; 4-12 0.0400; ");
}

TEST(Answers, NoneIsTheLeastOfAllWindows) {
  const AnswerWindow likely = Window({0.9, 0, 0, 0.1, 0, 0, 0, 0}, {0.8, 0, 0, 0.2, 0, 0, 0, 0});
  const AnswerWindow unlikely = Window({0.3, 0, 0, 0, 0.7, 0, 0, 0}, {0.4, 0, 0, 0, 0.6, 0, 0, 0});
  AnswerRules rules;
  rules.top = 3;
  EXPECT_EQ(Text(FindAnswers(kContext, {likely, unlikely}, rules)), "4-7 0.4200; 0-3 0.0200; ");
  rules.allow_none = true;
  EXPECT_EQ(Text(FindAnswers(kContext, {likely}, rules)), "0-0 0.7200; 0-3 0.0200; ");
  EXPECT_EQ(Text(FindAnswers(kContext, {likely, unlikely}, rules)), "4-7 0.4200; 0-0 0.1200; 0-3 0.0200; ");
  rules.top = 1;
  EXPECT_EQ(Text(FindAnswers(kContext, {likely}, rules)), "0-0 0.7200; ");
  // A first token that is not special counts as any token of the context.
  AnswerWindow plain = likely;
  plain.first_is_special = false;
  rules.top = 3;
  EXPECT_EQ(Text(FindAnswers(kContext, {plain}, rules)), "0-3 1.0000; 0-0 0.0000; ");
  EXPECT_EQ(Text(FindAnswers("", {}, rules)), "");
  EXPECT_EQ(Text(FindAnswers("", {{{{false, 0, 0, false}}, false, {1}, {1}}}, rules)), "0-0 0.0000; ");
}

TEST(Answers, EqualTextsAreOne) {
  const std::string context = "Bob or bob or Rob";
  const std::vector<AnswerToken> tokens = {
      {true, 0, 3, false}, {true, 3, 6, false}, {true, 6, 10, false}, {true, 10, 13, false}, {true, 13, 17, false}};
  const AnswerWindow window = {tokens, false, Logs({0, 0.2, 0.5, 0.1, 0.2}), Logs({0, 0.2, 0.5, 0.1, 0.2})};
  AnswerRules rules;
  rules.top = 2;
  rules.longest = 1;
  // The space that a token includes belongs to no answer. The first token of a window is never one, as in the original.
  EXPECT_EQ(Text(FindAnswers(context, {window}, rules)), "7-10 0.2500; 4-6 0.0400; ");
  EXPECT_EQ(Text(FindAnswers(context, {window, window}, rules)), "7-10 0.5000; 4-6 0.0800; ");
  // Another case is the same answer.
  const std::string other = "Bob or BOB or Rob";
  const std::vector<AnswerToken> shifted = {
      {false, 0, 0, false}, {true, 0, 3, false}, {true, 6, 10, false}, {true, 13, 17, false}};
  const AnswerWindow both = {shifted, true, Logs({0.2, 0.3, 0.4, 0.1}), Logs({0.2, 0.3, 0.4, 0.1})};
  EXPECT_EQ(Text(FindAnswers(other, {both}, rules)), "7-10 0.2500; ");
}

TEST(Answers, WordsAndCharacters) {
  const auto inside = [](const std::string& text, size_t at) { return tools::IsInsideWord(text, at); };
  EXPECT_TRUE(inside("London", 3));
  EXPECT_FALSE(inside("London.", 6));
  EXPECT_TRUE(inside("...", 1));
  EXPECT_FALSE(inside("mp3", 2));
  EXPECT_TRUE(inside("1889", 2));
  EXPECT_FALSE(inside("x", 0));
  EXPECT_FALSE(inside("x", 1));
  EXPECT_TRUE(inside("caf\u00e9s", 3));     // letters above ASCII
  EXPECT_TRUE(inside("caf\u00e9s", 5));     // after one
  EXPECT_TRUE(inside("caf\u00e9s", 4));     // within one
  EXPECT_FALSE(inside("one\u2014two", 3));  // a dash
  EXPECT_FALSE(inside("one\u2014two", 6));
  EXPECT_FALSE(inside("\u6771\u4eac\u3002", 6));  // an ideographic full stop
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
