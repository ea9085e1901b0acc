// The vector functions of math-inl.h themselves, on every target, at what kernels rely on.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/math_test.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "runtime/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace {

// y[i] = 2^x[i]; count is a multiple of every vector's lanes.
void Exp2OfAll(const float* x, size_t count, float* y) {
  const hn::ScalableTag<float> d;
  for (size_t i = 0; i < count; i += hn::Lanes(d)) hn::StoreU(FastExp2(d, hn::LoadU(d, x + i)), d, y + i);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <math.h>

#include <limits>
#include <vector>

#include "tests/kernels/kernel_test_util.h"

namespace fovea {
namespace {

HWY_EXPORT(Exp2OfAll);

std::vector<float> Exp2(std::vector<float> x) {
  const size_t count = x.size();
  x.resize((count + 1023) / 1024 * 1024);
  std::vector<float> y(x.size());
  HWY_DYNAMIC_DISPATCH(Exp2OfAll)(x.data(), x.size(), y.data());
  y.resize(count);
  return y;
}

TEST(FastExp2, RelativeErrorFromTheSmallestNormalNumber) {
  std::vector<float> x = {-126.0f, nextafterf(-126.0f, 0.0f), -0.5f, -0.0f, 0.0f, 0.5f, nextafterf(127.5f, 0.0f)};
  for (double v = -126; v < 127.5; v += 1.0 / 997) x.push_back(static_cast<float>(v));
  ForEachTarget([&] {
    const std::vector<float> y = Exp2(x);
    for (size_t i = 0; i < x.size(); ++i) {
      const double want = exp2(static_cast<double>(x[i]));
      ASSERT_NEAR(y[i], want, 1.8e-7 * want) << "x = " << x[i];
    }
  });
}

// Attention clamps hidden and very small weights to -127 and needs zeros there.
TEST(FastExp2, ZeroAtTheClamp) {
  std::vector<float> below = {-127.0f}, small;
  for (float v = -127.0f; v < -126.5f; v += 1.0f / 1024) below.push_back(v);
  for (float v = -126.5f; v < -126.0f; v += 1.0f / 1024) small.push_back(v);
  ForEachTarget([&] {
    for (const float y : Exp2(below)) {
      ASSERT_EQ(y, 0.0f);
      ASSERT_FALSE(signbit(y));
    }
    for (const float y : Exp2(small)) {
      ASSERT_GE(y, 0.0f);
      ASSERT_LE(y, std::numeric_limits<float>::min());
    }
    for (const float y : Exp2({127.51f, 127.9f, 128.0f})) EXPECT_EQ(y, std::numeric_limits<float>::infinity());
    EXPECT_TRUE(isnan(Exp2({NAN})[0]));
  });
}

}  // namespace
}  // namespace fovea
#endif
