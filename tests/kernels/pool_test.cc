// Pooling against plain column loops.
#include "runtime/kernels/pool.h"

#include <math.h>

#include "tests/kernels/kernel_test_util.h"

namespace fovea {
namespace {

TEST(Pool, MeanAndMaxMatchPlainLoops) {
  ForEachTarget([] {
    const PoolKernels k = GetPoolKernels();
    for (size_t width : kOddWidths) {
      for (size_t count : {1, 2, 5, 63, 64, 65, 200}) {
        const size_t begin = 3;
        std::vector<float> x = RandomFloats((begin + count) * width);
        for (float& v : x) v -= 9.0f;  // a zero from a partial load would win a maximum
        Guarded<float> mean(width), max(width), rising(width);
        k.mean(x.data(), begin, begin + count, width, mean.data());
        k.rising_mean(x.data(), begin, begin + count, width, rising.data());
        k.max(x.data(), begin, begin + count, width, max.data());
        EXPECT_TRUE(mean.Intact() && max.Intact() && rising.Intact());
        for (size_t i = 0; i < width; ++i) {
          double sum = 0, highest = -INFINITY, weighed = 0;
          for (size_t r = begin; r < begin + count; ++r) {
            sum += x[r * width + i];
            weighed += static_cast<double>(r - begin + 1) * x[r * width + i];
            highest = fmax(highest, x[r * width + i]);
          }
          ASSERT_NEAR(mean[i], sum / static_cast<double>(count), 9e-6);
          ASSERT_EQ(max[i], highest);
          ASSERT_NEAR(rising[i], weighed / (0.5 * static_cast<double>(count * (count + 1))), 9e-6);
        }
      }
    }
  });
}

// Summing 30000 times 0.1 one after the other would be off by 1e-4 and more.
TEST(Pool, LongMeanStaysAccurate) {
  ForEachTarget([] {
    const std::vector<float> x(30000 * 5, 0.1f);
    std::vector<float> y(5);
    GetPoolKernels().mean(x.data(), 0, 30000, 5, y.data());
    for (float v : y) EXPECT_NEAR(v, 0.1f, 1e-6);
  });
}

TEST(Pool, NoRowsGiveZeros) {
  ForEachTarget([] {
    const PoolKernels k = GetPoolKernels();
    for (size_t width : kOddWidths) {
      Guarded<float> mean(width), max(width);
      k.mean(nullptr, 4, 4, width, mean.data());
      k.max(nullptr, 4, 4, width, max.data());
      EXPECT_TRUE(mean.Intact() && max.Intact());
      for (size_t i = 0; i < width; ++i) EXPECT_TRUE(mean[i] == 0 && max[i] == 0);
    }
  });
}

}  // namespace
}  // namespace fovea
