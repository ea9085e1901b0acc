// Row quantization against XNNPACK's qd8 convention written out in plain code: bit for bit.
#include "runtime/kernels/quantize.h"

#include <math.h>

#include "tests/kernels/kernel_test_util.h"

namespace fovea {
namespace {

QuantParams PlainQuantize(const float* x, size_t width, int8_t* q) {
  float low = 0, high = 0;
  for (size_t i = 0; i < width; ++i) {
    low = fminf(low, x[i]);
    high = fmaxf(high, x[i]);
  }
  const float steps = low == high ? 1.0f : 255.0f / (high - low);
  const float low_error = -128.0f + low * steps, high_error = 127.0f + high * steps;
  float zero_point = low_error + high_error > 0 ? -128.0f - low * steps : 127.0f - high * steps;
  zero_point = fminf(fmaxf(zero_point, -128.0f), 127.0f);
  QuantParams params{static_cast<int32_t>(rintf(zero_point)), 1.0f / steps};
  const float factor = 1.0f / params.scale;
  for (size_t i = 0; i < width; ++i) {
    const float v = rintf(x[i] * factor) + static_cast<float>(params.zero_point);
    q[i] = static_cast<int8_t>(fminf(fmaxf(v, -128.0f), 127.0f));
  }
  return params;
}

void ExpectPlain(const std::vector<float>& x, size_t rows, size_t width) {
  const QuantizeKernels k = GetQuantizeKernels();
  Guarded<int8_t> q(rows * width);
  std::vector<QuantParams> params(rows);
  k.quantize_rows(x.data(), rows, width, q.data(), params.data());
  EXPECT_TRUE(q.Intact());
  for (size_t r = 0; r < rows; ++r) {
    std::vector<int8_t> want(width);
    const QuantParams p = PlainQuantize(&x[r * width], width, want.data());
    ASSERT_EQ(params[r].zero_point, p.zero_point);
    ASSERT_EQ(params[r].scale, p.scale);
    for (size_t i = 0; i < width; ++i) {
      ASSERT_EQ(q[r * width + i], want[i]) << "row " << r << " column " << i << " x " << x[r * width + i];
      ASSERT_NEAR((q[r * width + i] - p.zero_point) * p.scale, x[r * width + i], 1.01f * p.scale);
    }
  }
  if (k.quantize_pairs == nullptr || width % kPairedElements != 0) return;
  for (const size_t count : {rows, rows - 1}) {
    Guarded<int8_t> pairs(count * width);
    std::vector<QuantParams> of_pairs(rows);
    k.quantize_pairs(x.data(), count, width, pairs.data(), of_pairs.data());
    EXPECT_TRUE(pairs.Intact());
    for (size_t r = 0; r < count; ++r) {
      ASSERT_EQ(of_pairs[r].zero_point, params[r].zero_point);
      ASSERT_EQ(of_pairs[r].scale, params[r].scale);
      const bool alone = r + 1 == count && r % 2 == 0;
      for (size_t i = 0; i < width; ++i) {
        const size_t at = alone ? r * width + i : r / 2 * 2 * width + i / 8 * 16 + r % 2 * 8 + i % 8;
        ASSERT_EQ(pairs[at], q[r * width + i]) << "row " << r << " of " << count << ", column " << i;
      }
    }
  }
}

TEST(Quantize, SameBitsAsTheConvention) {
  ForEachTarget([] {
    for (size_t width : kOddWidths) {
      SCOPED_TRACE(width);
      for (float scale : {1e-20f, 1e-3f, 1.0f, 1e4f, 1e30f}) ExpectPlain(RandomFloats(20 * width, scale), 20, width);
      std::vector<float> positive = RandomFloats(20 * width, 1.0f), negative = positive;
      for (float& v : positive) v = fabsf(v);
      for (float& v : negative) v = -fabsf(v);
      ExpectPlain(positive, 20, width);
      ExpectPlain(negative, 20, width);
    }
  });
}

// Steps of exactly one: every half is a tie, rounded to even.
TEST(Quantize, TiesGoToEven) {
  ForEachTarget([] {
    std::vector<float> x;
    for (int i = -256; i <= 254; ++i) x.push_back(static_cast<float>(i) / 2);
    ExpectPlain(x, 1, x.size());
  });
}

// A multiply-add fused by the compiler would differ in about one of 60000 values: products that round to a tie.
TEST(Quantize, ProductsAreRoundedBeforeTheInteger) {
  ForEachTarget([] { ExpectPlain(RandomFloats(2000 * 384), 2000, 384); });
}

TEST(Quantize, ZeroRowIsZeroPointAndUnitScale) {
  ForEachTarget([] { ExpectPlain(std::vector<float>(3 * 33, 0.0f), 3, 33); });
}

TEST(Quantize, NanAndInfinityStayInTheirRow) {
  ForEachTarget([] {
    const QuantizeKernels k = GetQuantizeKernels();
    for (float bad : {NAN, INFINITY, -INFINITY}) {
      std::vector<float> x = RandomFloats(2 * 33);
      x[3] = bad;
      std::vector<int8_t> q(x.size()), want(33);
      QuantParams params[2];
      k.quantize_rows(x.data(), 2, 33, q.data(), params);
      const QuantParams p = PlainQuantize(&x[33], 33, want.data());
      EXPECT_EQ(params[1].zero_point, p.zero_point);
      EXPECT_EQ(params[1].scale, p.scale);
      EXPECT_EQ(std::vector<int8_t>(q.begin() + 33, q.end()), want);
    }
  });
}

}  // namespace
}  // namespace fovea
