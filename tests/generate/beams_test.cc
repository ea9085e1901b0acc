// Beam search against a plain one over whole sequences, for decoders of each layout.
#include "tests/generate/beam_models.h"
#include "tests/support/heap_trap.h"

namespace fovea::test {
namespace {

using Texts = std::vector<Sequence>;
using After = std::function<std::vector<float>(const Sequence&)>;

constexpr int32_t kStops[] = {3, 7, 11, 19, 23, 29};

std::string Say(const PlainBeams& p) {
  return "width " + std::to_string(p.width) + " stop " + std::to_string(p.stop) + " length penalty " +
         std::to_string(p.length_penalty) + " stop ids " + std::to_string(p.stop_ids.size()) + " repetition penalty " +
         std::to_string(p.repetition_penalty);
}

// A generator with the beam search options of `plain`.
class Search {
 public:
  Search(const PlainBeams& plain, fovea_session* decode, const fovea_session* encode = nullptr) : plain_(plain) {
    beams_.width = plain.width, beams_.stop = plain.stop;
    beams_.length_penalty = static_cast<float>(plain.length_penalty);
    sampling_.repetition_penalty = static_cast<float>(plain.repetition_penalty);
    sampling_.allow = [](void* context, uint32_t, uint32_t, uint32_t, uint32_t* words) {
      for (const int32_t t : static_cast<const PlainBeams*>(context)->forbidden) words[t / 32] &= ~(1u << t % 32);
    };
    sampling_.allow_context = &plain_;
    if (plain.forbidden.empty()) sampling_.allow = nullptr;
    const auto never_best = [](void*, uint32_t, uint32_t, uint32_t tokens, const float* scores, uint32_t* words) {
      const auto best = static_cast<size_t>(std::max_element(scores, scores + tokens) - scores);
      words[best / 32] &= ~(1u << best % 32);
    };
    if (plain.never_best) sampling_.allow_scored = never_best;
    options_.decode = decode, options_.encode = encode;
    options_.beams = &beams_, options_.sampling = &sampling_;
    options_.stop_ids = plain_.stop_ids.data();
    options_.stop_id_count = static_cast<uint32_t>(plain_.stop_ids.size());
    options_.max_tokens = plain.max_tokens;
    uint64_t needed = 0;
    EXPECT_EQ(fovea_generate_size(&options_, &needed, &error_), FOVEA_OK) << error_.text;
    memory_ = AlignedBytes(needed);
    EXPECT_EQ(fovea_generate_init(&options_, memory_.data(), needed, &generator_, &error_), FOVEA_OK) << error_.text;
  }
  fovea_generator* get() const { return generator_; }
  void Start() { ASSERT_EQ(fovea_generate_start(generator_, &error_), FOVEA_OK) << error_.text; }
  void Prompts(const Texts& prompts) {
    for (const Sequence& prompt : prompts) {
      lengths_.push_back(static_cast<uint32_t>(prompt.size()));
      tokens_.insert(tokens_.end(), prompt.begin(), prompt.end());
    }
    ASSERT_EQ(fovea_generate_prompts(generator_, tokens_.data(), lengths_.data(),
                                     static_cast<uint32_t>(lengths_.size()), 0, &error_),
              FOVEA_OK)
        << error_.text;
  }
  fovea_generated Next() {
    fovea_generated step = Sized<fovea_generated>();
    Sequence forced(16, plain_.forced.size() > steps_ ? plain_.forced[steps_] : -1);
    EXPECT_EQ(fovea_generate_next(generator_, forced.data(), &step, &error_), FOVEA_OK) << error_.text;
    ++steps_;
    return step;
  }
  std::vector<Candidate> Found(uint32_t text) {
    std::vector<Candidate> found;
    fovea_hypothesis h = Sized<fovea_hypothesis>();
    while (fovea_generate_hypothesis(generator_, text, static_cast<uint32_t>(found.size()), &h, &error_) == FOVEA_OK) {
      found.push_back({Sequence(h.tokens, h.tokens + h.count), h.score, true});
    }
    EXPECT_EQ(error_.status, FOVEA_E_INDEX);
    EXPECT_EQ(error_.expected, found.size());
    return found;
  }
  void ExpectFound(uint32_t text, const std::vector<Candidate>& expected) {
    const std::vector<Candidate> found = Found(text);
    ASSERT_EQ(found.size(), expected.size()) << Say(plain_);
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].tokens, expected[i].tokens) << Say(plain_) << " rank " << i;
      EXPECT_NEAR(found[i].score, expected[i].score, 2e-5 * (1 + std::abs(expected[i].score))) << Say(plain_);
    }
  }
  // All steps, then the hypotheses of each text.
  void Expect(const std::vector<std::vector<Candidate>>& expected) {
    for (uint32_t left = 1; left > 0;) {
      left = Next().left;
      if (::testing::Test::HasFailure()) return;
    }
    for (uint32_t i = 0; i < expected.size(); ++i) ExpectFound(i, expected[i]);
  }

 private:
  PlainBeams plain_;
  fovea_beams beams_ = Sized<fovea_beams>();
  fovea_sampling sampling_ = Sized<fovea_sampling>();
  fovea_generate_options options_ = Sized<fovea_generate_options>();
  fovea_error error_ = {};
  AlignedBytes memory_;
  fovea_generator* generator_ = nullptr;
  Sequence tokens_;
  Lengths lengths_;
  size_t steps_ = 0;
};

