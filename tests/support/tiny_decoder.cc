#include "tests/support/tiny_decoder.h"

#include <cmath>

#include "runtime/blob/attributes.h"
#include "runtime/blob/numbers.h"

namespace fovea::test {

TinyDecoder::TinyDecoder(uint32_t seed) : b(seed) {
  texts = b.Space("texts");
  tokens = b.Space("tokens", texts);
  ids = b.Input("input_ids", tokens, 1, DType::kI32);
  table = b.RandomTensor(kWords, kWidth, DType::kF32, 1.0f);
  key_weight = b.RandomTensor(kWidth, kWidth, DType::kF32, 0.6f);
  rows = b.Op("embed", {ids}, {table}, tokens, kWidth, {}, "rows", ValueRole::kOutput);
  keys = b.Op("linear", {rows}, {key_weight}, tokens, kWidth, {}, "keys", ValueRole::kOutput);
  summary = b.Op("pool", {rows}, {}, texts, kWidth, {{Attribute::kKind, 2}}, "summary", ValueRole::kOutput);
  b.NextProgram("decode");
  token = b.Input("token", texts, 1, DType::kI32);
  state = b.Input("state", texts, kWidth);
  in_rows = b.Input("rows", tokens, kWidth);
  in_keys = b.Input("keys", tokens, kWidth);
  state_weight = b.RandomTensor(kWidth, 3 * kWidth, DType::kF32, 0.5f);
  state_bias = b.RandomTensor(1, kWidth);
  head = b.RandomTensor(kWords, kWidth, DType::kF32, 1.0f);
  const uint32_t e = b.Op("embed", {token}, {table}, texts, kWidth);
  attention_step = 1;
  context = b.Op("attention", {state, in_keys, in_rows}, {}, texts, kWidth, {{Attribute::kHeads, 1}}, "attention");
  const uint32_t all = b.Op("concat", {e, state, context}, {}, texts, 3 * kWidth);
  next_state = b.Op("linear", {all}, {state_weight, state_bias}, texts, kWidth,
                    {{Attribute::kActivation, static_cast<uint32_t>(Activation::kTanh)}}, "next_state");
  b.Carry(state, next_state);
  logits = b.Op("linear", {next_state}, {head}, texts, kWords, {}, "logits", ValueRole::kOutput);
}

TinyDecoder::Step TinyDecoder::Reference(const std::vector<int32_t>& text, int32_t word,
                                         const std::vector<double>& before) const {
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

std::vector<double> TinyDecoder::Multiply(uint32_t tensor, const std::vector<double>& x) const {
  const std::vector<float> weights = b.TensorValues(tensor);
  std::vector<double> y(weights.size() / x.size(), 0.0);
  for (size_t i = 0; i < weights.size(); ++i) y[i / x.size()] += double{weights[i]} * x[i % x.size()];
  return y;
}

}  // namespace fovea::test
