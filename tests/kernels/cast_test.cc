// f32 to shorter types against plain rounding: the same bits on every target.
#include "runtime/kernels/cast.h"

#include <math.h>

#include <limits>

#include "tests/kernels/kernel_test_util.h"
#include "tools/base/half.h"

namespace fovea {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Numbers of every magnitude, ties, and the ends of both types.
std::vector<float> Numbers(size_t count) {
  std::mt19937 random(7);
  std::vector<float> x(count);
  const float special[] = {0.0f,       -0.0f,      65504.0f, 65519.9f,  65520.0f,   1e6f,       -1e30f,
                           0x1p-24f,   0x1.8p-25f, 0x1p-25f, 0x1p-126f, -0x1p-149f, 3.4028e38f, kInfinity,
                           -kInfinity, 2049.0f,    2051.0f,  0x1.01p0f, 0x1.03p0f,  0x1.0080p3f};
  for (size_t i = 0; i < count; ++i) {
    x[i] = i % 2 == 0
               ? special[random() % std::size(special)]
               : ldexpf(static_cast<float>(random() % 65536) / 32768.0f - 1.0f, static_cast<int>(random() % 60) - 30);
  }
  return x;
}

float AtMost(float x, float most) { return fminf(fmaxf(x, -most), most); }

TEST(Cast, RoundsToHalves) {
  ForEachTarget([] {
    const CastKernels cast = GetCastKernels();
    for (const size_t width : kOddWidths) {
      const std::vector<float> x = Numbers(width);
      Guarded<uint16_t> f16(width), bf16(width);
      cast.f16(x.data(), width, f16.data());
      cast.bf16(x.data(), width, bf16.data());
      ASSERT_TRUE(f16.Intact() && bf16.Intact());
      for (size_t i = 0; i < width; ++i) {
        ASSERT_EQ(f16[i], tools::ToHalf(AtMost(x[i], 65504.0f))) << x[i];
        ASSERT_EQ(bf16[i], tools::ToBf16(AtMost(x[i], 3.3895314e38f))) << x[i];
      }
    }
    const float nan = std::numeric_limits<float>::quiet_NaN();
    uint16_t y;
    cast.f16(&nan, 1, &y);
    EXPECT_TRUE(isnan(tools::FromHalf(y)));
    cast.bf16(&nan, 1, &y);
    EXPECT_TRUE(isnan(tools::FromBf16(y)));
  });
}

TEST(Cast, GivesEachPartItsScale) {
  ForEachTarget([] {
    const CastKernels cast = GetCastKernels();
    for (const size_t width : kOddWidths) {
      for (const size_t parts : {size_t{1}, size_t{3}}) {
        std::vector<float> x = RandomFloats(parts * width, 2.0f);
        if (parts > 1) std::fill(x.begin() + width, x.begin() + 2 * width, 0.0f);
        Guarded<int8_t> y(parts * width);
        Guarded<float> scales(parts);
        cast.i8(x.data(), parts, width, y.data(), scales.data());
        ASSERT_TRUE(y.Intact() && scales.Intact());
        for (size_t part = 0; part < parts; ++part) {
          float most = 0;
          for (size_t i = 0; i < width; ++i) most = fmaxf(most, fabsf(x[part * width + i]));
          ASSERT_EQ(scales[part], most / 127.0f);
          const float factor = most > 0 ? 127.0f / most : 0.0f;
          for (size_t i = part * width; i < (part + 1) * width; ++i) {
            ASSERT_EQ(y[i], static_cast<int8_t>(nearbyintf(x[i] * factor))) << i;
          }
        }
      }
    }
    // So small that their factor would not be finite.
    const float tiny[] = {1e-40f, -1e-38f};
    int8_t y[2] = {1, 1};
    float scale = -1;
    cast.i8(tiny, 1, 2, y, &scale);
    EXPECT_EQ(y[0], 0);
    EXPECT_EQ(y[1], 0);
    EXPECT_TRUE(scale >= 0 && scale < 1e-38f);
  });
}

}  // namespace
}  // namespace fovea
