// Generation by a decoder with a KV cache: prompts, batches and pieces give the tokens of the whole texts.
#include <algorithm>

#include "fovea/generate.h"
#include "tests/support/cached_decoder.h"
#include "tests/support/heap_trap.h"

namespace fovea::test {
namespace {

using Batch = std::vector<std::vector<int32_t>>;

// For a clock, which has no context argument: the session whose run it cancels, and when.
fovea_session* watched = nullptr;
uint32_t ticks = 0, cancel_at = 0;

const CachedDecoder& Decoder() {
  static const CachedDecoder decoder(
      {DType::kF32, 24}, {{"generate.token", "ids"}, {"generate.scores", "scores"}, {"generate.stop_ids", "3"}});
  return decoder;
}

// The token with the highest score after a text, by one run of all of it.
int32_t BestAfter(const std::vector<int32_t>& text) {
  const std::vector<float> scores = Decoder().ScoresAfter(text);
  return static_cast<int32_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

std::vector<int32_t> Expected(std::vector<int32_t> text, size_t most) {
  std::vector<int32_t> made;
  while (made.size() < most && (made.empty() || made.back() != 3)) {
    made.push_back(BestAfter(text));
    text.push_back(made.back());
  }
  return made;
}

class Generation {
 public:
  Generation(uint32_t texts, uint32_t new_rows, uint32_t longest, uint32_t max_tokens,
             const fovea_sampling* sampling = nullptr)
      : limits_(Decoder().Limits(texts, new_rows, texts * longest, longest)), session_(Decoder().model, Kept()) {
    Init(max_tokens, sampling);
  }
  Generation(const fovea_session_options& options, uint32_t max_tokens) : session_(Decoder().model, options) {
    Init(max_tokens, nullptr);
  }

  fovea_generator* get() const { return generator_; }
  fovea_session* session() const { return session_.session; }
  fovea_error& error() { return error_; }
  fovea_status Prompts(const Batch& prompts, bool keep = false) {
    tokens_.clear(), lengths_.clear();
    for (const auto& prompt : prompts) {
      lengths_.push_back(static_cast<uint32_t>(prompt.size()));
      tokens_.insert(tokens_.end(), prompt.begin(), prompt.end());
    }
    EXPECT_EQ(fovea_generate_start(generator_, &error_), FOVEA_OK) << error_.text;
    return fovea_generate_set_prompts(generator_, tokens_.data(), lengths_.data(),
                                      static_cast<uint32_t>(lengths_.size()), keep ? 1 : 0, &error_);
  }
  Batch All(size_t texts) {
    Batch made(texts);
    fovea_generated step = Sized<fovea_generated>();
    for (step.left = 1; step.left > 0;) {
      const fovea_status status = fovea_generate_next(generator_, nullptr, &step, &error_);
      EXPECT_EQ(status, FOVEA_OK) << error_.text;
      if (status != FOVEA_OK) return {};
      for (uint32_t i = 0; i < step.texts; ++i) {
        if (step.tokens[i] >= 0) made[i].push_back(step.tokens[i]);
      }
    }
    return made;
  }

 private:
  void Init(uint32_t max_tokens, const fovea_sampling* sampling) {
    options_ = Sized<fovea_generate_options>();
    options_.decode = session_.session;
    options_.max_tokens = max_tokens;
    options_.sampling = sampling;
    uint64_t needed = 0;
    EXPECT_EQ(fovea_generate_size(&options_, &needed, &error_), FOVEA_OK) << error_.text;
    memory_ = AlignedBytes(needed);
    EXPECT_EQ(fovea_generate_init(&options_, memory_.data(), needed, &generator_, &error_), FOVEA_OK) << error_.text;
  }
  fovea_session_options Kept() const {
    fovea_session_options options = Options(limits_);
    options.program = 1;
    return options;
  }
  const std::vector<fovea_limit> limits_;
  TestSession session_;
  fovea_generate_options options_;
  fovea_error error_ = {};
  AlignedBytes memory_;
  fovea_generator* generator_ = nullptr;
  std::vector<int32_t> tokens_;
  std::vector<uint32_t> lengths_;
};

const Batch kPrompts = {RandomIds(40, 50, 1), {7}, RandomIds(3, 50, 2), RandomIds(17, 50, 3)};

Batch ExpectedOfAll(size_t most) {
  Batch all;
  for (const auto& prompt : kPrompts) all.push_back(Expected(prompt, most));
  return all;
}

TEST(Prompts, TokensAreThoseOfWholeTexts) {
  const Batch expected = ExpectedOfAll(20);
  // With room for all prompts at once, for a few tokens at a time, and for one token of each text.
  for (const uint32_t new_rows : {61u, 100u, 30u, 7u, 4u}) {
    Generation generation(4, new_rows, 70, 20);
    for (uint32_t again = 0; again < 2; ++again) {  // a second time texts start over
      ASSERT_EQ(generation.Prompts(kPrompts), FOVEA_OK) << generation.error().text;
      EXPECT_EQ(generation.All(4), expected) << new_rows;
    }
  }
}

TEST(Prompts, ATextsTokensDoNotDependOnItsBatch) {
  fovea_sampling sampling = Sized<fovea_sampling>();
  sampling.temperature = 1.0f;
  sampling.seed = 5;
  sampling.repetition_penalty = 1.3f;
  Generation batch(4, 61, 70, 20, &sampling), one(1, 61, 70, 20, &sampling);
  ASSERT_EQ(batch.Prompts(kPrompts), FOVEA_OK);
  const Batch all = batch.All(4);
  for (uint64_t i = 0; i < 4; ++i) {
    ASSERT_EQ(one.Prompts({kPrompts[i]}), FOVEA_OK);
    ASSERT_EQ(fovea_generate_set_sequences(one.get(), &i, 1, nullptr), FOVEA_OK);
    EXPECT_EQ(one.All(1)[0], all[i]);
  }
}

// A second turn: only the new tokens are given.
TEST(Prompts, TextsGoOn) {
  Generation generation(1, 61, 120, 12);
  ASSERT_EQ(generation.Prompts({kPrompts[0]}), FOVEA_OK);
  std::vector<int32_t> text = kPrompts[0];
  const std::vector<int32_t> first = generation.All(1)[0];
  text.insert(text.end(), first.begin(), first.end());
  const std::vector<int32_t> turn = RandomIds(9, 50, 4);
  uint32_t rows = 0;
  ASSERT_EQ(fovea_cache_get_rows(generation.session(), 0, &rows, nullptr), FOVEA_OK);
  EXPECT_EQ(rows, text.size() - 1);  // the last token has not been read
  std::vector<int32_t> fresh = {text.back()};
  fresh.insert(fresh.end(), turn.begin(), turn.end());
  text.insert(text.end(), turn.begin(), turn.end());
  ASSERT_EQ(generation.Prompts({fresh}, true), FOVEA_OK);
  EXPECT_EQ(generation.All(1)[0], Expected(text, 12));
}

// A run that is cancelled at any of its tiles: the step is made again, or generation begins anew, and gives the same.
TEST(Prompts, CancelledStepsAreMadeAgain) {
  struct Clock {
    static uint64_t Tick() {
      if (ticks++ == cancel_at) fovea_session_cancel(watched);
      return 0;
    }
  };
  const Batch expected = ExpectedOfAll(6);
  for (const bool anew : {false, true}) {
    // In the prompts' first run, a later one, and in single steps.
    for (const uint32_t at : {3u, 60u, 150u, 260u, 300u}) {
      const auto limits = Decoder().Limits(4, 30, 280, 70);
      fovea_session_options options = Options(limits);
      options.program = 1;
      options.tile_rows = 8;
      options.clock = Clock::Tick;
      Generation generation(options, 6);
      watched = generation.session();
      ticks = 0, cancel_at = at;
      ASSERT_EQ(generation.Prompts(kPrompts), FOVEA_OK);
      Batch made(4);
      uint32_t cancelled = 0;
      fovea_generated step = Sized<fovea_generated>();
      for (step.left = 1; step.left > 0;) {
        const fovea_status status = fovea_generate_next(generation.get(), nullptr, &step, nullptr);
        if (status == FOVEA_E_CANCELLED) {
          ++cancelled;
          if (anew) made = Batch(4);
          if (anew) {
            ASSERT_EQ(generation.Prompts(kPrompts), FOVEA_OK);
          }
          continue;
        }
        ASSERT_EQ(status, FOVEA_OK);
        for (uint32_t i = 0; i < 4; ++i) {
          if (step.tokens[i] >= 0) made[i].push_back(step.tokens[i]);
        }
      }
      EXPECT_EQ(cancelled, 1u) << at;
      EXPECT_EQ(made, expected) << at;
    }
  }
}

// A text ends where the session has no room for it.
TEST(Prompts, TextsEndWhereTheSessionDoes) {
  Generation generation(2, 61, 45, 0);
  ASSERT_EQ(generation.Prompts({kPrompts[0], kPrompts[3]}), FOVEA_OK);
  const Batch made = generation.All(2);
  EXPECT_EQ(made[0], Expected(kPrompts[0], 6));
  EXPECT_EQ(made[1], Expected(kPrompts[3], 29));
  Generation again(2, 61, 45, 0);
  ASSERT_EQ(again.Prompts({kPrompts[0], kPrompts[3]}), FOVEA_OK);
  fovea_generated step = Sized<fovea_generated>();
  for (step.left = 1; step.left > 0;) ASSERT_EQ(fovea_generate_next(again.get(), nullptr, &step, nullptr), FOVEA_OK);
  EXPECT_EQ(step.ends[0], FOVEA_END_FULL);
  EXPECT_EQ(step.ends[1], FOVEA_END_FULL);
}

TEST(Prompts, NothingIsAllocated) {
  if (!fovea::testing::HeapTrap::Works()) GTEST_SKIP() << "the heap is not watched here";
  Generation generation(4, 30, 70, 20);
  ASSERT_EQ(generation.Prompts(kPrompts), FOVEA_OK);
  fovea_generated step = Sized<fovea_generated>();
  fovea::testing::HeapTrap trap;
  for (step.left = 1; step.left > 0;) {
    ASSERT_EQ(fovea_generate_next(generation.get(), nullptr, &step, nullptr), FOVEA_OK);
  }
  EXPECT_EQ(trap.calls(), 0u);
}

TEST(Prompts, WrongCalls) {
  Generation generation(2, 8, 70, 20);
  const int32_t tokens[] = {1, 2, 3};
  const uint32_t lengths[] = {1, 1, 1}, empty[] = {2, 0};
  fovea_error error = {};
  EXPECT_EQ(fovea_generate_set_prompts(generation.get(), tokens, lengths, 2, 0, &error), FOVEA_E_ORDER);
  ASSERT_EQ(fovea_generate_start(generation.get(), &error), FOVEA_OK);
  EXPECT_EQ(fovea_generate_next(generation.get(), nullptr, nullptr, &error), FOVEA_E_ORDER);  // no texts yet
  EXPECT_EQ(fovea_generate_set_prompts(generation.get(), tokens, lengths, 3, 0, &error), FOVEA_E_SEGMENTS);
  EXPECT_EQ(error.expected, 2u);
  EXPECT_EQ(fovea_generate_set_prompts(generation.get(), tokens, empty, 2, 0, &error), FOVEA_E_LENGTH);
  EXPECT_EQ(error.index, 1u);
  EXPECT_EQ(fovea_generate_set_prompts(generation.get(), nullptr, lengths, 2, 0, &error), FOVEA_E_NULL);
  const int32_t wrong[] = {1, 50};
  EXPECT_EQ(fovea_generate_set_prompts(generation.get(), wrong, lengths, 2, 0, &error), FOVEA_E_ID);
  EXPECT_EQ(error.index, 1u);
  ASSERT_EQ(fovea_generate_set_prompts(generation.get(), tokens, lengths, 2, 0, &error), FOVEA_OK);
  ASSERT_EQ(fovea_generate_next(generation.get(), nullptr, nullptr, &error), FOVEA_OK);
  EXPECT_EQ(fovea_generate_set_prompts(generation.get(), tokens, lengths, 2, 0, &error), FOVEA_E_ORDER);
  EXPECT_EQ(fovea_generate_set_prompts(nullptr, tokens, lengths, 2, 0, &error), FOVEA_E_HANDLE);
}

}  // namespace
}  // namespace fovea::test
