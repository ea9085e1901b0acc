// Ctrl-C stops the generation in progress, and no later one.
#include "tools/model/interrupt.h"

#include "tests/support/model_builder.h"

namespace fovea::test {
namespace {

using tools::Interrupt;

TEST(Interrupt, BetweenTwoRunsItStopsNoLaterGeneration) {
  ModelBuilder b;
  const TinyEncoder e = BuildTinyEncoder(b, DType::kF32);
  const TestModel model(b.Blob());
  const std::vector<fovea_limit> limits = {{e.texts, 1, 0}, {e.tokens, 8, 0}};
  TestSession session(model, Options(limits));
  session.SetSegments(e.tokens, {8});
  session.SetInput(e.ids, RandomIds(8, 50, 1));
  Interrupt interrupt;
  Interrupt::Watch(session.session, nullptr);
  raise(SIGINT);
  EXPECT_TRUE(Interrupt::Happened());
  Interrupt::Watch(nullptr, nullptr);
  interrupt.Rearm();
  EXPECT_FALSE(Interrupt::Happened());
  Interrupt::Watch(session.session, nullptr);
  session.Run();
  raise(SIGINT);
  EXPECT_EQ(fovea_session_run(session.session, nullptr), FOVEA_E_CANCELLED);
  Interrupt::Watch(nullptr, nullptr);
}

}  // namespace
}  // namespace fovea::test
