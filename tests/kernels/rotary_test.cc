// Rotary embedding against the definition, and its defining property.
#include "runtime/kernels/rotary.h"

#include <math.h>

#include <cmath>

#include "tests/kernels/kernel_test_util.h"

namespace fovea {
namespace {

constexpr double kTolerance = 5e-7;

TEST(Rotary, MatchesTheDefinition) {
  ForEachTarget([] {
    const RotaryKernels k = GetRotaryKernels();
    for (size_t head_size : kOddWidths) {
      for (size_t pairs : {size_t{0}, head_size / 4, head_size / 2}) {
        for (bool interleaved : {false, true}) {
          const size_t heads = 3;
          const std::vector<float> x = RandomFloats(heads * head_size, 1.0f, 1);
          std::vector<float> cos(pairs), sin(pairs);
          for (size_t p = 0; p < pairs; ++p) {
            cos[p] = cosf(0.1f * static_cast<float>(p));
            sin[p] = sinf(0.1f * static_cast<float>(p));
          }
          Guarded<float> y(x.size()), in_place(x);
          k.rotate(x.data(), heads, head_size, 2 * pairs, cos.data(), sin.data(), interleaved, y.data());
          k.rotate(in_place.data(), heads, head_size, 2 * pairs, cos.data(), sin.data(), interleaved, in_place.data());
          EXPECT_TRUE(y.Intact() && in_place.Intact());
          EXPECT_EQ(y.values(), in_place.values());
          for (size_t h = 0; h < heads; ++h) {
            for (size_t p = 0; p < pairs; ++p) {
              const size_t i = h * head_size + (interleaved ? 2 * p : p);
              const size_t j = h * head_size + (interleaved ? 2 * p + 1 : pairs + p);
              ASSERT_NEAR(y[i], double{x[i]} * cos[p] - double{x[j]} * sin[p], kTolerance);
              ASSERT_NEAR(y[j], double{x[j]} * cos[p] + double{x[i]} * sin[p], kTolerance);
            }
            for (size_t i = h * head_size + 2 * pairs; i < (h + 1) * head_size; ++i) ASSERT_EQ(y[i], x[i]);
          }
        }
      }
    }
  });
}

// A dot product of two turned rows depends on the distance of their positions only.
TEST(Rotary, DotProductsDependOnDistance) {
  const RotaryKernels k = GetRotaryKernels();
  const size_t width = 64;
  const std::vector<float> q = RandomFloats(width, 1.0f, 1), key = RandomFloats(width, 1.0f, 2);
  const auto turned = [&](const std::vector<float>& x, double position) {
    std::vector<float> table(width), y(width);
    for (size_t i = 0; i < width / 2; ++i) {
      const double angle = position * std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(width));
      table[i] = static_cast<float>(std::sin(angle));
      table[width / 2 + i] = static_cast<float>(std::cos(angle));
    }
    k.rotate(x.data(), 1, width, width, &table[width / 2], &table[0], false, y.data());
    return y;
  };
  const auto dot = [&](double a, double b) {
    const std::vector<float> x = turned(q, a), y = turned(key, b);
    double sum = 0;
    for (size_t i = 0; i < width; ++i) sum += double{x[i]} * y[i];
    return sum;
  };
  EXPECT_NEAR(dot(7, 3), dot(4004, 4000), 1e-5);
  EXPECT_GT(fabs(dot(7, 3) - dot(9, 3)), 1e-3);
}

// Angles are rounded to f32 first; sines and cosines of these are good to 8e-8 up to 2^20, and numbers beyond.
TEST(Rotary, AnglesOfPositions) {
  ForEachTarget([] {
    const RotaryKernels k = GetRotaryKernels();
    for (const size_t pairs : {size_t{1}, size_t{3}, size_t{16}, size_t{37}}) {
      std::vector<float> frequencies(pairs);
      for (size_t p = 0; p < pairs; ++p) {
        frequencies[p] = static_cast<float>(std::pow(10000.0, -static_cast<double>(p) / static_cast<double>(pairs)));
      }
      for (const float position : {0.0f, 1.0f, 2.0f, 355.0f, 4097.0f, 99991.0f, 1000003.0f, 1048575.0f}) {
        Guarded<float> cos(std::vector<float>(pairs, 0.0f)), sin(std::vector<float>(pairs, 0.0f));
        k.angles(position, frequencies.data(), pairs, 1.0f, cos.data(), sin.data());
        EXPECT_TRUE(cos.Intact() && sin.Intact());
        for (size_t p = 0; p < pairs; ++p) {
          const float angle = position * frequencies[p];
          ASSERT_NEAR(cos[p], std::cos(double{angle}), 8e-8) << angle;
          ASSERT_NEAR(sin[p], std::sin(double{angle}), 8e-8) << angle;
        }
        k.angles(position, frequencies.data(), pairs, 1.25f, cos.data(), sin.data());
        for (size_t p = 0; p < pairs; ++p) {
          ASSERT_NEAR(cos[p], 1.25 * std::cos(double{position * frequencies[p]}), 2e-7);
        }
      }
    }
    const float far[] = {1e7f, 1e20f, 3e38f, -1e9f};
    float cos[4], sin[4];
    k.angles(1.0f, far, 4, 1.0f, cos, sin);
    for (size_t p = 0; p < 4; ++p) EXPECT_TRUE(std::fabs(cos[p]) <= 1.01f && std::fabs(sin[p]) <= 1.01f) << far[p];
  });
}

TEST(Rotary, FrequenciesThatDecay) {
  ForEachTarget([] {
    const RotaryKernels k = GetRotaryKernels();
    for (const size_t pairs : {size_t{1}, size_t{5}, size_t{32}}) {
      const std::vector<float> x = RandomFloats(pairs, 1.0f, 3);
      Guarded<float> y(x);
      k.decay(y.data(), pairs, -0.05f, y.data());
      EXPECT_TRUE(y.Intact());
      for (size_t p = 0; p < pairs; ++p) {
        const double exact = x[p] * std::exp(static_cast<double>(-0.05f) * static_cast<double>(p));
        ASSERT_NEAR(y[p], exact, 4e-7 * std::fabs(exact));
      }
    }
  });
}

}  // namespace
}  // namespace fovea
