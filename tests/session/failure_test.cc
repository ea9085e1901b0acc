// A run that fails reports the operation and the message of that operation.
#include <gtest/gtest.h>

#include "runtime/api/handles.h"
#include "tests/session/runners.h"
#include "tests/support/model_builder.h"

namespace fovea::test {
namespace {

constexpr char kFault[] = "this operation fails in a test";

// An operation of a session, replaced by one that fails.
class Failing {
 public:
  Failing(const TestSession& session, uint32_t operation, fovea_status status) {
    Session& s = *session.session->session;
    for (uint32_t i = 0; i < s.program().operation_count; ++i) {
      if (s.steps[i].operation != operation) continue;
      def_ = *s.steps[i].op->def;
      def_.run = status == FOVEA_E_INTERNAL ? RunInternal : RunLimit;
      op_ = *s.steps[i].op;
      op_.def = &def_;
      s.steps[i].op = &op_;
    }
  }

 private:
  static Status RunInternal(const Op&, const OpRun& run) { return run.Fail(FOVEA_E_INTERNAL, kFault, 3, 4, 5); }
  static Status RunLimit(const Op&, const OpRun& run) { return run.Fail(FOVEA_E_LENGTH, kFault, 3, 4, 5); }
  OpDef def_;
  Op op_;
};

// The message does not depend on the class of the status, nor on how many workers run.
TEST(Failure, HasTheOperationAndItsMessage) {
  ModelBuilder builder{7};
  const TinyEncoder encoder = BuildTinyEncoder(builder, DType::kF32, 2, 192, 6, 448, 50, 64);
  const TestModel model(builder.Blob());
  const std::vector<fovea_limit> limits = {{encoder.texts, 8, 0}, {encoder.tokens, 64, 0}};
  for (const uint32_t workers : {1u, 3u}) {
    for (const fovea_status status : {FOVEA_E_INTERNAL, FOVEA_E_LENGTH}) {
      for (const uint32_t operation : {0u, 4u, 9u}) {
        MeetingRunner meeting(workers);
        fovea_session_options options = {};
        options.struct_size = sizeof(options);
        options.workers = workers;
        if (workers > 1) meeting.Join(&options);
        options.limits = limits.data();
        options.limit_count = 2;
        TestSession session(model, options);
        const Failing failing(session, operation, status);
        session.SetSegments(encoder.tokens, {5, 12});
        session.SetInput(encoder.ids, RandomIds(17, 50, 3));
        fovea_error error = {};
        ASSERT_EQ(fovea_session_run(session.session, &error), status);
        EXPECT_EQ(error.status, status);
        EXPECT_EQ(error.step, operation);
        EXPECT_STREQ(error.text, kFault);
        EXPECT_EQ(error.expected, 3u);
        EXPECT_EQ(error.found, 4u);
        EXPECT_EQ(error.index, 5u);
      }
    }
  }
}

TEST(Failure, OfASelectionHasItsNumbers) {
  ModelBuilder b;
  const uint32_t texts = b.Space("texts"), tokens = b.Space("tokens", texts),
                 chosen = b.SelectedSpace("chosen", tokens, 2);
  const uint32_t mask = b.Input("mask", tokens, 1, DType::kI32);
  b.SetOutput(b.Op("select", {mask}, {}, chosen, 1));
  const TestModel model(b.Blob());
  const std::vector<fovea_limit> limits = {{texts, 3, 0}, {tokens, 9, 0}};
  fovea_session_options options = {};
  options.struct_size = sizeof(options);
  options.limits = limits.data();
  options.limit_count = 2;
  TestSession session(model, options);
  session.SetSegments(tokens, {2, 5, 2});
  session.SetInput(mask, std::vector<int32_t>{1, 1, 1, 0, 1, 1, 1, 0, 0});
  fovea_error error = {};
  ASSERT_EQ(fovea_session_run(session.session, &error), FOVEA_E_ROWS);
  EXPECT_EQ(error.step, 0u);
  EXPECT_STREQ(error.text, "more rows qualify than the selected space takes of a segment");
  EXPECT_EQ(error.expected, 2u);
  EXPECT_EQ(error.found, 4u);
  EXPECT_EQ(error.index, 1u);
}

}  // namespace
}  // namespace fovea::test
