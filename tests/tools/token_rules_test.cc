// Forbidden next tokens, against sets of all sequences, and the rules in published directories.
#include "tools/generate/token_rules.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace fovea::tools {
namespace {

using Ids = std::vector<int32_t>;

constexpr uint32_t kTokens = 40;  // more than one word of bits

// Suppressed tokens.
std::set<int32_t> Cleared(const TokenRules& rules, const Ids& stop_ids, const RuledText& text) {
  std::vector<uint32_t> bits((kTokens + 31) / 32, ~0u);
  ApplyRules(rules, stop_ids, text, kTokens, bits.data());
  std::set<int32_t> cleared;
  for (uint32_t i = 0; i < kTokens; ++i) {
    if ((bits[i / 32] >> (i % 32) & 1) == 0) cleared.insert(static_cast<int32_t>(i));
  }
  return cleared;
}

// Tokens that would complete one of `sequences`, by trying each.
std::set<int32_t> Completing(const std::set<Ids>& sequences, const Ids& text) {
  std::set<int32_t> found;
  for (int32_t token = 0; token < static_cast<int32_t>(kTokens); ++token) {
    Ids longer = text;
    longer.push_back(token);
    for (const Ids& sequence : sequences) {
      const bool ends =
          longer.size() >= sequence.size() && std::equal(sequence.rbegin(), sequence.rend(), longer.rbegin());
      if (ends) found.insert(token);
    }
  }
  return found;
}

std::set<Ids> SequencesOf(const Ids& text, size_t count) {
  std::set<Ids> all;
  for (size_t at = 0; at + count <= text.size(); ++at) all.emplace(text.begin() + at, text.begin() + at + count);
  return all;
}

TEST(TokenRules, ForbidWhatWouldBeCompleted) {
  std::mt19937 random(1);
  const auto text_of = [&](size_t length) {
    Ids text(length);
    for (int32_t& token : text) token = static_cast<int32_t>(random() % 4 * 11);  // up to 33: also the second word
    return text;
  };
  size_t cleared = 0;
  for (int i = 0; i < 2000; ++i) {
    const Ids source = text_of(random() % 12), text = text_of(random() % 12);
    TokenRules own, of_source, words;
    own.no_repeat_ngram = of_source.no_repeat_source_ngram = 1 + random() % 4;
    for (int k = 0; k < 3; ++k) words.forbid.push_back(text_of(1 + random() % 3));
    const std::set<int32_t> completing = Completing(SequencesOf(source, of_source.no_repeat_source_ngram), text);
    EXPECT_EQ(Cleared(own, {}, {source, text}), Completing(SequencesOf(text, own.no_repeat_ngram), text));
    EXPECT_EQ(Cleared(of_source, {}, {source, text}), completing);
    EXPECT_EQ(Cleared(words, {}, {source, text}), Completing({words.forbid.begin(), words.forbid.end()}, text));
    cleared += completing.size();
  }
  EXPECT_GT(cleared, 500u);
}

TEST(TokenRules, KeepTextsGoing) {
  const Ids none;
  TokenRules rules;
  rules.min_tokens = 3;
  EXPECT_EQ(Cleared(rules, {2, 35}, {none, none, 0}), (std::set<int32_t>{2, 35}));
  EXPECT_EQ(Cleared(rules, {2, 35}, {none, none, 1}), (std::set<int32_t>{2, 35}));
  EXPECT_TRUE(Cleared(rules, {2, 35}, {none, none, 2}).empty());
}

}  // namespace
}  // namespace fovea::tools
