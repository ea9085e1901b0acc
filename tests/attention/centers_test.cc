// Local attention: windows around given centres, with and without a Gaussian, against the reference.
#include <limits>

#include "tests/attention/api_problem.h"

namespace fovea {
namespace {

void CheckAll(const Case& c) {
  Check(c);
  const Problem problem(c);
  Arguments dense(problem, Layout::kDense), gaps(problem, Layout::kGaps);
  const std::vector<float> out = dense.Output();
  const ReferenceAttention expected = RunReferenceAttention(problem.Call(), problem.rows(), problem.stride());
  for (size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], expected.out[i], c.tolerance) << i;
  EXPECT_TRUE(SameBits(out, gaps.Output()));
}

TEST(Centers, WindowsOfManyWidthsAndLengths) {
  for (const Centers centers : {Centers::kPositions, Centers::kFractions}) {
    for (const bool gaussian : {false, true}) {
      for (const uint32_t reach : {1u, 4u, 70u, 1000u}) {
        SCOPED_TRACE(testing::Message() << "reach " << reach << " gaussian " << gaussian);
        Case c;
        c.spec.d_v = kWideValue;
        c.spec.pattern = WindowOf(reach, reach);
        c.spec.pattern.centers = centers;
        c.spec.weighting.gaussian = gaussian;
        for (const std::vector<uint32_t>& keys : {std::vector<uint32_t>{1}, {2, 0, 17}, {65, 0, 31, 1, 300}}) {
          c.keys = keys;
          c.spec.pairing = Pairing::kParent;
          CheckAll(c);
          c.spec.pairing = Pairing::kPaired;
          c.queries.assign(keys.size(), 3);
          c.queries[0] = 40;
          CheckAll(c);
        }
      }
    }
  }
}

TEST(Centers, HeadsTypesScoresAndWeightings) {
  Case c;
  c.spec = SpecOf(6, 2, 8, 24, 0.3f);
  c.spec.pattern = WindowOf(5, 5);
  c.spec.pattern.centers = Centers::kPositions;
  c.spec.weighting.gaussian = true;
  c.queries = {30, 4};
  c.keys = {90, 7};
  for (const DType type : {DType::kF16, DType::kBf16, DType::kI8}) {
    c.key_type = type;
    CheckAll(c);
  }
  c.key_type = DType::kF32;
  c.key_bias = true;
  c.spec.score.max_distance = 9;
  CheckAll(c);
  for (const Activation weighting : {Activation::kRelu, Activation::kSigmoid, Activation::kSilu}) {
    c.spec.weighting.kind = weighting;
    c.tolerance = 3e-5;  // sums of up to 11 weights of magnitude 5
    CheckAll(c);
  }
  c.spec.weighting.kind = Activation::kNone;
  c.spec.score.kind = Score::kAdditive;
  CheckAll(c);
}

TEST(Centers, OutsideOnEdgesAndNoNumbers) {
  const float infinity = std::numeric_limits<float>::infinity();
  Case c;
  c.spec.pattern = WindowOf(2, 2);
  c.spec.weighting.gaussian = true;
  c.spec.pattern.centers = Centers::kPositions;
  c.queries = {16};
  c.keys = {10};
  c.special_centers = {-2.0f,
                       -2.01f,
                       -1.5f,
                       0.0f,
                       2.5f,
                       9.0f,
                       11.0f,
                       11.01f,
                       3e9f,
                       -3e9f,
                       infinity,
                       -infinity,
                       std::numeric_limits<float>::quiet_NaN(),
                       4.0f,
                       1e38f,
                       0.5f};
  CheckAll(c);
  c.spec.weighting.gaussian = false;
  CheckAll(c);
  c.spec.pattern.left = c.spec.pattern.right = 0;  // the key at the centre, where there is one
  CheckAll(c);
  c.spec.pattern.left = 1, c.spec.pattern.right = 4;
  CheckAll(c);
  c.spec.pattern.centers = Centers::kFractions;
  CheckAll(c);
}

// With a weight of 1 on every key the outputs are the Gaussian itself.
TEST(Centers, TheGaussianIsLuongs) {
  Case c;
  c.spec = SpecOf(1, 1, 4, 1, 0.0f);
  c.spec.pattern = WindowOf(3, 3);
  c.spec.weighting.gaussian = true;
  c.spec.pattern.centers = Centers::kPositions;
  c.queries = {1};
  c.keys = {20};
  c.special_centers = {7.25f};
  const Problem problem(c);
  const Kept kept(problem, false);
  problem.Run(GetKernels(), {1}, kept.sink());
  const std::vector<float> weights = kept.Dense();
  for (int j = 0; j < 20; ++j) {
    const double near = j - 7.25;  // keys 5 to 10 are in the window
    const double expected = j >= 5 && j <= 10 ? std::exp(-near * near / (2 * 1.5 * 1.5)) / 6 : 0;
    EXPECT_NEAR(weights[static_cast<size_t>(j)], expected, 1e-7) << j;
  }
}

}  // namespace
}  // namespace fovea