// Every width with every way to end and some length penalties; some with penalties, forbidden and forced tokens.
std::vector<PlainBeams> Variants() {
  std::vector<PlainBeams> all;
  for (uint32_t width = 1; width <= 5; ++width) {
    for (const uint32_t stop : {FOVEA_BEAMS_STOP_IF_WORSE, FOVEA_BEAMS_STOP_FIRST, FOVEA_BEAMS_STOP_NEVER}) {
      for (const double penalty : {1.0, 0.0, 0.6, 2.0, -1.0}) {
        for (const size_t stops : {0u, 1u, 6u}) {
          PlainBeams p;
          p.width = width, p.stop = stop, p.length_penalty = penalty, p.max_tokens = 10;
          p.stop_ids.assign(kStops, kStops + stops);
          if (stops == 6 && penalty == 0.6) p.repetition_penalty = 1.4, p.forbidden = {3, 5, 8, 13};
          if (stops == 0 && penalty == 1) p.never_best = true;
          if (stops == 6 && penalty == 2.0) p.forced = {-1, 9, -1, 4};
          if (stops == 1 && penalty == 2.0) p.forced = {9, -1, -1, -1, -1, -1, -1, -1, -1, 3};
          all.push_back(p);
        }
      }
    }
  }
  return all;
}

const CachedDecoder& Decoder() {
  static const CachedDecoder decoder({DType::kF32, 24}, {{"generate.token", "ids"}, {"generate.scores", "scores"}});
  return decoder;
}

std::vector<float> AfterWhole(const Sequence& text) {
  static std::map<Sequence, std::vector<float>> known;
  std::vector<float>& scores = known[text];
  if (scores.empty()) scores = Decoder().ScoresAfter(text);
  return scores;
}

const Texts kPrompts = {RandomIds(20, 50, 1), {7}, RandomIds(5, 50, 2)};

struct KeptSession {
  KeptSession(uint32_t rows, uint32_t new_rows)
      : limits(Decoder().Limits(rows, new_rows, rows * 40, 40)), session(Decoder().model, Kept()) {}
  fovea_session_options Kept() const {
    fovea_session_options options = Options(limits);
    options.program = 1;
    return options;
  }
  std::vector<fovea_limit> limits;
  TestSession session;
};

