// Softmax against a plain double loop over the differences x - max as rounded to f32.
#include "runtime/kernels/softmax.h"

#include <math.h>

#include "tests/kernels/kernel_test_util.h"

namespace fovea {
namespace {

constexpr double kRelativeTolerance = 1e-6;

std::vector<double> PlainSoftmax(const std::vector<float>& x, size_t rows, size_t width) {
  std::vector<double> y(x.size());
  for (size_t r = 0; r < rows; ++r) {
    double max = -INFINITY, sum = 0;
    for (size_t i = 0; i < width; ++i) max = fmax(max, x[r * width + i]);
    for (size_t i = 0; i < width; ++i) sum += y[r * width + i] = exp(x[r * width + i] - static_cast<float>(max));
    for (size_t i = 0; i < width; ++i) y[r * width + i] /= sum;
  }
  return y;
}

TEST(Softmax, MatchesPlainLoop) {
  ForEachTarget([] {
    const SoftmaxKernels k = GetSoftmaxKernels();
    for (size_t width : kOddWidths) {
      for (float scale : {0.1f, 3.0f, 15.0f}) {
        std::vector<float> x = RandomFloats(3 * width, scale);
        for (float& v : x) v -= 50.0f;  // all negative: the zeros of a partial load must not count
        const std::vector<double> want = PlainSoftmax(x, 3, width);
        Guarded<float> y(x.size()), in_place(x);
        k.softmax(x.data(), 3, width, y.data());
        k.softmax(in_place.data(), 3, width, in_place.data());
        EXPECT_TRUE(y.Intact() && in_place.Intact());
        EXPECT_EQ(y.values(), in_place.values());
        for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(y[i], want[i], kRelativeTolerance * want[i] + 1e-37) << width;
        std::vector<float> alone(width);
        k.softmax(&x[width], 1, width, alone.data());
        for (size_t i = 0; i < width; ++i) ASSERT_EQ(alone[i], y[width + i]);
      }
    }
  });
}

TEST(Softmax, LogMatchesPlainLoop) {
  ForEachTarget([] {
    const SoftmaxKernels k = GetSoftmaxKernels();
    for (size_t width : kOddWidths) {
      for (float scale : {0.1f, 3.0f, 100.0f}) {
        std::vector<float> x = RandomFloats(3 * width, scale);
        for (float& v : x) v -= 50.0f;
        Guarded<float> y(x.size()), in_place(x);
        k.log_softmax(x.data(), 3, width, y.data());
        k.log_softmax(in_place.data(), 3, width, in_place.data());
        EXPECT_TRUE(y.Intact() && in_place.Intact());
        EXPECT_EQ(y.values(), in_place.values());
        for (size_t r = 0; r < 3; ++r) {
          double max = -INFINITY, sum = 0;
          for (size_t i = 0; i < width; ++i) max = fmax(max, x[r * width + i]);
          for (size_t i = 0; i < width; ++i) sum += exp(x[r * width + i] - max);
          for (size_t i = 0; i < width; ++i) {
            const double want = x[r * width + i] - max - log(sum);
            ASSERT_NEAR(y[r * width + i], want, 1e-6 * (1 + fabs(want))) << width;
          }
        }
      }
      std::vector<float> x(3 * width, -INFINITY), y(x.size());
      x[width] = 1e30f;
      x[2 * width + width / 2] = NAN;
      k.log_softmax(x.data(), 3, width, y.data());
      for (size_t i = 0; i < width; ++i) {
        ASSERT_EQ(y[i], -INFINITY);
        ASSERT_EQ(y[width + i], i == 0 ? 0.0f : -INFINITY);
        ASSERT_TRUE(isnan(y[2 * width + i]));
      }
    }
  });
}

TEST(Softmax, InfinitiesAndNan) {
  ForEachTarget([] {
    const SoftmaxKernels k = GetSoftmaxKernels();
    for (size_t width : kOddWidths) {
      std::vector<float> x = RandomFloats(4 * width);
      for (size_t i = 0; i < width; ++i) x[i] = -INFINITY;
      for (size_t i = 1; i < width; ++i) x[width + i] = -INFINITY;
      x[2 * width + width / 2] = NAN;
      std::vector<float> y(x.size());
      k.softmax(x.data(), 4, width, y.data());
      double sum = 0;
      for (size_t i = 0; i < width; ++i) {
        ASSERT_EQ(y[i], 0.0f);
        ASSERT_EQ(y[width + i], i == 0 ? 1.0f : 0.0f);
        ASSERT_TRUE(isnan(y[2 * width + i]));
        sum += y[3 * width + i];
      }
      ASSERT_NEAR(sum, 1.0, 1e-6);
    }
  });
}

}  // namespace
}  // namespace fovea
