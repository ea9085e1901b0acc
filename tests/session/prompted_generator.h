// A generator on a session of CachedDecoder that has been given one prompt of 12 tokens.
#ifndef FOVEA_TESTS_SESSION_PROMPTED_GENERATOR_H_
#define FOVEA_TESTS_SESSION_PROMPTED_GENERATOR_H_

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "fovea/generate.h"
#include "tests/support/cached_decoder.h"

namespace fovea::test {

class PromptedGenerator {
 public:
  PromptedGenerator(fovea_session* session, uint32_t max_tokens) {
    fovea_generate_options options = Sized<fovea_generate_options>();
    options.decode = session;
    options.max_tokens = max_tokens;
    uint64_t needed = 0;
    EXPECT_EQ(fovea_generate_size(&options, &needed, nullptr), FOVEA_OK);
    memory_.emplace(needed);
    EXPECT_EQ(fovea_generate_init(&options, memory_->data(), needed, &generator_, nullptr), FOVEA_OK);
    EXPECT_EQ(fovea_generate_start(generator_, nullptr), FOVEA_OK);
    EXPECT_EQ(fovea_generate_set_prompts(generator_, prompt_.data(), &length_, 1, 0, nullptr), FOVEA_OK);
  }

  fovea_status Next(fovea_generated* step) { return fovea_generate_next(generator_, nullptr, step, nullptr); }

 private:
  // The generator reads them when the first token is made.
  const std::vector<int32_t> prompt_ = RandomIds(12, CachedDecoder::kVocabulary, 9);
  const uint32_t length_ = 12;
  std::optional<AlignedBytes> memory_;
  fovea_generator* generator_ = nullptr;
};

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SESSION_PROMPTED_GENERATOR_H_
