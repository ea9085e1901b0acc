// Choosing tokens: random numbers against published vectors, what is kept and how often it is drawn against the
// definitions in double and by full sorting, and generation whose tokens do not depend on the batch.
#include "runtime/generate/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/generate/philox.h"
#include "tests/generate/tiny_generator.h"
#include "tests/support/heap_trap.h"
#include "tests/support/random_floats.h"
#include "tools/base/sized.h"

namespace fovea::test {
namespace {

// Random123's kat_vectors.
TEST(Philox, GivesThePublishedVectors) {
  const auto words = [](uint64_t key, uint64_t high, uint64_t low) {
    const Philox philox(key, high, low);
    return std::vector<uint32_t>(philox.words, philox.words + 4);
  };
  EXPECT_EQ(words(0, 0, 0), (std::vector<uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(words(UINT64_MAX, UINT64_MAX, UINT64_MAX),
            (std::vector<uint32_t>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(words(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88),
            (std::vector<uint32_t>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

struct Lone {
  Lone(const fovea_sampling& sampling, uint32_t tokens) : kernels(GetKernels()) {
    Arena counting;
    sampler.Place(sampling, kernels, tokens, counting);
    memory = AlignedBytes(counting.needed());
    Arena arena(memory.data(), memory.size());
    sampler.Place(sampling, kernels, tokens, arena);
  }
  uint32_t Choose(const std::vector<float>& scores, uint64_t sequence = 0, uint32_t step = 0,
                  const std::vector<uint32_t>& seen = {}, const std::vector<uint32_t>& allowed = {}) const {
    return sampler.Choose({scores.data(), seen.empty() ? nullptr : seen.data(),
                           allowed.empty() ? nullptr : allowed.data(), sequence, step});
  }
  Kernels kernels;
  AlignedBytes memory;
  Sampler sampler;
};

// Probabilities by the definitions of the options, each a step on the scores as Hugging Face's logits processors are.
std::vector<double> Probabilities(const std::vector<float>& scores, const fovea_sampling& s) {
  const size_t n = scores.size();
  std::vector<double> logits(scores.begin(), scores.end());
  for (double& x : logits) x /= s.temperature;
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return logits[a] > logits[b]; });
  const auto softmax = [&] {
    std::vector<double> p(n);
    double sum = 0;
    for (size_t i = 0; i < n; ++i) sum += p[i] = std::exp(logits[i] - logits[order[0]]);
    for (double& x : p) x /= sum;
    return p;
  };
  if (s.top_k != 0 && s.top_k < n) {
    const double last = logits[order[s.top_k - 1]];
    for (double& x : logits) x = x < last ? -HUGE_VAL : x;
  }
  if (s.top_p != 0 && s.top_p < 1) {
    const std::vector<double> p = softmax();
    double sum = 0;
    for (const size_t i : order) {
      if (sum >= s.top_p) logits[i] = -HUGE_VAL;
      sum += p[i];
    }
  }
  const std::vector<double> p = softmax();
  for (size_t i = 0; i < n; ++i) logits[i] = p[i] < s.min_p * p[order[0]] ? -HUGE_VAL : logits[i];
  return softmax();
}

TEST(Sampling, TokensAreAsFrequentAsTheDefinitionsSay) {
  constexpr uint32_t kTokens = 37, kDraws = 20000;
  std::vector<float> scores = RandomFloats(kTokens, 3.0f, 3);
  scores[5] = scores[20] = scores[31];  // equals
  std::vector<fovea_sampling> all;
  for (const float temperature : {0.5f, 1.0f, 2.5f}) {
    fovea_sampling s = Sized<fovea_sampling>();
    s.temperature = temperature;
    s.seed = 17;
    all.push_back(s);
    for (const uint32_t top_k : {1u, 4u, 20u, 37u, 100u}) s.top_k = top_k, all.push_back(s);
    s.top_k = 0;
    for (const float top_p : {0.01f, 0.3f, 0.9f, 0.999f, 1.0f}) s.top_p = top_p, all.push_back(s);
    s.top_k = 12, s.top_p = 0.7f, all.push_back(s);
    for (const float min_p : {0.02f, 0.4f, 1.0f}) s.min_p = min_p, all.push_back(s);
    s.top_k = 0, s.top_p = 0, all.push_back(s);
  }
  for (const fovea_sampling& s : all) {
    const Lone lone(s, kTokens);
    const std::vector<double> expected = Probabilities(scores, s);
    std::vector<uint32_t> drawn(kTokens);
    for (uint32_t i = 0; i < kDraws; ++i) ++drawn[lone.Choose(scores, i / 100, i % 100)];
    for (uint32_t i = 0; i < kTokens; ++i) {
      const double mean = kDraws * expected[i], deviation = std::sqrt(mean * (1 - expected[i]));
      EXPECT_NEAR(drawn[i], mean, 5 * deviation + 1e-6 * kDraws)
          << "token " << i << " temperature " << s.temperature << " top_k " << s.top_k << " top_p " << s.top_p
          << " min_p " << s.min_p;
    }
  }
}

TEST(Sampling, DrawsDependOnSeedTextAndStepAlone) {
  const std::vector<float> scores = RandomFloats(500, 1.0f, 4);
  fovea_sampling s = Sized<fovea_sampling>();
  s.temperature = 1;
  const auto draws = [&](uint64_t seed, uint64_t sequence) {
    s.seed = seed;
    const Lone lone(s, 500);
    std::vector<uint32_t> tokens;
    for (uint32_t step = 0; step < 50; ++step) tokens.push_back(lone.Choose(scores, sequence, step));
    return tokens;
  };
  const std::vector<uint32_t> first = draws(1, 2);
  EXPECT_EQ(draws(1, 2), first);
  for (const auto& [seed, sequence] : {std::pair<uint64_t, uint64_t>{2, 2}, {1, 3}, {1, 2 + (uint64_t{1} << 32)}}) {
    const std::vector<uint32_t> other = draws(seed, sequence);
    size_t same = 0;
    for (size_t i = 0; i < first.size(); ++i) same += first[i] == other[i] ? 1 : 0;
    EXPECT_LT(same, 10u);
  }
}

TEST(Sampling, ScoresThatAreNoNumbersOrAllAlike) {
  fovea_sampling s = Sized<fovea_sampling>();
  const float nan = NAN, infinity = INFINITY;
  for (const float temperature : {0.0f, 1e-38f, 1.0f, 1e30f}) {
    for (const float min_p : {0.0f, 0.5f}) {
      s.temperature = temperature;
      s.min_p = min_p;
      const Lone lone(s, 4);
      EXPECT_EQ(lone.Choose({nan, nan, nan, nan}), 0u);
      EXPECT_EQ(lone.Choose({-infinity, -infinity, -infinity, -infinity}), 0u);
      EXPECT_EQ(lone.Choose({nan, -infinity, -5, nan}), 2u);
      EXPECT_EQ(lone.Choose({0, infinity, infinity, 3}), 1u);
      EXPECT_EQ(lone.Choose({-3e38f, nan, 3e38f, -infinity}), 2u);
    }
  }
}

TEST(Sampling, TheBestOfAnyNumberOfTokens) {
  for (uint32_t count = 1; count < 40; ++count) {
    const Lone lone(Sized<fovea_sampling>(), count);
    for (uint32_t best = 0; best < count; ++best) {
      std::vector<float> scores(count, -3.0f);
      for (uint32_t i = 0; i < count; i += 3) scores[i] = NAN;
      scores[best] = 2;
      scores[(best + 9) % count] = 2;
      EXPECT_EQ(lone.Choose(scores), std::min(best, (best + 9) % count)) << count;
    }
  }
}

TEST(Sampling, PenaltiesAndTokensThatMayNotFollow) {
  fovea_sampling s = Sized<fovea_sampling>();
  const std::vector<float> scores = {4, 5, -1, 4.5f};
  const std::vector<uint32_t> seen = {1u << 1 | 1u << 2};
  s.repetition_penalty = 1.2f;  // 5 / 1.2 = 4.17
  EXPECT_EQ(Lone(s, 4).Choose(scores, 0, 0, seen), 3u);
  s.repetition_penalty = 1.1f;  // 4.55
  EXPECT_EQ(Lone(s, 4).Choose(scores, 0, 0, seen), 1u);
  s.presence_penalty = 0.1f;
  EXPECT_EQ(Lone(s, 4).Choose(scores, 0, 0, seen), 3u);
  s.repetition_penalty = 0;
  EXPECT_EQ(Lone(s, 4).Choose(scores, 0, 0, seen), 1u);
  EXPECT_EQ(Lone(s, 4).Choose({-1, -1.1f, -3, -4}, 0, 0, {1u << 0}), 0u);
  s.repetition_penalty = 2;  // -1 becomes -2.1
  EXPECT_EQ(Lone(s, 4).Choose({-1, -1.1f, -3, -4}, 0, 0, {1u << 0}), 1u);

  s = Sized<fovea_sampling>();
  s.allow = [](void*, uint32_t, uint32_t, uint32_t, uint32_t*) {};
  EXPECT_EQ(Lone(s, 4).Choose(scores, 0, 0, {}, {~0u & ~(1u << 1)}), 3u);
  EXPECT_EQ(Lone(s, 4).Choose(scores, 0, 0, {}, {1u << 2 | 1u << 31}), 2u);
  EXPECT_EQ(Lone(s, 4).Choose(scores, 0, 0, {}, {1u << 31}), 0u);
  EXPECT_EQ(Lone(s, 4).Choose({NAN, NAN, NAN, NAN}, 0, 0, {}, {1u << 2}), 2u);
  s.temperature = 1;
  const Lone lone(s, 40);
  const std::vector<float> many = RandomFloats(40, 1.0f, 6);
  for (uint32_t step = 0; step < 300; ++step) {
    const uint32_t token = lone.Choose(many, 0, step, {}, {0x0f0f0f0fu, 0x55u});
    EXPECT_TRUE(token < 32 ? (0x0f0f0f0fu >> token & 1) != 0 : (0x55u >> (token - 32) & 1) != 0) << token;
  }
}

TEST(Sampling, LogProbabilities) {
  constexpr uint32_t kTokens = 60;
  std::vector<float> scores = RandomFloats(kTokens, 20.0f, 8);
  scores[7] = NAN;
  scores[8] = -INFINITY;
  fovea_sampling s = Sized<fovea_sampling>();
  s.top_logprobs = 5;
  const Lone lone(s, kTokens);
  double sum = 0;
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < kTokens; ++i) {
    if (i == 7 || i == 8) continue;
    sum += std::exp(double{scores[i]});
    order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return scores[a] > scores[b]; });
  for (uint32_t token = 0; token < kTokens; ++token) {
    int32_t tokens[5];
    float top[5];
    const float found = lone.sampler.LogProbability(scores.data(), token, tokens, top);
    const double expected = token == 7 || token == 8 ? -HUGE_VAL : scores[token] - std::log(sum);
    if (std::isinf(expected)) {
      EXPECT_EQ(found, -INFINITY);
    } else {
      EXPECT_NEAR(found, expected, 1e-5 + 1e-6 * std::fabs(expected));
    }
    for (uint32_t i = 0; i < 5; ++i) {
      EXPECT_EQ(tokens[i], static_cast<int32_t>(order[i]));
      EXPECT_NEAR(top[i], scores[order[i]] - std::log(sum), 2e-5);
    }
  }
  int32_t tokens[5];
  float top[5];
  std::fill(scores.begin(), scores.end(), NAN);
  scores[3] = 2;
  EXPECT_EQ(lone.sampler.LogProbability(scores.data(), 3, tokens, top), 0.0f);
  EXPECT_EQ(tokens[0], 3);
  EXPECT_EQ(tokens[1], -1);
  EXPECT_EQ(top[1], -INFINITY);
}

// ---- In a generator ----

fovea_sampling Warm() {
  fovea_sampling s = Sized<fovea_sampling>();
  s.temperature = 1.5f;
  s.top_k = 7;
  s.top_p = 0.95f;
  s.repetition_penalty = 1.1f;
  s.seed = 99;
  s.logprobs = 1;
  return s;
}

Batch Sampled(const fovea_sampling& sampling, const Batch& texts, const std::vector<uint64_t>& sequences) {
  TinyPair pair(Model(), Decoder(), 6, 30);
  TestGenerator generator(pair, [&](fovea_generate_options* o) { o->sampling = &sampling; });
  pair.Encode(Decoder(), texts);
  generator.Start();
  fovea_error error = {};
  EXPECT_EQ(
      fovea_generate_sequences(generator.generator, sequences.data(), static_cast<uint32_t>(sequences.size()), &error),
      FOVEA_OK)
      << error.text;
  Batch all(texts.size());
  for (uint32_t left = 1; left > 0;) {
    const fovea_generated step = generator.Next();
    const std::vector<float> logits = pair.decode.Output(Decoder().logits);
    for (uint32_t i = 0; i < step.texts; ++i) {
      if (step.tokens[i] < 0) continue;
      all[i].push_back(step.tokens[i]);
      const float* row = logits.data() + size_t{i} * TinyDecoder::kWords;
      double sum = 0;
      for (uint32_t k = 0; k < TinyDecoder::kWords; ++k) sum += std::exp(double{row[k]});
      EXPECT_EQ(step.scores[i], row[step.tokens[i]]);
      EXPECT_NEAR(step.logprobs[i], row[step.tokens[i]] - std::log(sum), 1e-5);
    }
    left = step.left;
  }
  return all;
}

TEST(Sampling, ATextsTokensDoNotDependOnItsBatch) {
  const std::vector<uint64_t> numbers = {11, 12, 13, 14, 15};
  const Batch expected = Sampled(Warm(), kTexts, numbers);
  for (size_t i = 0; i < kTexts.size(); ++i) {
    EXPECT_EQ(Sampled(Warm(), {kTexts[i]}, {numbers[i]}), Batch{expected[i]}) << i;
  }
  EXPECT_EQ(Sampled(Warm(), {kTexts[3], kTexts[0]}, {14, 11}), (Batch{expected[3], expected[0]}));
  fovea_sampling other = Warm();
  other.seed = 100;
  EXPECT_NE(Sampled(other, kTexts, numbers), expected);
}

struct Grammar {
  std::vector<std::pair<uint32_t, uint32_t>> asked;  // text, step
  static void Allow(void* context, uint32_t text, uint32_t step, uint32_t tokens, uint32_t* words) {
    static_cast<Grammar*>(context)->asked.emplace_back(text, step);
    EXPECT_EQ(tokens, TinyDecoder::kWords);
    EXPECT_EQ(words[0], ~0u);
    words[0] = 1u << (2 + (text + step) % 3);  // 2, 3, 4, 2, ..
  }
};

TEST(Sampling, AGrammarChoosesAndForcedTokensComeFirst) {
  Grammar grammar;
  fovea_sampling s = Warm();
  s.allow = Grammar::Allow;
  s.allow_context = &grammar;
  TinyPair pair(Model(), Decoder(), 6, 30);
  TestGenerator generator(pair, [&](fovea_generate_options* o) { o->sampling = &s, o->max_tokens = 4; });
  pair.Encode(Decoder(), {kTexts[0], kTexts[1]});
  EXPECT_EQ(generator.All(), (Batch{{2, 3, 4, 2}, {3, 4, 2, 3}}));
  EXPECT_EQ(grammar.asked.size(), 8u);
  generator.Start();
  const fovea_generated step = generator.Next({6, -1});  // 6 ends the first text
  EXPECT_EQ(step.tokens[0], 6);
  EXPECT_EQ(step.tokens[1], 3);
  grammar.asked.clear();
  generator.Next();
  EXPECT_EQ(grammar.asked, (std::vector<std::pair<uint32_t, uint32_t>>{{1, 1}}));
}

// Token filter: of the tokens that may follow, the half with the lower scores.
struct Modest {
  std::vector<std::vector<float>> seen;
  uint32_t before = 0;  // what the first callback leaves; 0: it is not asked
  uint32_t asked = 0, text = 0, step = 0;
  static void Allow(void* context, uint32_t, uint32_t, uint32_t, uint32_t* words) {
    words[0] = static_cast<Modest*>(context)->before;
  }
  static uint32_t Lower(const float* scores, uint32_t bits) {
    std::vector<float> sorted;
    for (uint32_t t = 0; t < TinyDecoder::kWords; ++t) {
      if ((bits >> t & 1) != 0) sorted.push_back(scores[t]);
    }
    std::sort(sorted.begin(), sorted.end());
    const float middle = sorted[(sorted.size() - 1) / 2];
    for (uint32_t t = 0; t < TinyDecoder::kWords; ++t) bits &= scores[t] <= middle ? ~0u : ~(1u << t);
    return bits & ((1u << TinyDecoder::kWords) - 1);
  }
  static void AllowScored(void* context, uint32_t text, uint32_t step, uint32_t tokens, const float* scores,
                          uint32_t* words) {
    Modest& self = *static_cast<Modest*>(context);
    EXPECT_EQ(tokens, TinyDecoder::kWords);
    EXPECT_EQ(words[0], self.before == 0 ? ~0u : self.before);
    ++self.asked, self.text = text, self.step = step;
    self.seen.emplace_back(scores, scores + tokens);
    words[0] = Lower(scores, words[0]);
  }
};

TEST(Sampling, ScoresSayWhichTokensMayFollow) {
  static_assert(TinyDecoder::kWords < 32, "one word of bits");
  for (const uint32_t before : {0u, 0xb5u}) {
    Modest modest;
    modest.before = before;
    fovea_sampling s = Sized<fovea_sampling>();
    s.allow_scored = Modest::AllowScored;
    if (before != 0) s.allow = Modest::Allow;
    s.allow_context = &modest;
    TinyPair pair(Model(), Decoder(), 6, 30);
    TestGenerator generator(pair, [&](fovea_generate_options* o) { o->sampling = &s, o->max_tokens = 5; });
    pair.Encode(Decoder(), kTexts);
    generator.Start();
    for (uint32_t left = 1; left > 0;) {
      modest.seen.clear();
      const uint32_t asked = modest.asked;
      const fovea_generated step = generator.Next();
      const std::vector<float> logits = pair.decode.Output(Decoder().logits);
      for (uint32_t i = 0, row = 0; i < step.texts; ++i) {
        if (step.tokens[i] < 0) continue;
        const float* scores = logits.data() + size_t{i} * TinyDecoder::kWords;
        ASSERT_LT(row, modest.seen.size());
        EXPECT_EQ(modest.seen[row++], std::vector<float>(scores, scores + TinyDecoder::kWords))
            << "as they are written";
        const uint32_t bits = Modest::Lower(scores, before == 0 ? ~0u : before);
        uint32_t best = 32;
        for (uint32_t t = 0; t < TinyDecoder::kWords; ++t) {
          if ((bits >> t & 1) != 0 && (best == 32 || scores[t] > scores[best])) best = t;
        }
        EXPECT_EQ(step.tokens[i], static_cast<int32_t>(best));
      }
      EXPECT_EQ(modest.asked - asked, modest.seen.size());
      left = step.left;
    }
    // Forced tokens are exempt.
    generator.Start();
    modest.asked = 0;
    generator.Next({3, -1, 3, 3, 3});
    EXPECT_EQ(modest.asked, 1u);
    EXPECT_EQ(modest.text, 1u);
    EXPECT_EQ(modest.step, 0u);
  }
}

TEST(Sampling, OnlyPlannedMemory) {
  if (!fovea::testing::HeapTrap::Works()) GTEST_SKIP() << "the heap is not watched here";
  fovea_sampling s = Warm();
  s.top_logprobs = 3;
  s.presence_penalty = 0.5f;
  TinyPair pair(Model(), Decoder(), 6, 30);
  TestGenerator generator(pair, [&](fovea_generate_options* o) { o->sampling = &s; });
  pair.Encode(Decoder(), kTexts);
  fovea_generated step = Sized<fovea_generated>();
  fovea_error error = {};
  uint64_t calls = 0;
  {
    fovea::testing::HeapTrap trap;
    fovea_generate_start(generator.generator, &error);
    while (fovea_generate_next(generator.generator, nullptr, &step, &error) == FOVEA_OK && step.left > 0) {
    }
    calls = trap.calls();
  }
  EXPECT_EQ(calls, 0u);
  EXPECT_EQ(step.top_count, 3u);
  for (uint32_t i = 0; i < step.texts; ++i) EXPECT_GE(step.top_logprobs[3 * i], step.top_logprobs[3 * i + 2]);
}

TEST(Sampling, WrongOptionsAndCalls) {
  TinyPair pair(Model(), Decoder(), 6, 30);
  pair.Encode(Decoder(), kTexts);
  const auto size = [&](const std::function<void(fovea_sampling*)>& change) {
    fovea_sampling s = Warm();
    change(&s);
    fovea_generate_options options = Sized<fovea_generate_options>();
    options.encode = pair.encode.session;
    options.decode = pair.decode.session;
    options.sampling = &s;
    uint64_t needed = 0;
    return fovea_generate_size(&options, &needed, nullptr);
  };
  EXPECT_EQ(size([](fovea_sampling*) {}), FOVEA_OK);
  EXPECT_EQ(size([](fovea_sampling* s) { s->struct_size = 0; }), FOVEA_E_STRUCT_SIZE);
  EXPECT_EQ(size([](fovea_sampling* s) { s->struct_size = 16; }), FOVEA_OK);
  for (const float bad : {-0.1f, NAN, INFINITY}) {
    EXPECT_EQ(size([&](fovea_sampling* s) { s->temperature = bad; }), FOVEA_E_OPTION) << bad;
    EXPECT_EQ(size([&](fovea_sampling* s) { s->top_p = bad; }), FOVEA_E_OPTION) << bad;
    EXPECT_EQ(size([&](fovea_sampling* s) { s->min_p = bad; }), FOVEA_E_OPTION) << bad;
    EXPECT_EQ(size([&](fovea_sampling* s) { s->repetition_penalty = bad; }), FOVEA_E_OPTION) << bad;
  }
  EXPECT_EQ(size([](fovea_sampling* s) { s->top_p = 1.01f; }), FOVEA_E_OPTION);
  EXPECT_EQ(size([](fovea_sampling* s) { s->min_p = 1.01f; }), FOVEA_E_OPTION);
  EXPECT_EQ(size([](fovea_sampling* s) { s->presence_penalty = NAN; }), FOVEA_E_OPTION);
  EXPECT_EQ(size([](fovea_sampling* s) { s->presence_penalty = -2; }), FOVEA_OK);
  EXPECT_EQ(size([](fovea_sampling* s) { s->top_logprobs = 256; }), FOVEA_OK);
  EXPECT_EQ(size([](fovea_sampling* s) { s->top_logprobs = 257; }), FOVEA_E_OPTION);

  const fovea_sampling s = Warm();
  TestGenerator generator(pair, [&](fovea_generate_options* o) { o->sampling = &s; });
  const uint64_t numbers[6] = {};
  EXPECT_EQ(fovea_generate_sequences(nullptr, numbers, 5, nullptr), FOVEA_E_HANDLE);
  EXPECT_EQ(fovea_generate_sequences(generator.generator, numbers, 5, nullptr), FOVEA_E_ORDER);
  generator.Start();
  fovea_error error = {};
  EXPECT_EQ(fovea_generate_sequences(generator.generator, numbers, 6, &error), FOVEA_E_LENGTH);
  EXPECT_EQ(error.expected, 5u);
  EXPECT_EQ(error.found, 6u);
  EXPECT_EQ(fovea_generate_sequences(generator.generator, nullptr, 5, nullptr), FOVEA_E_NULL);
  EXPECT_EQ(fovea_generate_sequences(generator.generator, numbers, 5, nullptr), FOVEA_OK);
  generator.Next();
  EXPECT_EQ(fovea_generate_sequences(generator.generator, numbers, 5, nullptr), FOVEA_E_ORDER);
}

}  // namespace
}  // namespace fovea::test
