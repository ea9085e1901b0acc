// Embedding rows of every element type against plain decoding. Tolerance: rounding of one or two products.
#include "runtime/kernels/dequantize.h"

#include <math.h>
#include <string.h>

#include "tests/kernels/kernel_test_util.h"

namespace fovea {
namespace {

double FloatOfF16(uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  const double magnitude = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

float FloatOfBf16(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float value;
  memcpy(&value, &wide, sizeof(value));
  return value;
}

void ExpectBoth(DType type, const void* row, const void* scales, const std::vector<double>& want) {
  const DequantizeKernels k = GetDequantizeKernels();
  const size_t width = want.size();
  const float factor = 0.37f;
  const std::vector<float> before = RandomFloats(width, 1.0f, 9);
  Guarded<float> set(width), add(before);
  k.set[static_cast<size_t>(type)](row, scales, width, factor, set.data());
  k.add[static_cast<size_t>(type)](row, scales, width, factor, add.data());
  EXPECT_TRUE(set.Intact() && add.Intact());
  for (size_t i = 0; i < width; ++i) {
    const double v = want[i] * factor;
    ASSERT_NEAR(set[i], v, 2e-7 * fabs(v)) << i;
    ASSERT_NEAR(add[i], before[i] + v, 2e-7 * (fabs(v) + fabs(before[i]))) << i;
  }
}

TEST(Dequantize, EveryTypeAndWidth) {
  ForEachTarget([] {
    std::mt19937 random(5);
    for (size_t width : kOddWidths) {
      SCOPED_TRACE(width);
      std::vector<double> want(width);

      const std::vector<float> f32 = RandomFloats(width);
      for (size_t i = 0; i < width; ++i) want[i] = f32[i];
      ExpectBoth(DType::kF32, f32.data(), nullptr, want);

      std::vector<uint16_t> f16(width);
      for (size_t i = 0; i < width; ++i) {
        do f16[i] = static_cast<uint16_t>(random());
        while ((f16[i] & 0x7C00) == 0x7C00);  // finite ones
        want[i] = FloatOfF16(f16[i]);
      }
      ExpectBoth(DType::kF16, f16.data(), nullptr, want);

      std::vector<uint16_t> bf16(width);
      for (size_t i = 0; i < width; ++i) {
        bf16[i] = static_cast<uint16_t>((random() & 0x80FF) | 0x3F00);
        want[i] = FloatOfBf16(bf16[i]);
      }
      ExpectBoth(DType::kBf16, bf16.data(), nullptr, want);

      std::vector<int8_t> i8(width);
      const std::vector<float> scale = {0.0123f};
      for (size_t i = 0; i < width; ++i) want[i] = (i8[i] = static_cast<int8_t>(random())) * double{scale[0]};
      ExpectBoth(DType::kI8, i8.data(), scale.data(), want);

      std::vector<uint8_t> i4(RowBytes(DType::kI4, width));
      std::vector<uint16_t> scales(ScaleBytes(DType::kI4, 1, width) / 2);
      for (uint8_t& b : i4) b = static_cast<uint8_t>(random());
      for (uint16_t& s : scales) s = static_cast<uint16_t>(0x3C00 + random() % 0x300);
      for (size_t i = 0; i < width; ++i) {
        const int nibble = i % 2 == 0 ? i4[i / 2] & 15 : i4[i / 2] >> 4;
        want[i] = (nibble - 8) * double{FloatOfBf16(scales[i / 32])};
      }
      ExpectBoth(DType::kI4, i4.data(), scales.data(), want);
    }
  });
}

TEST(Dequantize, IdsHaveNoKernel) {
  EXPECT_EQ(GetDequantizeKernels().set[static_cast<size_t>(DType::kI32)], nullptr);
  EXPECT_EQ(GetDequantizeKernels().add[static_cast<size_t>(DType::kI32)], nullptr);
}

}  // namespace
}  // namespace fovea
