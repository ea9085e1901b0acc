// A generator over a small decoder, in memory of exactly its size.
#ifndef FOVEA_TESTS_GENERATE_TINY_GENERATOR_H_
#define FOVEA_TESTS_GENERATE_TINY_GENERATOR_H_

#include <functional>

#include "fovea/generate.h"
#include "tests/support/tiny_decoder.h"

namespace fovea::test {

using Batch = std::vector<std::vector<int32_t>>;
inline const Batch kTexts = {{1, 5, 2, 8, 8}, {3}, {}, {0, 7, 4, 4, 1, 2, 6}, {6, 6}};

using Metadata = std::vector<std::pair<std::string, std::string>>;
inline Metadata GoodMetadata() {
  return {{"generate.token", "token"},        {"generate.scores", "logits"}, {"generate.link.rows", "rows"},
          {"generate.link.keys", "keys"},     {"generate.start", "1"},       {"generate.stop_ids", "1 6"},
          {"generate.link.state", "summary"}, {"generate.max_tokens", "12"}};
}
inline bool IsStop(int32_t token) { return token == 1 || token == 6; }
inline const TinyDecoder& Decoder() {
  static const TinyDecoder decoder(5);
  return decoder;
}
inline AlignedBytes BlobWith(const Metadata& metadata) {
  tools::BlobContent content = TinyDecoder(5).b.content();
  content.metadata = metadata;
  return AlignedBytes(tools::WriteBlob(content));
}
inline const TestModel& Model() {
  static const TestModel model(BlobWith(GoodMetadata()));
  return model;
}

struct TestGenerator {
  explicit TestGenerator(const TinyPair& pair, const std::function<void(fovea_generate_options*)>& change = {}) {
    options.struct_size = sizeof(options);
    options.encode = pair.encode.session;
    options.decode = pair.decode.session;
    if (change) change(&options);
    fovea_error error = {};
    uint64_t needed = 0;
    EXPECT_EQ(fovea_generate_size(&options, &needed, &error), FOVEA_OK) << error.text;
    memory = AlignedBytes(needed);
    EXPECT_EQ(fovea_generate_init(&options, memory.data(), needed, &generator, &error), FOVEA_OK) << error.text;
  }
  void Start() {
    fovea_error error = {};
    ASSERT_EQ(fovea_generate_start(generator, &error), FOVEA_OK) << error.text;
  }
  fovea_generated Next(const std::vector<int32_t>& forced = {}) {
    fovea_generated generated = {};
    generated.struct_size = sizeof(generated);
    fovea_error error = {};
    EXPECT_EQ(fovea_generate_next(generator, forced.empty() ? nullptr : forced.data(), &generated, &error), FOVEA_OK)
        << error.text;
    return generated;
  }
  // Tokens of each text until all have ended.
  Batch All() {
    Start();
    Batch texts;
    for (uint32_t left = 1; left > 0;) {
      const fovea_generated step = Next();
      texts.resize(step.texts);
      for (uint32_t i = 0; i < step.texts; ++i) {
        if (step.tokens[i] >= 0) texts[i].push_back(step.tokens[i]);
      }
      left = step.left;
    }
    return texts;
  }
  fovea_generate_options options = {};
  AlignedBytes memory;
  fovea_generator* generator = nullptr;
};

}  // namespace fovea::test

#endif  // FOVEA_TESTS_GENERATE_TINY_GENERATOR_H_
