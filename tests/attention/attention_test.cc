// The attention engine on every SIMD target against the dense-mask reference, and the same bits in every tiling.
#include "tests/attention/attention_problem.h"

namespace fovea {
namespace {

TEST(Attention, FullAtManyLengths) {
  for (uint32_t n : {1u, 2u, 3u, 5u, 8u, 15u, 16u, 17u, 31u, 33u, 63u, 64u, 65u, 127u, 128u, 129u, 200u, 257u, 300u}) {
    SCOPED_TRACE(n);
    Case c;
    c.queries = {n};
    Check(c);
  }
}

TEST(Attention, HeadSizes) {
  const auto check = [](uint32_t d_k, uint32_t d_v) {
    SCOPED_TRACE(testing::Message() << d_k << " " << d_v);
    Case c;
    c.spec.d_k = d_k;
    c.spec.d_v = d_v;
    c.spec.score.scale = 1.0f / std::sqrt(static_cast<float>(d_k));
    c.queries = {5, 38};
    Check(c);
  };
  for (uint32_t d_k : {1u, 2u, 3u, 5u, 7u, 16u, 24u, 31u, 32u, 64u, 80u, 128u, 257u}) check(d_k, 28);
  for (uint32_t d_v : {1u, 3u, 8u, 15u, 17u, 31u, 32u, 48u, 64u, 100u, 128u, 259u}) check(24, d_v);
}

TEST(Attention, Windows) {
  for (const Pattern& pattern :
       {WindowOf(kUnbounded, 0), WindowOf(0, 0), WindowOf(0, kUnbounded), WindowOf(1, 0), WindowOf(0, 1),
        WindowOf(3, 2), WindowOf(16, 16), WindowOf(63, 64), WindowOf(128, 128), WindowOf(1000, 5), WindowOf(5, 1000),
        WindowOf(1000, 1000), WindowOf(kUnbounded - 1, kUnbounded - 1), WindowOf(kUnbounded, kUnbounded)}) {
    for (uint32_t n : {1u, 17u, 64u, 150u}) {
      SCOPED_TRACE(testing::Message() << pattern.left << " " << pattern.right << " n " << n);
      Case c;
      c.spec.pattern = pattern;
      c.spec.heads = c.spec.kv_heads = 1;
      c.spec.d_v = kWideValue;
      c.queries = {n};
      Check(c);
    }
  }
}

TEST(Attention, RaggedSegments) {
  for (const Pattern& pattern : {Pattern{}, WindowOf(kUnbounded, 0), WindowOf(4, 2)}) {
    Case c;
    c.spec.pattern = pattern;
    c.spec.d_v = kWideValue;
    c.queries = {0, 3, 0, 0, 140, 1, 17, 0, 66, 2, 0};
    Check(c);
  }
}

TEST(Attention, CrossLengths) {
  for (const Pattern& pattern : {Pattern{}, WindowOf(kUnbounded, 0), WindowOf(4, 2), WindowOf(2, 90)}) {
    Case c;
    c.spec.pattern = pattern;
    c.spec.d_v = kWideValue;
    c.queries = {4, 1, 30, 5, 0, 200};
    c.keys = {9, 70, 0, 129, 3, 2};  // empty keys: zeros; few keys and a window: rows that see none
    Check(c);
  }
}

TEST(Attention, ParentAttendsToItsSegment) {
  Case c;
  c.spec.pairing = Pairing::kParent;
  c.queries = {0};
  c.keys = {1, 0, 5, 64, 131, 0, 16, 7};
  Check(c);
  c.spec.heads = 4;
  c.spec.kv_heads = 1;
  Check(c);
}

// Single rows of a segment that see little, single rows that see all of it, and few heads of them.
TEST(Attention, FewRowsOfASegment) {
  for (const DType type : {DType::kF32, DType::kF16, DType::kBf16, DType::kI8}) {
    for (uint32_t group : {1u, 2u, 3u}) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(type) << " " << group);
      Case c;
      c.key_type = type;
      c.spec.kv_heads = 2;
      c.spec.heads = 2 * group;
      c.spec.d_k = 23;
      c.spec.d_v = 19;
      c.queries = {1, 2, 0, 3, 1, 2, 1};
      c.keys = {300, 1, 5, 270, 0, 17, 64};
      Check(c);
      c.spec.pattern = WindowOf(kUnbounded, 250);
      c.spec.score.cap = 5.0f;
      c.key_bias = true;
      c.spec.score.max_distance = 40;
      c.tolerance = 2e-5;
      Check(c);
      Case edges;  // few rows at the edges, many in the middle
      edges.key_type = c.key_type;
      edges.spec.heads = 2 * group;
      edges.spec.kv_heads = 2;
      edges.spec.pattern = WindowOf(3, 2);
      edges.spec.pattern.global_first = 1;
      edges.spec.pattern.global_last = 2;
      edges.queries = {150, 2, 1};
      Check(edges);
      edges.spec.weighting.kind = Activation::kSigmoid;
      edges.tolerance = 3e-5;  // sums of up to 150 weights of magnitude 1
      edges.spec.pattern.causal = true;
      Check(edges);
    }
  }
}

