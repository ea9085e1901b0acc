// Between fovea_session_begin and the end of a run: calls that would change what it depends on are refused and change
// nothing.
#include <functional>

#include "tests/api/api_fixture.h"
#include "tests/support/cached_decoder.h"
#include "tests/support/tiny_decoder.h"

namespace fovea::test {
namespace {

using Call = std::function<fovea_status(fovea_error*)>;

// In a run of the session, begun but not advanced, and after each of its phases but the last, each call returns
// FOVEA_E_ORDER; the run ends as if there had been none.
void ExpectRefused(fovea_session* session, const std::vector<std::pair<const char*, Call>>& calls) {
  uint32_t left = 1;
  fovea_error error = {};
  ASSERT_EQ(fovea_session_begin(session, &error), FOVEA_OK) << error.text;
  while (left > 0) {
    for (const auto& [name, call] : calls) {
      error = {};
      EXPECT_EQ(call(&error), FOVEA_E_ORDER) << name;
      EXPECT_NE(strstr(error.text, "in progress"), nullptr) << name << ": " << error.text;
    }
    ASSERT_EQ(fovea_session_advance(session, 1, &left, &error), FOVEA_OK) << error.text;
  }
}

TEST(RunInProgress, SegmentsInputsAndASecondRun) {
  const EncoderModel& e = Encoder();
  const std::vector<fovea_limit> limits = {{e.encoder.texts, 2, 0}, {e.encoder.tokens, 20, 0}};
  TestSession session(e.model, Options(limits));
  fovea_session* s = session.session;
  session.SetSegments(e.encoder.tokens, {13, 7});
  session.SetInput(e.encoder.ids, RandomIds(20, 50, 1));
  session.Run();
  const std::vector<float> expected = session.Output(e.encoder.classes);
  const uint32_t same[] = {13, 7}, one[] = {2};
  const std::vector<int32_t> ids = RandomIds(5, 50, 2);
  fovea_text_tokens tokens = Sized<fovea_text_tokens>();
  tokens.ids = const_cast<int32_t*>(ids.data());
  tokens.capacity = tokens.count = 5;
  ExpectRefused(
      s, {{"set_segments", [&](fovea_error* r) { return fovea_session_set_segments(s, e.encoder.tokens, same, 2, r); }},
          {"set_segments of a parent",
           [&](fovea_error* r) { return fovea_session_set_segments(s, e.encoder.texts, one, 1, r); }},
          {"input",
           [&](fovea_error* r) {
             fovea_view view = {};
             return fovea_session_get_input(s, e.encoder.ids, &view, r);
           }},
          {"begin", [&](fovea_error* r) { return fovea_session_begin(s, r); }},
          {"run", [&](fovea_error* r) { return fovea_session_run(s, r); }},
          {"reset", [&](fovea_error* r) { return fovea_session_reset(s, r); }},
          {"text_bind", [&](fovea_error* r) { return fovea_text_bind(s, &tokens, 1, r); }}});
  EXPECT_EQ(session.Output(e.encoder.classes), expected);
  // Cancelling the run.
  uint32_t left = 0;
  ASSERT_EQ(fovea_session_begin(s, nullptr), FOVEA_OK);
  fovea_session_cancel(s);
  EXPECT_EQ(fovea_session_advance(s, 0, &left, nullptr), FOVEA_E_CANCELLED);
  EXPECT_EQ(fovea_session_set_segments(s, e.encoder.tokens, same, 2, nullptr), FOVEA_OK);
  // A run that did not begin is not in progress.
  session.SetInput(e.encoder.ids, std::vector<int32_t>(20, 50));
  EXPECT_EQ(fovea_session_begin(s, nullptr), FOVEA_E_ID);
  session.SetInput(e.encoder.ids, RandomIds(20, 50, 1));
  session.Run();
  EXPECT_EQ(session.Output(e.encoder.classes), expected);
}

TEST(RunInProgress, CachedTextsAndGeneration) {
  const CachedDecoder d({}, {{"generate.token", "ids"}, {"generate.scores", "scores"}});
  const std::vector<fovea_limit> limits = d.Limits(2, 40, 120);
  fovea_session_options options = Options(limits);
  options.program = 1;
  TestSession session(d.model, options), plain(d.model, options);
  fovea_session* s = session.session;
  fovea_generate_options of_generator = Sized<fovea_generate_options>();
  of_generator.decode = s;
  of_generator.max_tokens = 4;
  uint64_t needed = 0, size = 0;
  ASSERT_EQ(fovea_generate_size(&of_generator, &needed, nullptr), FOVEA_OK);
  const AlignedBytes memory(needed);
  fovea_generator* generator = nullptr;
  ASSERT_EQ(fovea_generate_init(&of_generator, memory.data(), needed, &generator, nullptr), FOVEA_OK);
  const std::vector<int32_t> prompt = {7, 8};
  const uint32_t length = 2, order[] = {1, 0};
  ASSERT_EQ(fovea_generate_start(generator, nullptr), FOVEA_OK);
  ASSERT_EQ(fovea_generate_set_prompts(generator, prompt.data(), &length, 1, 1, nullptr), FOVEA_OK);
  for (TestSession* each : {&session, &plain}) {
    each->SetSegments(d.tokens, {9, 4});
    each->SetInput(d.ids, RandomIds(13, 50, 1));
    each->Run();
    each->SetSegments(d.tokens, {3, 2});
    each->SetInput(d.ids, RandomIds(5, 50, 2));
  }
  plain.Run();
  ASSERT_EQ(fovea_cache_saved_size(s, 0, &size, nullptr), FOVEA_OK);
  AlignedBytes saved(size);
  ASSERT_EQ(fovea_cache_save(s, 0, saved.data(), size, nullptr), FOVEA_OK);
  ExpectRefused(s,
                {{"select", [&](fovea_error* r) { return fovea_cache_select(s, order, 2, r); }},
                 {"rewind", [&](fovea_error* r) { return fovea_cache_rewind(s, 0, 1, r); }},
                 {"fork", [&](fovea_error* r) { return fovea_cache_fork(s, 0, 1, r); }},
                 {"reorder", [&](fovea_error* r) { return fovea_cache_reorder(s, order, 2, r); }},
                 {"saved_size", [&](fovea_error* r) { return fovea_cache_saved_size(s, 0, &size, r); }},
                 {"save", [&](fovea_error* r) { return fovea_cache_save(s, 0, saved.data(), saved.size(), r); }},
                 {"restore", [&](fovea_error* r) { return fovea_cache_restore(s, 0, saved.data(), saved.size(), r); }},
                 {"reset", [&](fovea_error* r) { return fovea_session_reset(s, r); }},
                 {"generate_next", [&](fovea_error* r) { return fovea_generate_next(generator, nullptr, nullptr, r); }},
                 {"generate_start", [&](fovea_error* r) { return fovea_generate_start(generator, r); }}});
  EXPECT_EQ(session.Output(d.hidden), plain.Output(d.hidden));
  uint32_t rows = 0;
  EXPECT_EQ(fovea_cache_get_rows(s, 0, &rows, nullptr), FOVEA_OK);
  EXPECT_EQ(rows, 12u);
}

TEST(RunInProgress, CarriedStateAndLinks) {
  const TinyDecoder d;
  const TestModel model(d.b.Blob());
  TinyPair pair(model, d, 4, 20), plain(model, d, 4, 20);
  const std::vector<int32_t> words = {1, 2, 3, 4};
  for (TinyPair* each : {&pair, &plain}) {
    each->Encode(d, {{1, 2, 3}, {4}, {5, 6}, {7, 8}});
    each->Link(d);
  }
  const std::vector<float> expected = plain.Step(d, words);
  fovea_session *s = pair.decode.session, *from = pair.encode.session;
  pair.decode.SetInput(d.token, words);
  uint64_t size = 0;
  ASSERT_EQ(fovea_session_saved_size(s, &size, nullptr), FOVEA_OK);
  AlignedBytes saved(size);
  ASSERT_EQ(fovea_session_save(s, saved.data(), size, nullptr), FOVEA_OK);
  ExpectRefused(
      s,
      {{"link", [&](fovea_error* r) { return fovea_session_link(s, d.in_rows, from, d.rows, r); }},
       {"link of a carried input", [&](fovea_error* r) { return fovea_session_link(s, d.state, from, d.summary, r); }},
       {"saved_size", [&](fovea_error* r) { return fovea_session_saved_size(s, &size, r); }},
       {"save", [&](fovea_error* r) { return fovea_session_save(s, saved.data(), saved.size(), r); }},
       {"restore", [&](fovea_error* r) { return fovea_session_restore(s, saved.data(), saved.size(), r); }},
       {"input of what is carried", [&](fovea_error* r) {
          fovea_view view = {};
          return fovea_session_get_input(s, d.state, &view, r);
        }}});
  EXPECT_EQ(pair.decode.Output(d.logits), expected);
}

// The session that an input is linked to runs, or gets other segments, while this one runs.
TEST(RunInProgress, ALinkedSessionThatChanges) {
  const TinyDecoder d;
  const TestModel model(d.b.Blob());
  for (const bool runs : {true, false}) {
    TinyPair pair(model, d, 4, 20);
    pair.Encode(d, {{1, 2, 3}, {4}, {5, 6}, {7, 8}});
    pair.Link(d);
    pair.decode.SetInput(d.token, std::vector<int32_t>{1, 2, 3, 4});
    fovea_session* s = pair.decode.session;
    fovea_error error = {};
    ASSERT_EQ(fovea_session_begin(s, &error), FOVEA_OK);
    pair.Encode(d, {{8, 7, 6}, {5}, {4, 3}, {2, 1}});
    if (!runs) pair.encode.SetSegments(d.tokens, {3, 1, 2, 2});
    uint32_t left = 0;
    EXPECT_EQ(fovea_session_advance(s, UINT32_MAX, &left, &error), FOVEA_E_ORDER);
    EXPECT_EQ(error.tensor, d.in_rows);
    EXPECT_EQ(fovea_session_advance(s, UINT32_MAX, &left, &error), FOVEA_E_ORDER);  // the run is over
    pair.encode.Run();
    pair.decode.Run();
  }
}

// A clock that moves on by 10 at each reading.
uint64_t ticks_read = 0;
uint64_t SteadyClock() { return ticks_read += 10; }

TEST(RunInProgress, ABudgetOfTime) {
  const EncoderModel& e = Encoder();
  const std::vector<fovea_limit> limits = {{e.encoder.texts, 2, 0}, {e.encoder.tokens, 20, 0}};
  const auto bind = [&](TestSession& session) {
    session.SetSegments(e.encoder.tokens, {13, 7});
    session.SetInput(e.encoder.ids, RandomIds(20, 50, 1));
  };
  TestSession plain(e.model, Options(limits));
  bind(plain);
  plain.Run();
  uint32_t left = 0, phases = 0;
  fovea_error error = {};
  EXPECT_EQ(fovea_session_advance_for(plain.session, 1, &left, &error), FOVEA_E_OPTION);
  fovea_session_options options = Options(limits);
  options.clock = SteadyClock;
  TestSession session(e.model, options);
  bind(session);
  EXPECT_EQ(fovea_session_advance_for(session.session, 1, &left, &error), FOVEA_E_ORDER);
  EXPECT_EQ(fovea_session_advance_for(session.session, 1, nullptr, &error), FOVEA_E_NULL);
  // No time at all is one phase for each call, unlimited time the whole run.
  ASSERT_EQ(fovea_session_begin(session.session, &error), FOVEA_OK);
  for (left = 1; left > 0; ++phases) {
    const uint32_t before = left;
    ASSERT_EQ(fovea_session_advance_for(session.session, 0, &left, &error), FOVEA_OK);
    if (phases > 0) {
      EXPECT_EQ(left, before - 1);
    }
  }
  EXPECT_GT(phases, 2u);
  EXPECT_EQ(session.Output(e.encoder.classes), plain.Output(e.encoder.classes));
  ASSERT_EQ(fovea_session_begin(session.session, &error), FOVEA_OK);
  ASSERT_EQ(fovea_session_advance_for(session.session, UINT64_MAX, &left, &error), FOVEA_OK);
  EXPECT_EQ(left, 0u);
  // A phase reads the clock itself, so it alone takes longer than this budget.
  ASSERT_EQ(fovea_session_begin(session.session, &error), FOVEA_OK);
  ASSERT_EQ(fovea_session_advance_for(session.session, 20, &left, &error), FOVEA_OK);
  EXPECT_EQ(left, phases - 1);
}

// A clock of the caller that calls back into the session that reads it.
fovea_session* asking = nullptr;
uint32_t refused = 0, calls = 0;
uint64_t RecursiveClock() {
  uint32_t left = 0;
  if (asking == nullptr) return 0;
  ++calls;
  refused += fovea_session_advance(asking, 1, &left, nullptr) == FOVEA_E_ORDER ? 1 : 0;
  refused += fovea_session_run(asking, nullptr) == FOVEA_E_ORDER ? 1 : 0;
  return 0;
}

TEST(RunInProgress, CallsFromWithinTheRun) {
  const EncoderModel& e = Encoder();
  const std::vector<fovea_limit> limits = {{e.encoder.texts, 2, 0}, {e.encoder.tokens, 20, 0}};
  TestSession plain(e.model, Options(limits));
  fovea_session_options options = Options(limits);
  options.clock = RecursiveClock;
  TestSession session(e.model, options);
  for (TestSession* each : {&plain, &session}) {
    each->SetSegments(e.encoder.tokens, {13, 7});
    each->SetInput(e.encoder.ids, RandomIds(20, 50, 1));
  }
  plain.Run();
  asking = session.session;
  session.Run();
  asking = nullptr;
  EXPECT_GT(calls, 0u);
  EXPECT_EQ(refused, 2 * calls);
  EXPECT_EQ(session.Output(e.encoder.classes), plain.Output(e.encoder.classes));
}

}  // namespace
}  // namespace fovea::test
