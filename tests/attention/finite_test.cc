// A key or value that is not finite changes only the queries that see it, for every tile size.
#include <limits>

#include "tests/attention/attention_problem.h"

namespace fovea {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
constexpr int32_t kNames[] = {0, 3, -1, 5, 4, 1};

std::vector<Pattern> Patterns() {
  std::vector<Pattern> patterns = SomePatterns();
  Pattern named = WindowOf(3, 3), once = ChunksOf(1, 16, 1);
  named.block = 16;
  named.layout = kNames;
  named.layout_heads = 1;
  named.layout_rows = 3;
  named.layout_columns = 2;
  patterns.push_back(named);
  patterns.push_back(once);
  once.causal = true;
  patterns.push_back(once);
  return patterns;
}

void CheckHidden(Case c) {
  const Problem clean(c);
  const AttentionSpec& spec = clean.problem().spec;
  AttentionCall call = clean.Call();
  AttentionSpec all = spec;  // which keys may be chosen, rather than which are
  all.pattern.top_k = 0;
  call.spec = &all;
  const std::vector<double> weights = RunReferenceAttention(call, clean.rows(), clean.stride()).weights;
  constexpr uint32_t kKey = 41;
  for (const bool of_value : {false, true}) {
    for (const float bad : {kNan, kInfinity, -kInfinity}) {
      SCOPED_TRACE(testing::Message() << bad << (of_value ? " value" : " key"));
      c.spoilt_key = kKey;
      c.spoilt_value = of_value;
      c.spoilt_with = bad;
      const Problem spoilt(c);
      ForEachTarget([&](const Kernels& kernels) {
        const std::vector<float> expected = clean.Run(kernels, {clean.rows()});
        const Kept kept(spoilt, true);
        const std::vector<float> out = spoilt.Run(kernels, {spoilt.rows()});
        const size_t width = spec.d_v;
        size_t touched = 0;
        for (size_t row = 0; row < size_t{clean.rows()} * spec.heads; ++row) {
          const bool same = memcmp(&out[row * width], &expected[row * width], width * sizeof(float)) == 0;
          touched += same ? 0 : 1;
          if (weights[row * clean.stride() + kKey] == 0.0) {
            ASSERT_TRUE(same) << "row " << row / spec.heads;
          }
        }
        EXPECT_GT(touched, 0u);
        EXPECT_TRUE(SameBits(out, spoilt.Run(kernels, {spoilt.rows()}, kept.sink()))) << "weights changed the output";
        for (const uint32_t step : {1u, 7u, 50u}) {
          if (FewerCases() && step != 7) continue;
          std::vector<uint32_t> tiles;
          for (uint32_t row = 0; row < spoilt.rows(); row += step) tiles.push_back(std::min(step, spoilt.rows() - row));
          EXPECT_TRUE(SameBits(out, spoilt.Run(kernels, tiles))) << "tiles of " << step;
        }
      });
    }
  }
}

TEST(Finite, OtherRowsAreNotTouched) {
  for (const Pattern& pattern : Patterns()) {
    for (const DType type : {DType::kF32, DType::kF16, DType::kBf16}) {
      SCOPED_TRACE(testing::Message() << pattern.left << " " << pattern.rounds << " " << static_cast<int>(type));
      Case c;
      c.spec.pattern = pattern;
      c.spec.kv_heads = 1;
      c.spec.d_k = 9;
      c.spec.d_v = 19;
      c.key_type = type;
      c.queries = {100};
      CheckHidden(c);
    }
  }
}

TEST(Finite, InOtherProductsAndWeightings) {
  for (const Products products : {Products::kBf16, Products::kI8, Products::kI16}) {
    Case c;
    c.spec.pattern = WindowOf(7, 0);
    c.spec.score.products = products;
    c.spec.d_v = 19;
    c.queries = {100};
    CheckHidden(c);
  }
  Case c;
  c.spec.pattern = WindowOf(7, 0);
  c.spec.weighting.kind = Activation::kSigmoid;
  c.spec.d_v = 19;
  c.queries = {100};
  CheckHidden(c);
}

// A key whose bias is -infinity has no weight, and its value may be anything.
TEST(Finite, BiasHidesAKey) {
  Case c;
  c.queries = {100};
  c.key_bias = true;
  const Problem clean(c);
  std::vector<float> bias(100, 0.0f);
  bias[41] = -kInfinity;
  c.spoilt_key = 41;
  c.spoilt_value = true;
  c.spoilt_with = kNan;
  const Problem spoilt(c);
  ForEachTarget([&](const Kernels& kernels) {
    const auto run = [&](const Problem& problem) {
      AttentionCall with = problem.Call();
      with.key_bias = {bias.data(), sizeof(float), 0, 0};
      with.row_end = problem.rows();
      std::vector<float> out(size_t{problem.rows()} * 2 * 8);
      with.out = DenseHeads<void>(out.data(), 2, 8);
      std::vector<char> memory(AttentionScratchBytes(*with.spec) + 64);
      with.scratch = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
      RunAttention(kernels, with);
      return out;
    };
    EXPECT_TRUE(SameBits(run(clean), run(spoilt)));
  });
}

}  // namespace
}  // namespace fovea
