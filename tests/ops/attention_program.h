// A program of one attention operation that a test changes in one thing, and whether it is refused.
#ifndef FOVEA_TESTS_OPS_ATTENTION_PROGRAM_H_
#define FOVEA_TESTS_OPS_ATTENTION_PROGRAM_H_

#include <functional>

#include "runtime/blob/attributes.h"
#include "tests/ops/attention_trial.h"

namespace fovea::test {

// A program with all kinds of inputs; its last operation is attention over q, k and v in `tokens` unless changed.
struct Program {
  ModelBuilder b;
  uint32_t texts = b.Space("texts"), tokens = b.Space("tokens", texts), others = b.Space("others", texts);
  uint32_t patches = b.FixedSpace("patches", texts, 6), chosen = b.SelectedSpace("chosen", tokens);
  uint32_t of_others = b.SelectedSpace("of_others", others);
  uint32_t q = b.Input("q", tokens, 12), other = b.Input("other", others, 12), patch = b.Input("patch", patches, 12);
  uint32_t bias = b.Input("bias", tokens, 1), by_head = b.Input("by_head", tokens, 4), wide = b.Input("w", tokens, 3);
  uint32_t far_bias = b.Input("far_bias", others, 1), marks = b.Input("marks", tokens, 1, DType::kI32);
  uint32_t far_marks = b.Input("far_marks", others, 1, DType::kI32);
  uint32_t space = tokens;
  std::vector<uint32_t> inputs = {q, q, q}, tensors = std::vector<uint32_t>(kAttentionTensors, kBlobNone);
  Attributes attributes = {{Attribute::kHeads, 4}};

  Program& Set(Attribute key, double value) {
    attributes.emplace_back(key, value);
    return *this;
  }
  Program& Floats(AttentionTensor i, uint32_t rows, uint32_t width, DType type = DType::kF32) {
    tensors[i] = b.RandomTensor(rows, width, type);
    return *this;
  }
  Program& Integers(AttentionTensor i, uint32_t rows, const std::vector<float>& values) {
    tensors[i] = b.Tensor(rows, static_cast<uint32_t>(values.size()) / rows, values, DType::kI32);
    return *this;
  }
  Program& With(uint32_t input) {
    inputs.push_back(input);
    return *this;
  }
  Program& Cross() {
    inputs = {q, other, other};
    return *this;
  }
  Program& Patches() {
    inputs = {patch, patch, patch};
    space = patches;
    return *this;
  }
  uint32_t Rows() { return b.Op("select", {marks}, {}, chosen, 1); }
  uint32_t FarRows() { return b.Op("select", {far_marks}, {}, of_others, 1); }
  uint32_t Sorted(uint32_t of, uint32_t in, uint32_t rounds, uint32_t heads = 4) {
    const uint32_t hash = b.Op("hash", {of}, {b.RandomTensor(2 * heads * rounds, 12 / heads)}, in, heads * rounds,
                               {{Attribute::kHeads, heads}, {Attribute::kRounds, rounds}, {Attribute::kBuckets, 4}});
    return b.Op("sort", {hash}, {}, in, 2 * heads * rounds);
  }
};

inline void Expect(fovea_status status, const char* what, const std::function<void(Program&)>& change) {
  Program p;
  change(p);
  p.b.Op("attention", p.inputs, p.tensors, p.space, 12, p.attributes);
  ExpectStatus(p.b, status, what);
}
inline void ExpectShape(const char* what, const std::function<void(Program&)>& change) {
  Expect(FOVEA_E_SHAPE, what, change);
}

}  // namespace fovea::test

#endif  // FOVEA_TESTS_OPS_ATTENTION_PROGRAM_H_
