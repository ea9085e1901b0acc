// Sessions whose memory shows what is written beyond it.
#ifndef FOVEA_TESTS_SESSION_GUARDED_SESSION_H_
#define FOVEA_TESTS_SESSION_GUARDED_SESSION_H_

#include <gtest/gtest.h>
#include <string.h>

#include "tests/support/model_builder.h"

namespace fovea::test {

// A session in blocks of exactly the bytes it needs, with canaries around them. One byte less is refused.
class GuardedSession {
 public:
  GuardedSession(const TestModel& model, const fovea_session_options& options) {
    fovea_session_memory given = {};
    given.struct_size = sizeof(given);
    fovea_error error = {};
    EXPECT_EQ(fovea_session_size(model.model, &options, &given, &error), FOVEA_OK);
    fixed_ = AlignedBytes(given.fixed_size + 128);
    scratch_ = AlignedBytes(given.scratch_size + 128);
    for (AlignedBytes* bytes : {&fixed_, &scratch_}) memset(bytes->data(), kCanary, bytes->size());
    given.fixed = fixed_.data() + 64;
    given.scratch = scratch_.data() + 64;
    for (uint64_t* size : {&given.fixed_size, &given.scratch_size}) {
      --*size;
      EXPECT_EQ(fovea_session_init(model.model, &options, &given, &session_, &error), FOVEA_E_TOO_SMALL);
      EXPECT_EQ(error.expected, ++*size);
    }
    EXPECT_EQ(fovea_session_init(model.model, &options, &given, &session_, &error), FOVEA_OK);
  }

  fovea_session* get() const { return session_; }
  void ExpectCanaries() const {
    for (const AlignedBytes* bytes : {&fixed_, &scratch_}) {
      for (uint64_t i = 0; i < 64; ++i) {
        ASSERT_EQ(bytes->data()[i], kCanary);
        ASSERT_EQ(bytes->data()[bytes->size() - 1 - i], kCanary);
      }
    }
  }

 private:
  static constexpr uint8_t kCanary = 0xa5;
  AlignedBytes fixed_, scratch_;
  fovea_session* session_ = nullptr;
};

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SESSION_GUARDED_SESSION_H_
