// Weights times values in f16, beside the same products with values in f32, on processors that have the instruction.
#include <cmath>
#include <limits>

#include "tests/attention/attention_problem.h"

namespace fovea {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();

Kernels WithF32Values(const Kernels& kernels) {
  Kernels f32 = kernels;
  f32.attention.half_values = false;
  return f32;
}

Case CaseOf(uint32_t d, uint32_t keys) {
  Case c;
  c.spec = SpecOf(2, 2, d, d, 1.0f / std::sqrt(static_cast<float>(d)));
  c.spec.score.products = Products::kI8;
  c.queries = {FewerCases() ? 13u : 70u};
  c.keys = {keys};
  return c;
}

// The norm of the difference by the norm.
double DistanceOf(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0.0, norm = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
    norm += double{b[i]} * b[i];
  }
  return std::sqrt(difference / norm);
}

// Weights that are nearly equal, and such that few keys have most of the weight.
TEST(Halves, NearF32) {
  for (const uint32_t d : {24u, 32u, 48u, 64u, 80u, 128u}) {
    for (const uint32_t keys : {1u, 7u, 64u, 77u, 128u, 511u, 2048u}) {
      if (FewerCases() && keys > 128 && d != 32) continue;
      for (const float magnitude : {1.0f, 4.0f, 20.0f}) {
        SCOPED_TRACE(testing::Message() << d << " " << keys << " " << magnitude);
        Case c = CaseOf(d, keys);
        c.magnitude = magnitude;
        const Problem problem(c);
        ForEachTarget([&](const Kernels& kernels) {
          const std::vector<float> out = problem.Run(kernels, {problem.rows()});
          const std::vector<float> f32 = problem.Run(WithF32Values(kernels), {problem.rows()});
          EXPECT_LE(DistanceOf(out, f32), 1.2e-3);
          EXPECT_EQ(!SameBits(out, f32), kernels.attention.half_values);
        });
      }
    }
  }
}

// Values of all magnitudes: f16 does not hold some of them well, which stay f32.
TEST(Halves, MagnitudesOfValues) {
  for (const float magnitude : {0.0f, 1e-38f, 1e-8f, 1e-4f, 0.003f, 0.005f, 0.02f, 10.0f, 63.99f, 70.0f, 1e5f, 1e30f}) {
    SCOPED_TRACE(magnitude);
    Case c = CaseOf(24, 130);
    c.value_magnitude = magnitude;
    const Problem problem(c);
    ForEachTarget([&](const Kernels& kernels) {
      const std::vector<float> out = problem.Run(kernels, {problem.rows()});
      const std::vector<float> f32 = problem.Run(WithF32Values(kernels), {problem.rows()});
      if (magnitude == 0.0f) {
        EXPECT_TRUE(SameBits(out, f32));
      } else {
        EXPECT_LE(DistanceOf(out, f32), 1.2e-3);
      }
      EXPECT_TRUE(SameBits(out, problem.Run(kernels, {1, 2, 3, problem.rows() - 6})));
    });
  }
}

// One element of one value is an outlier. Windows begin and end anywhere among the keys that are one sum.
TEST(Halves, OutliersAreF32) {
  constexpr uint32_t kKey = 41;
  for (const float bad : {1e5f, -1e30f, 3e38f, 100.0f, 65504.0f, kNan, kInfinity, -kInfinity}) {
    for (const Pattern& pattern : {Pattern{}, WindowOf(7, 0), WindowOf(40, 33)}) {
      SCOPED_TRACE(testing::Message() << bad << " left " << pattern.left);
      Case c = CaseOf(19, 201);
      c.queries = {201};
      c.spec.pattern = pattern;
      const Problem clean(c);
      c.spoilt_key = kKey;
      c.spoilt_value = true;
      c.spoilt_with = bad;
      const Problem spoilt(c);
      const size_t width = c.spec.d_v, heads = c.spec.heads;
      ForEachTarget([&](const Kernels& kernels) {
        const std::vector<float> expected = clean.Run(kernels, {201}), out = spoilt.Run(kernels, {201});
        const std::vector<float> f32 = spoilt.Run(WithF32Values(kernels), {201});
        for (size_t i = 0; i < out.size(); ++i) {
          const auto row = static_cast<int64_t>(i / width / heads);
          const int64_t distance = row - int64_t{kKey};
          const bool sees = distance <= int64_t{pattern.left} && -distance <= int64_t{pattern.right};
          if (sees) {
            ASSERT_LE(test::Distance(out[i], f32[i]), std::max(0x1p-9, 5e-4 * std::fabs(f32[i]))) << i;
          } else {
            ASSERT_EQ(memcmp(&out[i], &expected[i], sizeof(float)), 0) << i;
          }
        }
        for (const uint32_t step : {1u, 7u, 50u}) {
          if (FewerCases() && step != 7) continue;
          std::vector<uint32_t> tiles;
          for (uint32_t row = 0; row < 201; row += step) tiles.push_back(std::min(step, 201 - row));
          EXPECT_TRUE(SameBits(out, spoilt.Run(kernels, tiles))) << "tiles of " << step;
        }
      });
    }
  }
}

// A row with a very small weight for a value that is not finite: f16 has no such weight.
TEST(Halves, SmallWeightsOfInfinity) {
  Case c = CaseOf(32, 100);
  c.magnitude = 30.0f;
  c.spoilt_key = 50;
  c.spoilt_value = true;
  for (const float bad : {kNan, kInfinity}) {
    c.spoilt_with = bad;
    const Problem spoilt(c);
    ForEachTarget([&](const Kernels& kernels) {
      const std::vector<float> out = spoilt.Run(kernels, {spoilt.rows()});
      const std::vector<float> f32 = spoilt.Run(WithF32Values(kernels), {spoilt.rows()});
      for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(std::isfinite(out[i]), std::isfinite(f32[i])) << i;
    });
  }
}

// Keys that masks hide, and biases.
TEST(Halves, WithTermsOfScores) {
  Case c = CaseOf(32, 130);
  c.queries = {130};
  c.key_bias = true;
  c.spec.score.max_distance = 5;
  c.slopes = c.sinks = true;
  c.spec.score.cap = 2.0f;
  c.tolerance = 2e-5;
  Check(c);
  c.value_magnitude = 0.01f;  // some are outliers
  Check(c);
}

// Weights that may exceed what f16 holds, or that are computed otherwise, meet values in f32.
TEST(Halves, NotForOtherWeightings) {
  std::vector<Case> cases(4, CaseOf(16, 90));
  cases[0].spec.weighting.kind = Activation::kRelu;
  cases[1].spec.pattern = WindowOf(9, 9);
  cases[1].spec.pattern.centers = Centers::kPositions;
  cases[1].spec.weighting.gaussian = true;
  cases[2].spec.pattern.top_k = 6;
  cases[3].key_type = DType::kI8;
  for (const Case& c : cases) {
    SCOPED_TRACE(&c - cases.data());
    const Problem problem(c);
    ForEachTarget([&](const Kernels& kernels) {
      const std::vector<uint32_t> tiles = {problem.rows()};
      EXPECT_TRUE(SameBits(problem.Run(kernels, tiles), problem.Run(WithF32Values(kernels), tiles)));
    });
  }
}

}  // namespace
}  // namespace fovea
