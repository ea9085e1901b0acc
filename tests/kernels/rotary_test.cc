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

}  // namespace
}  // namespace fovea