TEST(Beams, OfTextsThatAreKept) {
  for (const PlainBeams& p : Variants()) {
    KeptSession kept(3 * p.width, 15);
    Search search(p, kept.session.session);
    std::vector<std::vector<Candidate>> expected;
    for (const Sequence& prompt : kPrompts) expected.push_back(SearchPlainly(p, prompt, AfterWhole));
    search.Start();
    search.Prompts(kPrompts);
    search.Expect(expected);
    if (HasFailure()) return;
  }
}

TEST(Beams, OfASourceWhoseKeysAreMadeOnce) {
  static const SourceDecoder d;
  const Texts sources = {{4, 9, 1, 1, 20}, {2}, RandomIds(8, 40, 6)}, prefixes = {{1}, {1, 6, 2}, {1, 4}};
  std::vector<std::map<Sequence, std::vector<float>>> known(3);
  for (const PlainBeams& p : Variants()) {
    if (p.width % 2 == 0 || p.length_penalty == 0.0) continue;
    SourceDecoder::Pair pair(d, 3, p.width);
    for (const bool has_prefixes : {false, true}) {
      Search search(p, pair.decode->session, pair.encode->session);
      std::vector<std::vector<Candidate>> expected;
      for (size_t i = 0; i < 3; ++i) {
        expected.push_back(SearchPlainly(p, has_prefixes ? prefixes[i] : Sequence{1}, [&](const Sequence& text) {
          std::vector<float>& scores = known[i][text];
          if (scores.empty()) scores = d.After(sources[i], text);
          return scores;
        }));
      }
      pair.Encode(sources);
      search.Start();
      if (has_prefixes) search.Prompts(prefixes);
      search.Expect(expected);
      if (HasFailure()) return;
    }
  }
}

// Without beams each text has one row.
TEST(Beams, GreedyWhereThereCouldBeSome) {
  static const SourceDecoder d;
  const Texts sources = {{4, 9, 1, 1, 20}, {2}, RandomIds(8, 40, 6)};
  SourceDecoder::Pair pair(d, 3, 1);
  fovea_generate_options options = Sized<fovea_generate_options>();
  options.decode = pair.decode->session, options.encode = pair.encode->session;
  options.max_tokens = 12;
  uint64_t needed = 0;
  ASSERT_EQ(fovea_generate_size(&options, &needed, nullptr), FOVEA_OK);
  AlignedBytes memory(needed);
  fovea_generator* generator = nullptr;
  ASSERT_EQ(fovea_generate_init(&options, memory.data(), needed, &generator, nullptr), FOVEA_OK);
  for (const size_t count : {3u, 2u}) {  // another batch
    pair.Encode(Texts(sources.begin(), sources.begin() + static_cast<ptrdiff_t>(count)));
    fovea_error error = {};
    ASSERT_EQ(fovea_generate_start(generator, &error), FOVEA_OK) << error.text;
    Texts made(count, Sequence{1});
    fovea_generated step = Sized<fovea_generated>();
    for (step.left = 1; step.left > 0;) {
      ASSERT_EQ(fovea_generate_next(generator, nullptr, &step, &error), FOVEA_OK) << error.text;
      ASSERT_EQ(step.texts, count);
      for (size_t i = 0; i < count; ++i) {
        const std::vector<float> scores = d.After(sources[i], made[i]);
        ASSERT_EQ(step.tokens[i], std::max_element(scores.begin(), scores.end()) - scores.begin());
        made[i].push_back(step.tokens[i]);
      }
    }
  }
}

TEST(Beams, OfCarriedStates) {
  static const RecurrentDecoder d;
  std::map<Sequence, std::vector<float>> known;
  for (const PlainBeams& p : Variants()) {
    const std::vector<fovea_limit> limits = {{d.texts, 2 * p.width, 0}};
    TestSession session(d.model, Options(limits));
    session.SetSegments(d.texts, {2 * p.width});
    Search search(p, session.session);
    const auto expected = SearchPlainly(p, {1}, [&](const Sequence& text) {
      std::vector<float>& scores = known[text];
      if (scores.empty()) scores = d.After(text);
      return scores;
    });
    search.Start();
    search.Expect({expected, expected});
    if (HasFailure()) return;
  }
}