TEST(Attention, GroupedHeads) {
  for (uint32_t kv_heads : {1u, 3u, 6u}) {
    for (const Pattern& pattern : {Pattern{}, WindowOf(20, 3)}) {
      Case c;
      c.spec.heads = 6;
      c.spec.kv_heads = kv_heads;
      c.spec.d_v = kWideValue;
      c.spec.pattern = pattern;
      c.queries = {3, 70};
      Check(c);
    }
  }
  Case many;  // more heads than a chunk has rows
  many.spec.heads = 300;
  many.spec.kv_heads = 2;
  many.spec.pattern = WindowOf(9, 9);
  many.queries = {40};
  Check(many);
}

TEST(Attention, DistanceBias) {
  for (uint32_t reach : {1u, 40u, 500u}) {
    for (const Pattern& pattern : {Pattern{}, WindowOf(kUnbounded, 0), WindowOf(30, 10)}) {
      SCOPED_TRACE(reach);
      Case c;
      c.spec.score.max_distance = reach;
      c.spec.d_v = kWideValue;
      c.spec.pattern = pattern;
      c.queries = {100, 20};
      Check(c);
    }
  }
}

// Scores up to about 1e4: their rounding error (2^-24 relative) dominates the error of the weights.
TEST(Attention, LargeScores) {
  for (const Pattern& pattern : {Pattern{}, WindowOf(kUnbounded, 0), WindowOf(30, 10)}) {
    Case c;
    c.spec.d_k = 32;
    c.spec.d_v = kWideValue;
    c.spec.score.scale = 1.0f;
    c.spec.pattern = pattern;
    c.queries = {200};
    c.magnitude = 30.0f;
    c.tolerance = 4e-3;
    Check(c);
  }
}

TEST(Attention, TileBoundariesAtEveryOffset) {
  for (const Pattern& pattern : {Pattern{}, WindowOf(kUnbounded, 0), WindowOf(5, 3)}) {
    Case c;
    c.spec.pattern = pattern;
    c.spec.heads = c.spec.kv_heads = 1;
    c.spec.d_k = 9;
    c.queries = {11, 0, 23, 1};
    const Problem problem(c);
    ForEachTarget([&](const Kernels& kernels) {
      const std::vector<float> whole = problem.Run(kernels, {problem.rows()});
      for (uint32_t first = 1; first < problem.rows(); ++first) {
        for (uint32_t second = 1; first + second < problem.rows(); ++second) {
          EXPECT_TRUE(SameBits(whole, problem.Run(kernels, {first, second, problem.rows() - first - second})));
        }
      }
    });
  }
}

TEST(Attention, LongSequence) {
  Case c;
  c.queries = {700};
  c.spec.heads = c.spec.kv_heads = 1;
  c.spec.d_k = c.spec.d_v = 32;
  for (const Pattern& pattern : {Pattern{}, WindowOf(128, 128), WindowOf(kUnbounded, 0)}) {
    c.spec.pattern = pattern;
    Check(c);
  }
}

TEST(Attention, ScratchDoesNotDependOnLengthAndIsBounded) {
  const AttentionSpec spec = SpecOf(12, 12, 64, 64, 0.125f);
  EXPECT_EQ(AttentionScratchBytes(spec), AttentionScratchBytes(spec, 4096));
  EXPECT_LT(AttentionScratchBytes(spec, 1), AttentionScratchBytes(spec, 32));
  EXPECT_LT(AttentionScratchBytes(spec), 192u << 10);
}

}  // namespace
}  // namespace fovea
