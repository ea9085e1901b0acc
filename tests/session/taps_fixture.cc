#include "tests/session/taps_fixture.h"

#include "runtime/blob/attributes.h"

namespace fovea::test {

TapProgram::TapProgram(Queries from, const Attributes& more, bool listed, uint32_t rounds,
                       const std::vector<std::pair<uint32_t, std::vector<float>>>& integers) {
  texts = b.Space("texts");
  tokens = b.Space("tokens", texts);
  queries = from == Queries::kKeys ? tokens : from == Queries::kTexts ? texts : b.Space("others", texts);
  const uint32_t chosen = listed ? b.SelectedSpace("chosen", tokens, 5) : 0;
  const uint32_t kv_heads = rounds > 0 ? kHeads : 2;
  q = b.Input("q", queries, kHeads * kDepth);
  k = b.Input("k", tokens, kv_heads * kDepth);
  v = b.Input("v", tokens, kv_heads * kWidth);
  if (listed) mask = b.Input("mask", tokens, 1, DType::kI32);
  std::vector<uint32_t> inputs = {q, k, v};
  Attributes attributes = {{Attribute::kHeads, kHeads}, {Attribute::kKvHeads, kv_heads}};
  attributes.insert(attributes.end(), more.begin(), more.end());
  if (listed) {
    rows = b.Op("select", {mask}, {}, chosen, 1);
    inputs.push_back(rows);
    attributes.push_back({Attribute::kGlobalKeys, 1});
  }
  if (rounds > 0) {
    const uint32_t columns = kHeads * rounds;
    const uint32_t hash = b.Op("hash", {k}, {b.RandomTensor(columns * 2, kDepth)}, tokens, columns,
                               {{Attribute::kHeads, kHeads}, {Attribute::kRounds, rounds}, {Attribute::kBuckets, 4}});
    sorted = b.Op("sort", {hash}, {}, tokens, 2 * columns);
    inputs.push_back(sorted);
    attributes.push_back({Attribute::kRounds, rounds});
  }
  // Tensors by place: windows of heads at 2, blocks at 3.
  std::vector<uint32_t> tensors;
  for (const auto& [place, values] : integers) {
    tensors.resize(place, kBlobNone);
    tensors.push_back(b.Tensor(static_cast<uint32_t>(values.size()) / 3, 3, values, DType::kI32));
  }
  step = static_cast<uint32_t>(b.content().programs[0].operations.size());
  y = b.Op("attention", inputs, tensors, queries, kHeads * kWidth, attributes);
  b.SetOutput(y);
}

}  // namespace fovea::test
