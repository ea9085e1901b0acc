// Sinusoidal positions against long double formulas.
#include "runtime/kernels/position.h"

#include <math.h>

#include "tests/kernels/kernel_test_util.h"

namespace fovea {
namespace {

TEST(Position, AccurateUpToPosition8192InBothLayoutsAndParametrizations) {
  for (size_t width : {2, 3, 8, 33, 128, 512}) {
    const size_t pairs = width / 2;
    for (size_t denominator : {pairs, pairs - 1}) {
      for (bool interleaved : {false, true}) {
        for (double position : {0.0, 1.0, 17.0, 511.0, 8191.0}) {
          Guarded<float> y(width);
          FillPosition(position, width, 10000, denominator, interleaved, y.data());
          EXPECT_TRUE(y.Intact());
          for (size_t i = 0; i < pairs; ++i) {
            const long double exponent = denominator == 0 ? 0 : static_cast<long double>(i) / denominator;
            const long double angle = position * powl(10000, -exponent);
            ASSERT_NEAR(y[interleaved ? 2 * i : i], sinl(angle), 1e-7L);
            ASSERT_NEAR(y[interleaved ? 2 * i + 1 : pairs + i], cosl(angle), 1e-7L);
          }
          EXPECT_TRUE(width % 2 == 0 || y[width - 1] == 0.0f);
        }
      }
    }
  }
}

}  // namespace
}  // namespace fovea
