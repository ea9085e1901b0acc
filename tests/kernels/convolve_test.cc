// Depthwise convolution of one row against plain loops.
#include "runtime/kernels/convolve.h"

#include <math.h>

#include "tests/kernels/kernel_test_util.h"

namespace fovea {
namespace {

TEST(Convolve, MatchesPlainLoops) {
  ForEachTarget([] {
    const ConvolveKernels k = GetConvolveKernels();
    for (const size_t width : kOddWidths) {
      for (const size_t taps : {0, 1, 3, 4, 31}) {
        const std::vector<float> x = RandomFloats((taps + 1) * width), weights = RandomFloats(taps * width, 1.0f, 2);
        const std::vector<float> bias = RandomFloats(width, 1.0f, 3);
        std::vector<const float*> rows;
        for (size_t t = 0; t < taps; ++t) rows.push_back(x.data() + (taps - t) * width);  // in any order
        for (const float* b : {static_cast<const float*>(nullptr), bias.data()}) {
          Guarded<float> y(width);
          k.row(rows.data(), weights.data(), taps, b, width, y.data());
          EXPECT_TRUE(y.Intact());
          for (size_t i = 0; i < width; ++i) {
            double sum = b == nullptr ? 0 : b[i], magnitude = fabs(sum);
            for (size_t t = 0; t < taps; ++t) {
              const double product = double{rows[t][i]} * weights[t * width + i];
              sum += product, magnitude += fabs(product);
            }
            ASSERT_NEAR(y[i], sum, 2e-7 * static_cast<double>(taps + 1) * magnitude) << taps << " taps";
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace fovea
