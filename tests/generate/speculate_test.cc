// Speculative decoding gives the tokens, scores and log-probabilities of plain generation, for any draft.
#include <map>
#include <memory>

#include "fovea/generate.h"
#include "tests/support/cached_decoder.h"
#include "tests/support/heap_trap.h"

namespace fovea::test {
namespace {

using Batch = std::vector<std::vector<int32_t>>;
using Metadata = std::vector<std::pair<std::string, std::string>>;

// Results of one step for each text.
struct Told {
  std::vector<int32_t> tokens;
  std::vector<float> numbers;  // scores, log-probabilities
  bool operator==(const Told& other) const { return tokens == other.tokens && numbers == other.numbers; }
};

const Metadata kNames = {{"generate.token", "ids"}, {"generate.scores", "scores"}, {"generate.stop_ids", "3 9"}};
const Batch kPrompts = {RandomIds(40, 50, 1), {7}, RandomIds(3, 50, 2), RandomIds(17, 50, 3)};

const CachedDecoder& Target() {
  static const CachedDecoder decoder({DType::kF32, 24, false, 512, true}, kNames);
  return decoder;
}

uint32_t ticks = 0, cancel_at = UINT32_MAX;
fovea_session* watched = nullptr;
uint64_t Tick() {
  if (ticks++ == cancel_at) fovea_session_cancel(watched);
  return 0;
}

struct Kept {
  Kept(const CachedDecoder& decoder, uint32_t new_rows, uint32_t rewind_rows, bool ticking, uint32_t longest = 80)
      : limits(decoder.Limits(4, new_rows, 4 * longest, longest)) {
    fovea_session_options options = Options(limits);
    options.program = 1;
    options.rewind_rows = rewind_rows;
    if (ticking) options.clock = Tick;
    session = std::make_unique<TestSession>(decoder.model, options);
  }
  fovea_session* get() const { return session->session; }
  std::vector<fovea_limit> limits;
  std::unique_ptr<TestSession> session;
};

struct Generation {
  Generation(fovea_session* decode, fovea_session* draft, uint32_t draft_tokens, const fovea_sampling* sampling,
             uint32_t max_tokens) {
    fovea_generate_options options = Sized<fovea_generate_options>();
    options.decode = decode, options.draft = draft, options.draft_tokens = draft_tokens;
    options.sampling = sampling, options.max_tokens = max_tokens;
    uint64_t needed = 0;
    fovea_error error = {};
    EXPECT_EQ(fovea_generate_size(&options, &needed, &error), FOVEA_OK) << error.text;
    memory = AlignedBytes(needed);
    EXPECT_EQ(fovea_generate_init(&options, memory.data(), needed, &generator, &error), FOVEA_OK) << error.text;
  }
  void Begin(const Batch& prompts, bool keep = false) {
    tokens.clear(), lengths.clear();
    for (const auto& prompt : prompts) {
      lengths.push_back(static_cast<uint32_t>(prompt.size()));
      tokens.insert(tokens.end(), prompt.begin(), prompt.end());
    }
    fovea_error error = {};
    ASSERT_EQ(fovea_generate_start(generator, &error), FOVEA_OK) << error.text;
    ASSERT_EQ(fovea_generate_prompts(generator, tokens.data(), lengths.data(), static_cast<uint32_t>(lengths.size()),
                                     keep ? 1 : 0, &error),
              FOVEA_OK)
        << error.text;
  }
  std::vector<Told> All(uint32_t* cancelled = nullptr) {
    std::vector<Told> all;
    fovea_generated step = Sized<fovea_generated>();
    for (step.left = 1; step.left > 0;) {
      fovea_error error = {};
      const fovea_status status = fovea_generate_next(generator, nullptr, &step, &error);
      if (status == FOVEA_E_CANCELLED && cancelled != nullptr) {
        ++*cancelled;
        continue;
      }
      EXPECT_EQ(status, FOVEA_OK) << error.text;
      if (status != FOVEA_OK) return {};
      EXPECT_EQ(step.step, all.size());
      Told told = {{step.tokens, step.tokens + step.texts}, {step.scores, step.scores + step.texts}};
      if (step.logprobs != nullptr) {
        told.numbers.insert(told.numbers.end(), step.logprobs, step.logprobs + step.texts);
        const size_t top = size_t{step.texts} * step.top_count;
        told.tokens.insert(told.tokens.end(), step.top_tokens, step.top_tokens + top);
        told.numbers.insert(told.numbers.end(), step.top_logprobs, step.top_logprobs + top);
      }
      all.push_back(told);
    }
    return all;
  }
  AlignedBytes memory;
  fovea_generator* generator = nullptr;
  std::vector<int32_t> tokens;
  Lengths lengths;
};

std::vector<fovea_sampling> Samplings() {
  fovea_sampling greedy = Sized<fovea_sampling>(), drawn = greedy;
  drawn.temperature = 0.7f, drawn.seed = 11, drawn.top_k = 20, drawn.repetition_penalty = 1.3f, drawn.top_logprobs = 3;
  return {greedy, drawn};
}

// Drafts: the model itself, one with a shorter cache, and one without positions.
std::vector<std::unique_ptr<CachedDecoder>> Drafts() {
  std::vector<std::unique_ptr<CachedDecoder>> drafts;
  drafts.push_back(std::make_unique<CachedDecoder>(CachedDecoder::Shape{DType::kF32, 24}, kNames));
  drafts.push_back(std::make_unique<CachedDecoder>(CachedDecoder::Shape{DType::kI8, 4, true, 512, true}, kNames));
  drafts.push_back(std::make_unique<CachedDecoder>(CachedDecoder::Shape{DType::kF32, 0, false, 0}, kNames));
  return drafts;
}

TEST(Speculation, GivesWhatPlainGenerationGives) {
  for (const fovea_sampling& sampling : Samplings()) {
    Kept plain(Target(), 100, 0, false);
    Generation plainly(plain.get(), nullptr, 0, &sampling, 25);
    plainly.Begin(kPrompts);
    const std::vector<Told> expected = plainly.All();
    for (const auto& draft_model : Drafts()) {
      for (const uint32_t count : {1u, 2u, 5u, 9u}) {
        for (const uint32_t new_rows : {100u, 14u}) {
          Kept target(Target(), new_rows, count + 1, false), draft(*draft_model, 61, count + 1, false);
          Generation generation(target.get(), draft.get(), count, &sampling, 25);
          for (int again = 0; again < 2; ++again) {
            generation.Begin(kPrompts);
            ASSERT_EQ(generation.All(), expected) << count << " " << new_rows;
          }
        }
      }
    }
  }
}

// A draft that is always right saves runs, with sampling as well: it draws by the same random numbers.
TEST(Speculation, SavesRuns) {
  const auto drafts = Drafts();
  for (const fovea_sampling& sampling : Samplings()) {
    if (sampling.repetition_penalty != 0) continue;
    for (const float temperature : {0.0f, 0.7f}) {
      fovea_sampling drawn = sampling;
      drawn.temperature = temperature;
      uint32_t runs[2];
      for (const bool speculates : {false, true}) {
        Kept target(Target(), 100, 5, true), draft(*drafts[0], 61, 5, false);
        Generation generation(target.get(), speculates ? draft.get() : nullptr, speculates ? 4 : 0, &drawn, 31);
        generation.Begin({kPrompts[0]});
        ticks = 0;
        const size_t steps = generation.All().size();
        if (steps < 11) continue;
        runs[speculates ? 1 : 0] = ticks;
        if (speculates) {
          EXPECT_LT(runs[1] * 3, runs[0]);
        }
      }
    }
  }
}

// Texts continue from the tokens that were returned, and end where the session's limit is.
TEST(Speculation, KeepsWhatWasGiven) {
  const auto drafts = Drafts();
  const auto run = [&](bool speculates) {
    Kept target(Target(), 100, 6, false, 70), draft(*drafts[1], 61, 6, false);
    Generation generation(target.get(), speculates ? draft.get() : nullptr, speculates ? 5 : 0, nullptr, 8);
    generation.Begin(kPrompts);
    std::vector<Told> all = generation.All();
    std::vector<uint32_t> rows(4);
    for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(fovea_cache_rows(target.get(), i, &rows[i], nullptr), FOVEA_OK);
    Generation longer(target.get(), speculates ? draft.get() : nullptr, speculates ? 5 : 0, nullptr, 0);
    longer.Begin({{5, 6}, {1}, {2, 2, 2}, {4}}, true);
    for (const Told& told : longer.All()) all.push_back(told);
    return std::make_pair(all, rows);
  };
  EXPECT_EQ(run(true), run(false));
}

TEST(Speculation, CancelledStepsAreMadeAgain) {
  const auto drafts = Drafts();
  Kept plain(Target(), 100, 0, false);
  Generation plainly(plain.get(), nullptr, 0, nullptr, 12);
  plainly.Begin(kPrompts);
  const std::vector<Told> expected = plainly.All();
  uint32_t all_cancelled = 0;
  for (const bool of_draft : {false, true}) {
    for (uint32_t at = 0; at < 400; at += 13) {
      Kept target(Target(), 100, 4, !of_draft), draft(*drafts[1], 61, 4, of_draft);
      Generation generation(target.get(), draft.get(), 3, nullptr, 12);
      watched = of_draft ? draft.get() : target.get();
      ticks = 0, cancel_at = at;
      generation.Begin(kPrompts);
      uint32_t cancelled = 0;
      EXPECT_EQ(generation.All(&cancelled), expected) << at;
      all_cancelled += cancelled;
    }
  }
  cancel_at = UINT32_MAX;
  EXPECT_GT(all_cancelled, 10u);
}

TEST(Speculation, NothingIsAllocated) {
  if (!fovea::testing::HeapTrap::Works()) GTEST_SKIP() << "the heap is not watched here";
  const auto drafts = Drafts();
  Kept target(Target(), 100, 4, false), draft(*drafts[1], 61, 4, false);
  Generation generation(target.get(), draft.get(), 3, nullptr, 12);
  generation.Begin(kPrompts);
  fovea_generated step = Sized<fovea_generated>();
  fovea::testing::HeapTrap trap;
  for (step.left = 1; step.left > 0;) {
    ASSERT_EQ(fovea_generate_next(generation.generator, nullptr, &step, nullptr), FOVEA_OK);
  }
  EXPECT_EQ(trap.calls(), 0u);
}

TEST(Speculation, WrongOptions) {
  const auto drafts = Drafts();
  Kept target(Target(), 100, 4, false), draft(*drafts[0], 61, 4, false);
  const auto status = [&](fovea_session* decode, fovea_session* of_draft, uint32_t count,
                          const fovea_beams* beams = nullptr, const fovea_sampling* sampling = nullptr) {
    fovea_generate_options options = Sized<fovea_generate_options>();
    options.decode = decode, options.draft = of_draft, options.draft_tokens = count;
    options.beams = beams, options.sampling = sampling, options.max_tokens = 9;
    uint64_t needed = 0;
    return fovea_generate_size(&options, &needed, nullptr);
  };
  EXPECT_EQ(status(target.get(), draft.get(), 3), FOVEA_OK);
  EXPECT_EQ(status(target.get(), draft.get(), 0), FOVEA_E_OPTION);
  EXPECT_EQ(status(target.get(), draft.get(), 65), FOVEA_E_OPTION);
  EXPECT_EQ(status(target.get(), draft.get(), 4), FOVEA_E_OPTION);  // windows
  EXPECT_EQ(status(draft.get(), target.get(), 3), FOVEA_E_OPTION);  // scores after the last token only
  EXPECT_EQ(status(target.get(), target.get(), 3), FOVEA_E_OPTION);
  fovea_beams beams = Sized<fovea_beams>();
  beams.width = 2;
  EXPECT_EQ(status(target.get(), draft.get(), 3, &beams), FOVEA_E_OPTION);
  fovea_sampling sampling = Sized<fovea_sampling>();
  sampling.allow = [](void*, uint32_t, uint32_t, uint32_t, uint32_t*) {};
  EXPECT_EQ(status(target.get(), draft.get(), 3, nullptr, &sampling), FOVEA_E_OPTION);
  sampling.allow = nullptr;
  sampling.allow_scored = [](void*, uint32_t, uint32_t, uint32_t, const float*, uint32_t*) {};
  EXPECT_EQ(status(target.get(), draft.get(), 3, nullptr, &sampling), FOVEA_E_OPTION);
  Kept narrow(*drafts[0], 7, 4, false);
  EXPECT_EQ(status(target.get(), narrow.get(), 3), FOVEA_E_OPTION);

  Generation generation(target.get(), draft.get(), 3, nullptr, 9);
  generation.Begin(kPrompts);
  const int32_t forced[] = {1, 1, 1, 1};
  EXPECT_EQ(fovea_generate_next(generation.generator, forced, nullptr, nullptr), FOVEA_E_OPTION);
}

}  // namespace
}  // namespace fovea::test