// Beams can be read after each step, and hypotheses as soon as they are found.
TEST(Beams, CanBeReadAfterEachStep) {
  PlainBeams p;
  p.width = 3, p.max_tokens = 10, p.stop = FOVEA_BEAMS_STOP_NEVER;
  p.stop_ids.assign(kStops, kStops + 6);
  KeptSession kept(3 * p.width, 30);
  Search search(p, kept.session.session);
  search.Start();
  search.Prompts(kPrompts);
  size_t seen = 0;
  for (uint32_t left = 1, step = 0; left > 0; ++step) {
    const fovea_generated generated = search.Next();
    left = generated.left;
    for (uint32_t row = 0; row < 9; ++row) {
      fovea_hypothesis h = Sized<fovea_hypothesis>();
      ASSERT_EQ(fovea_generate_beam(search.get(), row, &h, nullptr), FOVEA_OK);
      if (generated.ended[row / 3] != 0) {
        EXPECT_EQ(h.count, 0u);
        continue;
      }
      ASSERT_EQ(h.count, step + 1);
      double sum = 0;
      Sequence text = kPrompts[row / 3];
      for (uint32_t i = 0; i < h.count; ++i) {
        sum += LogProbabilities(p, AfterWhole(text), text, i)[static_cast<size_t>(h.tokens[i])];
        text.push_back(h.tokens[i]);
      }
      EXPECT_NEAR(h.sum, sum, 1e-4);
      const int32_t last = generated.tokens[row / 3];
      EXPECT_TRUE(row % 3 != 0 || last == h.tokens[h.count - 1]);
    }
    if (step == 5) seen = search.Found(0).size() + search.Found(1).size() + search.Found(2).size();
  }
  EXPECT_GT(seen, 0u);
}

TEST(Beams, NothingIsAllocated) {
  if (!fovea::testing::HeapTrap::Works()) GTEST_SKIP() << "the heap is not watched here";
  PlainBeams p;
  p.width = 4, p.max_tokens = 12, p.repetition_penalty = 1.2;
  KeptSession kept(3 * p.width, 15);
  Search search(p, kept.session.session);
  search.Start();
  search.Prompts(kPrompts);
  fovea_generated step = Sized<fovea_generated>();
  fovea_hypothesis h = Sized<fovea_hypothesis>();
  fovea::testing::HeapTrap trap;
  for (step.left = 1; step.left > 0;) {
    ASSERT_EQ(fovea_generate_next(search.get(), nullptr, &step, nullptr), FOVEA_OK);
  }
  ASSERT_EQ(fovea_generate_hypothesis(search.get(), 2, 3, &h, nullptr), FOVEA_OK);
  EXPECT_EQ(trap.calls(), 0u);
}

// Where the session has no room for more tokens a text's search ends.
TEST(Beams, EndWhereTheSessionDoes) {
  PlainBeams p;
  p.width = 2, p.max_tokens = 60;
  KeptSession kept(2 * p.width, 30);
  Search search(p, kept.session.session);
  search.Start();
  search.Prompts({kPrompts[0], kPrompts[2]});
  PlainBeams first = p, second = p;
  first.max_tokens = 21, second.max_tokens = 36;  // the last token needs no row
  search.Expect({SearchPlainly(first, kPrompts[0], AfterWhole), SearchPlainly(second, kPrompts[2], AfterWhole)});
}

fovea_status InitStatus(const std::function<void(fovea_generate_options*, fovea_beams*, fovea_sampling*)>& change,
                        fovea_session* decode, const fovea_session* encode = nullptr) {
  fovea_beams beams = Sized<fovea_beams>();
  fovea_sampling sampling = Sized<fovea_sampling>();
  fovea_generate_options options = Sized<fovea_generate_options>();
  beams.width = 2;
  options.decode = decode, options.encode = encode;
  options.beams = &beams, options.sampling = &sampling, options.max_tokens = 5;
  change(&options, &beams, &sampling);
  uint64_t needed = 0;
  return fovea_generate_size(&options, &needed, nullptr);
}

