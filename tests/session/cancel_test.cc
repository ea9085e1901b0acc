// A request to cancel ends the run in progress or, if there is none, the next one: no request is lost.
#include <atomic>
#include <thread>

#include "tests/session/prompted_generator.h"
#include "tests/support/cached_decoder.h"
#include "tests/support/fewer_cases.h"

namespace fovea::test {
namespace {

struct BoundEncoder {
  BoundEncoder()
      : encoder(BuildTinyEncoder(builder, DType::kF32)),
        model(builder.Blob()),
        limits{{encoder.texts, 2, 0}, {encoder.tokens, 20, 0}},
        session(model, Options(limits)) {
    session.SetSegments(encoder.tokens, {13, 7});
    session.SetInput(encoder.ids, RandomIds(20, 50, 1));
    session.Run();
    expected = session.Output(encoder.classes);
  }
  fovea_session* get() const { return session.session; }
  void ExpectWhole() {
    session.Run();
    EXPECT_EQ(session.Output(encoder.classes), expected);
  }
  ModelBuilder builder;
  TinyEncoder encoder;
  TestModel model;
  std::vector<fovea_limit> limits;
  TestSession session;
  std::vector<float> expected;
};

TEST(Cancel, BeforeTheRun) {
  BoundEncoder bound;
  fovea_session* s = bound.get();
  fovea_error error = {};
  fovea_session_cancel(s);
  fovea_session_cancel(s);  // once is enough
  EXPECT_EQ(fovea_session_run(s, &error), FOVEA_E_CANCELLED);
  bound.ExpectWhole();
  // In pieces.
  uint32_t left = 77;
  fovea_session_cancel(s);
  ASSERT_EQ(fovea_session_begin(s, &error), FOVEA_OK);
  EXPECT_EQ(fovea_session_advance(s, 1, &left, &error), FOVEA_E_CANCELLED);
  EXPECT_EQ(left, 77u);
  EXPECT_EQ(fovea_session_advance(s, 1, &left, &error), FOVEA_E_ORDER);
  bound.ExpectWhole();
  ASSERT_EQ(fovea_session_begin(s, &error), FOVEA_OK);
  ASSERT_EQ(fovea_session_advance(s, 1, &left, &error), FOVEA_OK);
  fovea_session_cancel(s);
  EXPECT_EQ(fovea_session_advance(s, 0, &left, &error), FOVEA_E_CANCELLED);
  bound.ExpectWhole();
}

TEST(Cancel, StaysUntilItIsObeyedOrCleared) {
  BoundEncoder bound;
  fovea_session* s = bound.get();
  fovea_error error = {};
  fovea_session_cancel(s);
  const std::vector<int32_t> good = RandomIds(20, 50, 1);
  bound.session.SetInput(bound.encoder.ids, std::vector<int32_t>(20, 50));
  EXPECT_EQ(fovea_session_run(s, &error), FOVEA_E_ID);
  bound.session.SetInput(bound.encoder.ids, good);
  bound.session.SetSegments(bound.encoder.tokens, {13, 7});
  EXPECT_EQ(fovea_session_reset(s, &error), FOVEA_OK);
  EXPECT_EQ(fovea_session_run(s, &error), FOVEA_E_CANCELLED);
  bound.ExpectWhole();
  // The request came after the end of the run that it was meant for.
  fovea_session_cancel(s);
  fovea_session_clear_cancel(s);
  bound.ExpectWhole();
  // Between begin and a step that has not checked yet.
  uint32_t left = 0;
  fovea_session_cancel(s);
  ASSERT_EQ(fovea_session_begin(s, &error), FOVEA_OK);
  fovea_session_clear_cancel(s);
  ASSERT_EQ(fovea_session_advance(s, UINT32_MAX, &left, &error), FOVEA_OK);
  EXPECT_EQ(bound.session.Output(bound.encoder.classes), bound.expected);
  fovea_session_clear_cancel(nullptr);
}

// A thread cancels while another one begins the run: that run or the next ends with FOVEA_E_CANCELLED, one of them.
TEST(Cancel, IsNotLostInTheRace) {
  BoundEncoder bound;
  uint32_t at_once = 0;
  const uint32_t rounds = FewerCases() ? 30 : 200;
  for (uint32_t round = 0; round < rounds; ++round) {
    std::atomic<bool> go{false};
    std::thread other([&] {
      while (!go) {
      }
      fovea_session_cancel(bound.get());
    });
    go = true;
    const fovea_status status = fovea_session_run(bound.get(), nullptr);
    other.join();
    const fovea_status next = fovea_session_run(bound.get(), nullptr);
    at_once += status == FOVEA_E_CANCELLED ? 1 : 0;
    ASSERT_EQ(next, status == FOVEA_OK ? FOVEA_E_CANCELLED : FOVEA_OK) << round;
    bound.ExpectWhole();
  }
  RecordProperty("cancelled_at_once", static_cast<int>(at_once));
}

// Between two steps of a generation: the next step is cancelled and, when repeated, gives the same token.
TEST(Cancel, BetweenStepsOfAGeneration) {
  const CachedDecoder decoder({}, {{"generate.token", "ids"}, {"generate.scores", "scores"}});
  const std::vector<fovea_limit> limits = decoder.Limits(1, 40, 120);
  const auto tokens = [&](uint32_t cancel_before) {
    fovea_session_options options = Options(limits);
    options.program = 1;
    const TestSession session(decoder.model, options);
    PromptedGenerator generator(session.session, 6);
    std::vector<int32_t> made;
    fovea_generated step = Sized<fovea_generated>();
    for (uint32_t i = 0; i < 6; ++i) {
      if (i == cancel_before) {
        fovea_session_cancel(session.session);
        EXPECT_EQ(generator.Next(&step), FOVEA_E_CANCELLED) << i;
      }
      EXPECT_EQ(generator.Next(&step), FOVEA_OK) << i;
      made.push_back(step.tokens[0]);
    }
    return made;
  };
  const std::vector<int32_t> expected = tokens(UINT32_MAX);
  for (const uint32_t step : {0u, 1u, 5u}) EXPECT_EQ(tokens(step), expected);
}

}  // namespace
}  // namespace fovea::test
