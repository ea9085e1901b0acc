// Elementwise kernels against the plain expression; additions and single products are exact.
#include "runtime/kernels/elementwise.h"

#include <math.h>

#include "tests/kernels/kernel_test_util.h"

namespace fovea {
namespace {

TEST(Elementwise, EqualThePlainExpression) {
  ForEachTarget([] {
    const ElementwiseKernels k = GetElementwiseKernels();
    for (size_t count : kOddWidths) {
      const std::vector<float> a = RandomFloats(count, 1.0f, 1), b = RandomFloats(count, 1.0f, 2);
      Guarded<float> y(count), over_a(a), over_b(b);
      k.add(a.data(), b.data(), count, y.data());
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(y[i], a[i] + b[i]);
      k.multiply(a.data(), b.data(), count, y.data());
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(y[i], a[i] * b[i]);
      k.scale(a.data(), 0.37f, count, y.data());
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(y[i], a[i] * 0.37f);
      k.scale_add(a.data(), 0.37f, b.data(), count, y.data());
      for (size_t i = 0; i < count; ++i) ASSERT_NEAR(y[i], double{a[i]} * 0.37f + b[i], 3e-7 * (1 + fabs(y[i])));
      EXPECT_TRUE(y.Intact());
      k.scale_add(over_a.data(), 0.37f, b.data(), count, over_a.data());
      k.scale_add(a.data(), 0.37f, over_b.data(), count, over_b.data());
      EXPECT_EQ(over_a.values(), y.values());
      EXPECT_EQ(over_b.values(), y.values());
      EXPECT_TRUE(over_a.Intact() && over_b.Intact());
    }
  });
}

TEST(Elementwise, ShiftsBoundsAndLargest) {
  ForEachTarget([] {
    const ElementwiseKernels k = GetElementwiseKernels();
    for (size_t count : kOddWidths) {
      std::vector<float> x = RandomFloats(count, 1.0f, 1);
      Guarded<float> y(count);
      k.scale_shift(x.data(), 0.37f, 2.0f, count, y.data());
      for (size_t i = 0; i < count; ++i) ASSERT_NEAR(y[i], double{x[i]} * 0.37f + 2, 3e-7 * (1 + fabs(y[i])));
      k.at_least(x.data(), 0.1f, count, y.data());
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(y[i], fmaxf(x[i], 0.1f));
      EXPECT_TRUE(y.Intact());
      for (size_t i = 0; i < count; ++i) {
        std::vector<float> low(count, -3.0f);
        low[i] = -2.0f;
        ASSERT_EQ(k.largest(low.data(), count), -2.0f) << i;
      }
      x[count / 2] = NAN;
      k.at_least(x.data(), 0.1f, count, y.data());
      EXPECT_TRUE(isnan(y[count / 2]));
    }
    EXPECT_EQ(k.largest(nullptr, 0), -INFINITY);
  });
}

TEST(Elementwise, AddRowRepeatsTheRow) {
  ForEachTarget([] {
    const ElementwiseKernels k = GetElementwiseKernels();
    for (size_t width : kOddWidths) {
      const std::vector<float> x = RandomFloats(3 * width, 1.0f, 1), row = RandomFloats(width, 1.0f, 2);
      Guarded<float> y(x);
      k.add_row(y.data(), row.data(), 3, width, y.data());
      for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], x[i] + row[i % width]);
      EXPECT_TRUE(y.Intact());
    }
  });
}

}  // namespace
}  // namespace fovea
