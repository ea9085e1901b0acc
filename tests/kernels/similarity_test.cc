// Similarity of embeddings against plain sums in long double.
#include "runtime/kernels/similarity.h"

#include <math.h>

#include "tests/kernels/kernel_test_util.h"

namespace fovea {
namespace {

// Terms are of size 1 and fewer than 1100: additions in f64 are off by less than 1100 * 1100 * 2^-53.
constexpr double kBound = 2e-10;

TEST(Similarity, SumsMatchPlainLoops) {
  ForEachTarget([] {
    for (size_t count : {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 384, 1091}) {
      const std::vector<float> a = RandomFloats(count), b = RandomFloats(count + 1);
      const float* y = b.data() + 1;  // not aligned
      long double ab = 0, aa = 0, bb = 0, squared = 0, absolute = 0;
      for (size_t i = 0; i < count; ++i) {
        const long double p = a[i], q = y[i];
        ab += p * q, aa += p * p, bb += q * q;
        squared += (p - q) * (p - q);
        absolute += fabsl(p - q);
      }
      EXPECT_NEAR(DotProduct(a.data(), y, count), static_cast<double>(ab), kBound) << count;
      const DotProducts products = DotProductsWithLengths(a.data(), y, count);
      EXPECT_EQ(products.ab, DotProduct(a.data(), y, count)) << count;
      EXPECT_NEAR(products.aa, static_cast<double>(aa), kBound) << count;
      EXPECT_NEAR(products.bb, static_cast<double>(bb), kBound) << count;
      EXPECT_NEAR(SquaredDistance(a.data(), y, count), static_cast<double>(squared), kBound) << count;
      EXPECT_NEAR(ManhattanDistance(a.data(), y, count), static_cast<double>(absolute), kBound) << count;
    }
  });
}

// f32 sums would lose the small term.
TEST(Similarity, SumsAreInF64) {
  ForEachTarget([] {
    const std::vector<float> a = {1e8f, 1.0f, -1e8f}, ones(3, 1.0f);
    EXPECT_EQ(DotProduct(a.data(), ones.data(), 3), 1.0);
    const std::vector<float> infinite = {INFINITY, 0.0f}, nan = {1.0f, NAN};
    EXPECT_EQ(DotProduct(infinite.data(), ones.data(), 2), HUGE_VAL);
    EXPECT_TRUE(isnan(DotProduct(nan.data(), ones.data(), 2)));
    EXPECT_TRUE(isnan(ManhattanDistance(ones.data(), nan.data(), 2)));
  });
}

}  // namespace
}  // namespace fovea
