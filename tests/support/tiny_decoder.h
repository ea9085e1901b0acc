// A small recurrent decoder with attention: program 0 encodes texts, program 1 makes one step for each of them.
#ifndef FOVEA_TESTS_SUPPORT_TINY_DECODER_H_
#define FOVEA_TESTS_SUPPORT_TINY_DECODER_H_

#include "tests/support/model_builder.h"

namespace fovea::test {

struct TinyDecoder {
  static constexpr uint32_t kWidth = 12, kWords = 9;

  explicit TinyDecoder(uint32_t seed = 1);

  // One step of one text by its formulas.
  struct Step {
    std::vector<double> state, logits, weights;
  };
  Step Reference(const std::vector<int32_t>& text, int32_t word, const std::vector<double>& before) const;
  std::vector<double> Multiply(uint32_t tensor, const std::vector<double>& x) const;

  ModelBuilder b;
  uint32_t texts, tokens;
  uint32_t ids, rows, keys, summary;                                                     // program 0
  uint32_t token, state, in_rows, in_keys, context, next_state, logits, attention_step;  // program 1
  uint32_t table, key_weight, state_weight, state_bias, head;                            // tensors
};

// Sessions of both programs; the decoder reads the encoder's rows and keys in place.
struct TinyPair {
  TinyPair(const TestModel& model, const TinyDecoder& d, uint32_t texts, uint32_t rows, uint32_t workers = 1,
           uint32_t tile_rows = 0, fovea_runner runner = nullptr, std::vector<fovea_tap> taps = {})
      : limits{{d.texts, texts, 0}, {d.tokens, rows, 0}},
        linked{d.in_rows, d.in_keys},
        encode(model, OptionsOf(0, workers, tile_rows, runner)),
        decode(model, WithTaps(OptionsOf(1, workers, tile_rows, runner), taps)) {}

  fovea_session_options OptionsOf(uint32_t program, uint32_t workers, uint32_t tile_rows, fovea_runner runner) const {
    fovea_session_options options = Options(limits, workers, tile_rows);
    options.program = program;
    options.runner = runner;
    options.linked = linked.data();
    options.linked_count = program == 1 ? 2 : 0;
    return options;
  }
  static fovea_session_options WithTaps(fovea_session_options options, const std::vector<fovea_tap>& taps) {
    options.taps = taps.data();
    options.tap_count = static_cast<uint32_t>(taps.size());
    return options;
  }
  void Encode(const TinyDecoder& d, const std::vector<std::vector<int32_t>>& batch) {
    std::vector<uint32_t> lengths;
    std::vector<int32_t> all;
    for (const std::vector<int32_t>& text : batch) {
      lengths.push_back(static_cast<uint32_t>(text.size()));
      all.insert(all.end(), text.begin(), text.end());
    }
    encode.SetSegments(d.tokens, lengths);
    encode.SetInput(d.ids, all);
    encode.Run();
  }
  void Link(const TinyDecoder& d) {
    fovea_error error = {};
    EXPECT_EQ(fovea_session_link(decode.session, d.in_rows, encode.session, d.rows, &error), FOVEA_OK) << error.text;
    EXPECT_EQ(fovea_session_link(decode.session, d.in_keys, encode.session, d.keys, &error), FOVEA_OK) << error.text;
    EXPECT_EQ(fovea_session_link(decode.session, d.state, encode.session, d.summary, &error), FOVEA_OK) << error.text;
  }
  std::vector<float> Step(const TinyDecoder& d, const std::vector<int32_t>& words) {
    decode.SetInput(d.token, words);
    decode.Run();
    return decode.Output(d.logits);
  }

  std::vector<fovea_limit> limits;
  std::vector<uint32_t> linked;
  TestSession encode, decode;
};

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SUPPORT_TINY_DECODER_H_
