// What attention means: an explicit mask over all pairs of query and key, in double. Every pattern is one mask
// function.
#ifndef FOVEA_TESTS_SUPPORT_REFERENCE_ATTENTION_H_
#define FOVEA_TESTS_SUPPORT_REFERENCE_ATTENTION_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/attention/attention.h"

namespace fovea {

// May the query at this position of its segment see the key at that position of its own?
using Mask = std::function<bool(int64_t query, int64_t key)>;

inline Mask MaskOf(const Pattern& pattern) {
  switch (pattern.kind) {
    case PatternKind::kFull:
      return [](int64_t, int64_t) { return true; };
    case PatternKind::kWindow:
      return [pattern](int64_t query, int64_t key) {
        return (pattern.left == kUnbounded || key >= query - int64_t{pattern.left}) &&
               (pattern.right == kUnbounded || key <= query + int64_t{pattern.right});
      };
  }
  return nullptr;
}

struct ReferenceAttention {
  std::vector<double> out;      // [query rows, heads, d_v]
  std::vector<double> weights;  // [query rows, heads, weights_stride]
};

// All query rows of `call` (row_begin is taken as 0 and row_end as the number of query rows).
inline ReferenceAttention RunReferenceAttention(const AttentionCall& call, uint32_t query_rows, uint32_t stride) {
  const AttentionSpec& spec = *call.spec;
  const Mask mask = MaskOf(spec.pattern);
  const uint32_t group = spec.heads / spec.kv_heads;
  ReferenceAttention result;
  result.out.assign(size_t{query_rows} * spec.heads * spec.d_v, 0.0);
  result.weights.assign(size_t{query_rows} * spec.heads * stride, 0.0);
  for (uint32_t row = 0; row < query_rows; ++row) {
    uint32_t segment = row, position = 0;
    if (spec.pairing == Pairing::kPaired) {
      const uint32_t* offsets = call.query_segments.offsets;
      segment = 0;
      while (offsets[segment + 1] <= row) ++segment;
      position = row - offsets[segment];
    }
    const uint32_t first = call.key_segments.offsets[segment], last = call.key_segments.offsets[segment + 1];
    for (uint32_t head = 0; head < spec.heads; ++head) {
      double* weights = &result.weights[(size_t{row} * spec.heads + head) * stride];
      double max = -INFINITY, sum = 0.0;
      for (uint32_t key = 0; key < last - first; ++key) {
        weights[key] = -INFINITY;
        if (!mask(position, key)) continue;
        const float* q = call.q + (size_t{row} * spec.heads + head) * spec.d_k;
        const float* k = call.k + (size_t{first + key} * spec.kv_heads + head / group) * spec.d_k;
        double score = 0.0;
        for (uint32_t i = 0; i < spec.d_k; ++i) score += double{q[i]} * k[i];
        score *= spec.scale;
        if (spec.distance_bias != nullptr) {
          const int64_t reach = spec.distance_reach;
          const int64_t distance = std::max(-reach, std::min(int64_t{key} - position, reach));
          score += spec.distance_bias[head * (2 * reach + 1) + distance + reach];
        }
        weights[key] = score;
        max = std::max(max, score);
      }
      for (uint32_t key = 0; key < last - first; ++key) {
        weights[key] = weights[key] == -INFINITY ? 0.0 : std::exp(weights[key] - max);
        sum += weights[key];
      }
      double* out = &result.out[(size_t{row} * spec.heads + head) * spec.d_v];
      for (uint32_t key = 0; key < last - first; ++key) {
        if (sum > 0.0) weights[key] /= sum;
        const float* v = call.v + (size_t{first + key} * spec.kv_heads + head / group) * spec.d_v;
        for (uint32_t i = 0; i < spec.d_v; ++i) out[i] += weights[key] * v[i];
      }
    }
  }
  return result;
}

}  // namespace fovea

#endif  // FOVEA_TESTS_SUPPORT_REFERENCE_ATTENTION_H_
