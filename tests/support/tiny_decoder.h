// A small recurrent decoder with attention: program 0 encodes texts, program 1 makes one step for each of them.
#ifndef FOVEA_TESTS_SUPPORT_TINY_DECODER_H_
#define FOVEA_TESTS_SUPPORT_TINY_DECODER_H_

#include <cmath>

#include "tests/support/model_builder.h"

namespace fovea::test {

struct TinyDecoder {
  static constexpr uint32_t kWidth = 12, kWords = 9;

  explicit TinyDecoder(uint32_t seed = 1) : b(seed) {
    texts = b.Space("texts");
    tokens = b.Space("tokens", texts);
    ids = b.Input("input_ids", tokens, 1, DType::kI32);
    table = b.RandomTensor(kWords, kWidth, DType::kF32, 1.0f);
    key_weight = b.RandomTensor(kWidth, kWidth, DType::kF32, 0.6f);
    rows = b.Op(OpCode::kEmbed, {ids}, {table}, tokens, kWidth, {}, "rows", ValueRole::kOutput);
    keys = b.Op(OpCode::kLinear, {rows}, {key_weight}, tokens, kWidth, {}, "keys", ValueRole::kOutput);
    summary = b.Op(OpCode::kPool, {rows}, {}, texts, kWidth, {{Attribute::kKind, 2}}, "summary", ValueRole::kOutput);
    b.NextProgram("decode");
    token = b.Input("token", texts, 1, DType::kI32);
    state = b.Input("state", texts, kWidth);
    in_rows = b.Input("rows", tokens, kWidth);
    in_keys = b.Input("keys", tokens, kWidth);
    state_weight = b.RandomTensor(kWidth, 3 * kWidth, DType::kF32, 0.5f);
    state_bias = b.RandomTensor(1, kWidth);
    head = b.RandomTensor(kWords, kWidth, DType::kF32, 1.0f);
    const uint32_t e = b.Op(OpCode::kEmbed, {token}, {table}, texts, kWidth);
    attention_step = 1;
    context =
        b.Op(OpCode::kAttention, {state, in_keys, in_rows}, {}, texts, kWidth, {{Attribute::kHeads, 1}}, "attention");
    const uint32_t all = b.Op(OpCode::kConcat, {e, state, context}, {}, texts, 3 * kWidth);
    next_state = b.Op(OpCode::kLinear, {all}, {state_weight, state_bias}, texts, kWidth,
                      {{Attribute::kActivation, static_cast<uint32_t>(Activation::kTanh)}}, "next_state");
    b.Carry(state, next_state);
    logits = b.Op(OpCode::kLinear, {next_state}, {head}, texts, kWords, {}, "logits", ValueRole::kOutput);
  }

  // One step of one text by its formulas.
  struct Step {
    std::vector<double> state, logits, weights;
  };
  Step Reference(const std::vector<int32_t>& text, int32_t word, const std::vector<double>& before) const {
    const auto rows_of = [&](int32_t id) {
      const std::vector<float> all = b.TensorValues(table);
      return std::vector<double>(all.begin() + id * int32_t{kWidth}, all.begin() + (id + 1) * int32_t{kWidth});
    };
    Step step;
    double sum = 0;
    for (const int32_t id : text) {
      const std::vector<double> key = Multiply(key_weight, rows_of(id));
      double score = 0;
      for (uint32_t i = 0; i < kWidth; ++i) score += key[i] * before[i];
      step.weights.push_back(std::exp(score / std::sqrt(double{kWidth})));
      sum += step.weights.back();
    }
    std::vector<double> mixed(kWidth, 0.0), all = rows_of(word);
    for (size_t k = 0; k < text.size(); ++k) {
      step.weights[k] /= sum;
      for (uint32_t i = 0; i < kWidth; ++i) mixed[i] += step.weights[k] * rows_of(text[k])[i];
    }
    all.insert(all.end(), before.begin(), before.end());
    all.insert(all.end(), mixed.begin(), mixed.end());
    step.state = Multiply(state_weight, all);
    const std::vector<float> bias = b.TensorValues(state_bias);
    for (uint32_t i = 0; i < kWidth; ++i) step.state[i] = std::tanh(step.state[i] + double{bias[i]});
    step.logits = Multiply(head, step.state);
    return step;
  }
  std::vector<double> Multiply(uint32_t tensor, const std::vector<double>& x) const {
    const std::vector<float> weights = b.TensorValues(tensor);
    std::vector<double> y(weights.size() / x.size(), 0.0);
    for (size_t i = 0; i < weights.size(); ++i) y[i / x.size()] += double{weights[i]} * x[i % x.size()];
    return y;
  }

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
