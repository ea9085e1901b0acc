// Runners that lose, repeat or delay tasks, and barriers that do not wait: errors, never wrong numbers, and the state
// stays as it was.
#include "fovea/attention.h"
#include "tests/session/kept_texts.h"
#include "tests/session/prompted_generator.h"
#include "tests/session/runners.h"
#include "tests/support/tiny_decoder.h"

namespace fovea::test {
namespace {

enum class Fault {
  kNothing,     // runs no task
  kFirstOnly,   // the first one alone
  kNotFirst,    // all but the first
  kNotLast,     // all but the last
  kTwice,       // all, one of them twice
  kAllAsFirst,  // as many tasks as there are workers, all of the first one
  kOutOfRange,  // all, and one more
  kFarOutOfRange,
  kLate,  // all, but after it has returned
};
constexpr Fault kFaults[] = {Fault::kNothing,    Fault::kFirstOnly,     Fault::kNotFirst,
                             Fault::kNotLast,    Fault::kTwice,         Fault::kAllAsFirst,
                             Fault::kOutOfRange, Fault::kFarOutOfRange, Fault::kLate};

// Workers one after the other; call number `bad_call` has the fault.
struct FaultyRunner {
  Fault fault = Fault::kNothing;
  uint32_t bad_call = UINT32_MAX, calls = 0;
  fovea_task late = nullptr;
  void* late_context = nullptr;