TEST(Beams, WrongOptions) {
  KeptSession kept(4, 30);
  fovea_session* s = kept.session.session;
  EXPECT_EQ(InitStatus([](auto*, auto*, auto*) {}, s), FOVEA_OK);
  EXPECT_EQ(InitStatus([](auto*, auto* b, auto*) { b->width = 0; }, s), FOVEA_E_OPTION);
  EXPECT_EQ(InitStatus([](auto*, auto* b, auto*) { b->width = 5; }, s), FOVEA_E_OPTION);
  EXPECT_EQ(InitStatus([](auto*, auto* b, auto*) { b->width = 257; }, s), FOVEA_E_OPTION);
  EXPECT_EQ(InitStatus([](auto*, auto* b, auto*) { b->stop = 3; }, s), FOVEA_E_OPTION);
  EXPECT_EQ(InitStatus([](auto*, auto* b, auto*) { b->length_penalty = NAN; }, s), FOVEA_E_OPTION);
  EXPECT_EQ(InitStatus([](auto*, auto* b, auto*) { b->struct_size = 3; }, s), FOVEA_E_STRUCT_SIZE);
  EXPECT_EQ(InitStatus([](auto* o, auto*, auto*) { o->max_tokens = 0; }, s), FOVEA_E_OPTION);
  EXPECT_EQ(InitStatus([](auto*, auto*, auto* m) { m->temperature = 1; }, s), FOVEA_E_OPTION);
  EXPECT_EQ(InitStatus([](auto*, auto*, auto* m) { m->logprobs = 1; }, s), FOVEA_E_OPTION);
}

TEST(Beams, WrongCalls) {
  PlainBeams p;
  p.width = 2, p.max_tokens = 5;
  KeptSession kept(4, 30);
  Search search(p, kept.session.session);
  fovea_hypothesis h = Sized<fovea_hypothesis>();
  fovea_error error = {};
  EXPECT_EQ(fovea_generate_hypothesis(nullptr, 0, 0, &h, &error), FOVEA_E_HANDLE);
  EXPECT_EQ(fovea_generate_hypothesis(search.get(), 0, 0, &h, &error), FOVEA_E_ORDER);
  search.Start();
  const int32_t tokens[] = {1, 2, 3};
  const uint32_t lengths[] = {1, 1, 1};
  EXPECT_EQ(fovea_generate_prompts(search.get(), tokens, lengths, 3, 0, &error), FOVEA_E_SEGMENTS);
  EXPECT_EQ(error.expected, 2u);
  search.Prompts({{1}, {2}});
  EXPECT_EQ(fovea_generate_hypothesis(search.get(), 0, 0, &h, &error), FOVEA_E_INDEX);
  EXPECT_EQ(fovea_generate_hypothesis(search.get(), 2, 0, &h, &error), FOVEA_E_INDEX);
  EXPECT_EQ(fovea_generate_beam(search.get(), 4, &h, &error), FOVEA_E_INDEX);
  EXPECT_EQ(fovea_generate_beam(search.get(), 0, nullptr, &error), FOVEA_E_NULL);
  search.Expect({SearchPlainly(p, {1}, AfterWhole), SearchPlainly(p, {2}, AfterWhole)});

  fovea_generate_options options = Sized<fovea_generate_options>();
  options.decode = kept.session.session;
  uint64_t needed = 0;
  ASSERT_EQ(fovea_generate_size(&options, &needed, &error), FOVEA_OK);
  AlignedBytes memory(needed);
  fovea_generator* greedy = nullptr;
  ASSERT_EQ(fovea_generate_init(&options, memory.data(), needed, &greedy, &error), FOVEA_OK);
  EXPECT_EQ(fovea_generate_hypothesis(greedy, 0, 0, &h, &error), FOVEA_E_OPTION);
}

}  // namespace
}  // namespace fovea::test
