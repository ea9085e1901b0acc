// Which rows and heads a sink keeps, and heads reduced to one: dense and sparse, in every tiling.
#include "tests/attention/attention_problem.h"
#include "tests/support/fewer_cases.h"

namespace fovea {
namespace {

// The reference's weights as the sink would have them: [rows, slots, stride].
std::vector<double> Expected(const Problem& problem, const Kept& kept) {
  const WeightSink& sink = *kept.sink();
  const AttentionSpec& spec = problem.problem().spec;
  const ReferenceAttention all = RunReferenceAttention(problem.Call(), problem.rows(), problem.stride());
  std::vector<double> expected;
  for (const uint32_t row : kept.rows()) {
    std::vector<double> reduced;
    for (uint32_t head = 0; head < spec.heads; ++head) {
      if (sink.head_mask != 0 && ((sink.head_mask >> head) & 1) == 0) continue;
      const double* line = &all.weights[(size_t{row} * spec.heads + head) * problem.stride()];
      if (sink.reduce == Reduce::kNone || reduced.empty()) {
        if (sink.reduce == Reduce::kNone) expected.insert(expected.end(), line, line + problem.stride());
        reduced.assign(line, line + problem.stride());
        continue;
      }
      for (uint32_t k = 0; k < problem.stride(); ++k) {
        reduced[k] = sink.reduce == Reduce::kMax ? std::max(reduced[k], line[k]) : reduced[k] + line[k];
      }
    }
    if (sink.reduce == Reduce::kNone) continue;
    for (double& x : reduced) x /= sink.reduce == Reduce::kMean ? sink.heads : 1;
    expected.insert(expected.end(), reduced.begin(), reduced.end());
  }
  return expected;
}

void CheckTaps(const Case& c) {
  const Problem problem(c);
  std::vector<uint32_t> every_third, none, last;
  for (uint32_t row = 1; row < problem.rows(); row += 3) every_third.push_back(row);
  if (problem.rows() > 0) last.push_back(problem.rows() - 1);
  std::vector<uint32_t> tiles;
  for (uint32_t row = 0; row < problem.rows(); row += 7) tiles.push_back(std::min(7u, problem.rows() - row));
  const std::vector<uint32_t>* const choices[] = {nullptr, &every_third, &none, &last};
  const Kernels kernels = GetKernels();
  const std::vector<float> out = problem.Run(kernels, {problem.rows()});
  const uint32_t heads = problem.problem().spec.heads;
  uint32_t number = 0;  // index of the combination of kind, reduction, heads and rows
  for (const bool sparse : {false, true}) {
    for (const Reduce reduce : {Reduce::kNone, Reduce::kMean, Reduce::kMax}) {
      for (const uint64_t mask : {uint64_t{0}, uint64_t{1}, uint64_t{1} << (heads - 1), (uint64_t{1} << heads) - 2}) {
        for (const std::vector<uint32_t>* rows : choices) {
          if (FewerCases() && ++number % 3 != 0) continue;  // still every two of them together
          SCOPED_TRACE(testing::Message()
                       << (sparse ? "sparse" : "dense") << " reduce " << static_cast<int>(reduce) << " mask " << mask);
          const Kept whole(problem, sparse, reduce, mask, rows, 3), tiled(problem, sparse, reduce, mask, rows, 32);
          EXPECT_TRUE(SameBits(out, problem.Run(kernels, {problem.rows()}, whole.sink())));
          EXPECT_TRUE(SameBits(out, problem.Run(kernels, tiles, tiled.sink())));
          const std::vector<float> found = whole.Dense();
          EXPECT_TRUE(SameBits(found, tiled.Dense())) << "tiles";
          const std::vector<double> expected = Expected(problem, whole);
          ASSERT_EQ(found.size(), expected.size());
          double worst = 0.0;
          for (size_t i = 0; i < found.size(); ++i) {
            if (found[i] == kCanary) continue;
            worst = std::max(worst, test::Distance(found[i], expected[i]));
            if (expected[i] == 0.0) {
              EXPECT_EQ(found[i], 0.0f);
            }
          }
          EXPECT_LE(worst, c.tolerance);
        }
      }
    }
  }
}

Case FourHeads(uint32_t kv_heads) {
  Case c;
  c.spec = SpecOf(4, kv_heads, 8, 8, 0.3f);
  c.queries = {0, 65, 3, 0, 1, 20};
  return c;
}

TEST(Tap, RowsHeadsAndReductions) {
  for (const uint32_t kv_heads : {1u, 2u, 4u}) {
    Case c = FourHeads(kv_heads);
    CheckTaps(c);
    c.spec.pattern = WindowOf(4, 3);
    CheckTaps(c);
    c.spec.pattern.dilation = 3;
    c.spec.pattern.global_first = 2;
    CheckTaps(c);
  }
  Case parent = FourHeads(2);
  parent.spec.pairing = Pairing::kParent;
  parent.queries = {1, 1, 1, 1};
  parent.keys = {40, 0, 1, 7};
  CheckTaps(parent);
  Case cross = FourHeads(2);
  cross.queries = {40, 0, 6};
  cross.keys = {7, 3, 0};
  cross.spec.pattern = WindowOf(2, 2);
  cross.spec.pattern.global_last = 1;
  CheckTaps(cross);
}

// Heads that see different keys, and keys that are listed more than once.
TEST(Tap, ReductionsOverDifferentKeys) {
  const int32_t windows[] = {4, 4, 1, 0, 0, 1, 30, 0, 5, 0, -1, 2};
  Case c = FourHeads(2);
  c.spec.pattern.head_windows = windows;
  CheckTaps(c);
  c.spec.weighting.kind = Activation::kGelu;  // weights below 0
  CheckTaps(c);
  c.spec.weighting.kind = Activation::kRelu;  // and exact zeros
  CheckTaps(c);
  c.spec.pattern = Pattern();
  c.spec.pattern.top_k = 3;
  CheckTaps(c);
  const int32_t table[] = {0, 0, 3, 1, 2, 9, 5, 5, 5, 7, 1, -1, 2, 2, 2, 0, 1, 0};
  c.spec.weighting.kind = Activation::kNone;
  c.spec.pattern = WindowOf(4, 4);
  c.spec.pattern.block = 4;
  c.spec.pattern.layout = table;
  c.spec.pattern.layout_heads = 1;
  c.spec.pattern.layout_rows = 6;
  c.spec.pattern.layout_columns = 3;
  CheckTaps(c);
  for (const uint32_t chunk : {4u, 16u}) {
    Case clustered = FourHeads(4);
    clustered.spec.pattern.rounds = 3;
    clustered.spec.pattern.chunk = chunk;
    clustered.spec.pattern.chunks_before = 1;
    clustered.spec.pattern.chunks_after = 2;
    CheckTaps(clustered);
    clustered.spec.pattern.causal = true;
    CheckTaps(clustered);
  }
}

// The edges of a window have few keys, however long the segment is.
TEST(Tap, MostVisibleKeysInside) {
  Pattern p = WindowOf(3, 4);
  EXPECT_EQ(MostVisibleKeys(p, {1, 1000, 0, true}), 9u);
  p.global_first = 2;
  EXPECT_EQ(MostVisibleKeys(p, {1, 1000, 0, true}), 1000u);
  EXPECT_EQ(MostVisibleKeys(p, {1, 1000, 0, false}), 11u);
  p.full_up_to = 20;
  EXPECT_EQ(MostVisibleKeys(p, {1, 1000, 0, false}), 20u);
  EXPECT_EQ(MostVisibleKeys(p, {1, 15, 0, false}), 15u);
}

}  // namespace
}  // namespace fovea