  static void Run(void* context, uint32_t workers, fovea_task task, void* task_context) {
    FaultyRunner& self = *static_cast<FaultyRunner*>(context);
    const bool bad = self.calls++ == self.bad_call;
    const auto tasks = [&](uint32_t begin, uint32_t end) {
      for (uint32_t w = begin; w < end; ++w) task(task_context, w);
    };
    if (!bad) return tasks(0, workers);
    switch (self.fault) {
      case Fault::kNothing:
        return;
      case Fault::kFirstOnly:
        return tasks(0, 1);
      case Fault::kNotFirst:
        return tasks(1, workers);
      case Fault::kNotLast:
        return tasks(0, workers - 1);
      case Fault::kTwice:
        tasks(0, workers);
        return tasks(workers - 1, workers);
      case Fault::kAllAsFirst:
        for (uint32_t w = 0; w < workers; ++w) tasks(0, 1);
        return;
      case Fault::kOutOfRange:
        return tasks(0, workers + 1);
      case Fault::kFarOutOfRange:
        tasks(0, workers);
        return task(task_context, UINT32_MAX);
      case Fault::kLate:
        self.late = task;
        self.late_context = task_context;
        return;
    }
  }
  void Join(fovea_session_options* options) {
    options->runner = Run;
    options->runner_context = this;
  }
  void RunLate(uint32_t workers) {
    for (uint32_t w = 0; w < workers && late != nullptr; ++w) late(late_context, w);
  }
};

const CachedDecoder& Decoder() {
  static const CachedDecoder decoder({}, {{"generate.token", "ids"}, {"generate.scores", "scores"}});
  return decoder;
}

// Each call of the runner in a run, in turn, has each fault.
TEST(RunnerFaults, AreErrorsAndCachedTextsStay) {
  constexpr uint32_t kWorkers = 3;
  const std::vector<fovea_limit> limits = Decoder().Limits(2, 40, 120);
  const std::vector<std::vector<int32_t>> first = {RandomIds(9, 50, 1), RandomIds(4, 50, 2)},
                                          second = {RandomIds(11, 50, 3), RandomIds(8, 50, 4)};
  KeptTexts plain(Decoder(), Options(limits));
  plain.Append(first);
  const std::vector<float> expected = plain.Append(second);

  FaultyRunner runner;
  fovea_session_options options = Options(limits, kWorkers, 1);
  runner.Join(&options);
  KeptTexts kept(Decoder(), options);
  kept.Append(first);
  runner.calls = 0;
  kept.Append(second);
  const uint32_t calls = runner.calls;
  ASSERT_GT(calls, 2u);
  for (uint32_t call = 0; call < calls; ++call) {
    for (const Fault fault : kFaults) {
      ASSERT_EQ(kept.Rewind(0, 9), FOVEA_OK);
      ASSERT_EQ(kept.Rewind(1, 4), FOVEA_OK);
      runner.fault = fault, runner.bad_call = call, runner.calls = 0;
      kept.session().SetSegments(Decoder().tokens, {11, 8});
      std::vector<int32_t> ids = second[0];
      ids.insert(ids.end(), second[1].begin(), second[1].end());
      kept.session().SetInput(Decoder().ids, ids);
      fovea_error error = {};
      ASSERT_EQ(fovea_session_run(kept.get(), &error), FOVEA_E_RUNNER) << call << " fault " << static_cast<int>(fault);
      EXPECT_STREQ(fovea_status_name(error.status), "FOVEA_E_RUNNER");
      EXPECT_EQ(error.expected, kWorkers);
      EXPECT_EQ(runner.calls, call + 1);  // the run goes no further
      EXPECT_EQ(kept.Rows(0), 9u);
      EXPECT_EQ(kept.Rows(1), 4u);
      fovea_view view = {};
      EXPECT_EQ(fovea_session_get_output(kept.get(), Decoder().hidden, &view, &error), FOVEA_E_ORDER);
      runner.RunLate(kWorkers);
      runner.bad_call = UINT32_MAX;
      ASSERT_EQ(fovea_session_run(kept.get(), &error), FOVEA_OK) << error.text;
      EXPECT_EQ(kept.session().Output(Decoder().hidden), expected);
      runner.RunLate(kWorkers);  // outputs are not written again
      EXPECT_EQ(kept.session().Output(Decoder().hidden), expected);
      runner.late = nullptr;
    }
  }
}

TEST(RunnerFaults, CarriedStateStays) {
  const TinyDecoder d;
  const TestModel model(d.b.Blob());
  const std::vector<std::vector<int32_t>> texts = {{1, 2, 3}, {4}, {5, 6}, {7, 8}};
  TinyPair plain(model, d, 4, 20), pair(model, d, 4, 20);
  FaultyRunner runner;
  fovea_session_options options = pair.OptionsOf(1, 2, 1, nullptr);
  runner.Join(&options);
  TestSession faulty(model, options);
  std::swap(pair.decode, faulty);
  for (TinyPair* each : {&plain, &pair}) {
    each->Encode(d, texts);
    each->Link(d);
  }
  for (const int32_t word : {3, 1, 4}) {
    const std::vector<int32_t> words(4, word);
    for (const Fault fault : kFaults) {
      runner.fault = fault, runner.bad_call = 0, runner.calls = 0;
      pair.decode.SetInput(d.token, words);
      fovea_error error = {};
      ASSERT_EQ(fovea_session_run(pair.decode.session, &error), FOVEA_E_RUNNER);
    }
    runner.bad_call = UINT32_MAX;
    EXPECT_EQ(pair.Step(d, words), plain.Step(d, words));
  }
}

// The step that failed is repeated and gives the same tokens.
TEST(RunnerFaults, GenerationStopsAndGoesOn) {
  const std::vector<fovea_limit> limits = Decoder().Limits(1, 40, 120);
  const auto tokens = [&](uint32_t bad_call) {
    FaultyRunner runner;
    runner.bad_call = bad_call;
    fovea_session_options options = Options(limits, 2, 1);
    options.program = 1;
    runner.Join(&options);
    const TestSession session(Decoder().model, options);
    PromptedGenerator generator(session.session, 5);
    std::vector<int32_t> made;
    uint32_t failed = 0;
    fovea_generated step = Sized<fovea_generated>();
    for (step.left = 1; step.left > 0;) {
      const fovea_status status = generator.Next(&step);
      if (status == FOVEA_OK) made.push_back(step.tokens[0]);
      if (status == FOVEA_OK) continue;
      EXPECT_EQ(status, FOVEA_E_RUNNER);
      if (++failed > 1) break;
    }
    EXPECT_EQ(failed, bad_call == UINT32_MAX ? 0u : 1u);
    return made;
  };
  const std::vector<int32_t> expected = tokens(UINT32_MAX);
  for (const uint32_t call : {0u, 1u}) EXPECT_EQ(tokens(call), expected);
}

TEST(RunnerFaults, AttentionFunction) {
  constexpr uint32_t kRows = 40, kWidth = 16, kWorkers = 4;
  ModelBuilder random;
  std::vector<float> q = random.RandomFloats(kRows * kWidth);
  FaultyRunner runner;
  fovea_attention_options options = Sized<fovea_attention_options>();
  options.heads = 1, options.kv_heads = 1, options.d_k = kWidth, options.d_v = kWidth;
  options.workers = kWorkers, options.tile_rows = 4;
  options.runner = FaultyRunner::Run;
  options.runner_context = &runner;
  fovea_attention_rows rows = {};
  rows.data = q.data(), rows.rows = kRows, rows.row_stride = kWidth * sizeof(float);
  uint64_t bytes = 0;
  fovea_error error = {};
  ASSERT_EQ(fovea_attention_scratch_size(&options, &bytes, &error), FOVEA_OK) << error.text;
  const AlignedBytes scratch(bytes);
  const auto run = [&](std::vector<float>* to) {
    to->assign(kRows * kWidth, 0.0f);
    fovea_attention_out out = {};
    out.data = to->data(), out.rows = kRows, out.row_stride = kWidth * sizeof(float);
    return fovea_attention_run(&options, &rows, &rows, &rows, &out, scratch.data(), bytes, &error);
  };
  std::vector<float> expected, made;
  ASSERT_EQ(run(&expected), FOVEA_OK) << error.text;
  for (const Fault fault : kFaults) {
    if (fault == Fault::kLate) continue;
    runner.fault = fault, runner.bad_call = 0, runner.calls = 0;
    EXPECT_EQ(run(&made), FOVEA_E_RUNNER) << static_cast<int>(fault);
    EXPECT_EQ(error.expected, kWorkers);
  }
  ASSERT_EQ(run(&made), FOVEA_OK);
  EXPECT_EQ(made, expected);
}

void NoBarrier(void*, uint32_t) {}

// Workers one after the other, each of which passes the barrier before the next has begun.
TEST(RunnerFaults, ABarrierThatDoesNotWait) {
  ModelBuilder b(7);
  const TinyEncoder e = BuildTinyEncoder(b, DType::kI8, 2, 192, 6, 448, 50, 64);
  const TestModel model(b.Blob());
  const std::vector<fovea_limit> limits = {{e.texts, 1, 0}, {e.tokens, 64, 0}};
  for (const uint32_t rows : {20u, 63u}) {  // shared by columns, and by tiles
    FaultyRunner runner;
    fovea_session_options options = Options(limits, 2, 8);
    runner.Join(&options);
    options.barrier = NoBarrier;
    TestSession session(model, options);
    session.SetSegments(e.tokens, {rows});
    session.SetInput(e.ids, RandomIds(rows, 50, 1));
    fovea_error error = {};
    EXPECT_EQ(fovea_session_run(session.session, &error), FOVEA_E_RUNNER);
    EXPECT_NE(strstr(error.text, "barrier"), nullptr) << error.text;
    EXPECT_EQ(runner.calls, 1u);
  }
}

// Within one operation: workers that share the products of a recurrent layer.
TEST(RunnerFaults, ABarrierThatDoesNotWaitWithinAnOperation) {
  ModelBuilder b;
  const uint32_t texts = b.Space("texts"), tokens = b.Space("tokens", texts), x = b.Input("x", tokens, 768);
  const uint32_t y = b.Op("recurrent", {x}, {b.RandomTensor(768, 256)}, tokens, 256);
  b.SetOutput(y);
  const TestModel model(b.Blob());
  const std::vector<fovea_limit> limits = {{texts, 1, 0}, {tokens, 6, 0}};
  const std::vector<float> xs = b.RandomFloats(6 * 768);
  const auto run = [&](const fovea_session_options& options, fovea_error* error, std::vector<float>* made) {
    TestSession session(model, options);
    session.SetSegments(tokens, {6});
    session.SetInput(x, xs);
    const fovea_status status = fovea_session_run(session.session, error);
    if (status == FOVEA_OK) *made = session.Output(y);
    return status;
  };
  fovea_error error = {};
  std::vector<float> expected, made;
  ASSERT_EQ(run(Options(limits), &error, &expected), FOVEA_OK);
  fovea_session_options options = Options(limits, 2);
  MeetingRunner meeting(2);
  meeting.Join(&options);
  ASSERT_EQ(run(options, &error, &made), FOVEA_OK);
  EXPECT_EQ(made, expected);
  EXPECT_EQ(meeting.calls, 1u);
  FaultyRunner runner;
  runner.Join(&options);
  options.barrier = NoBarrier;
  EXPECT_EQ(run(options, &error, &made), FOVEA_E_RUNNER);
  EXPECT_NE(strstr(error.text, "barrier"), nullptr) << error.text;
}

}  // namespace
}  // namespace fovea::test
