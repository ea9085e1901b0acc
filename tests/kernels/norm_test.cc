// Norm kernels against plain double loops.
#include "runtime/kernels/norm.h"

#include <math.h>

#include "tests/kernels/kernel_test_util.h"

namespace fovea {
namespace {

constexpr double kTolerance = 2e-6;  // for outputs of magnitude 1 to 4

struct Case {
  size_t rows, width;
  std::vector<float> x, residual, weight, bias;
  Case(size_t row_count, size_t row_width, float scale = 1.0f, float offset = 0.0f)
      : rows(row_count), width(row_width) {
    x = RandomFloats(rows * width, scale, 1);
    for (float& v : x) v += offset;
    residual = RandomFloats(rows * width, scale, 2);
    weight = RandomFloats(width, 1.0f, 3);
    bias = RandomFloats(width, 1.0f, 4);
  }
};

std::vector<double> PlainNorm(const Case& c, bool centre, bool residual, const float* weight, double weight_offset,
                              const float* bias, double epsilon) {
  std::vector<double> y(c.rows * c.width);
  for (size_t r = 0; r < c.rows; ++r) {
    std::vector<double> s(c.width);
    double mean = 0, squares = 0;
    for (size_t i = 0; i < c.width; ++i) {
      s[i] = c.x[r * c.width + i];
      if (residual) s[i] = static_cast<float>(c.x[r * c.width + i] + c.residual[r * c.width + i]);
      mean += s[i] / static_cast<double>(c.width);
    }
    if (!centre) mean = 0;
    for (double v : s) squares += (v - mean) * (v - mean) / static_cast<double>(c.width);
    for (size_t i = 0; i < c.width; ++i) {
      double v = (s[i] - mean) / sqrt(squares + epsilon);
      if (weight) v *= weight[i] + weight_offset;
      if (bias) v += bias[i];
      y[r * c.width + i] = v;
    }
  }
  return y;
}

void ExpectNear(const Guarded<float>& got, const std::vector<double>& want, double tolerance) {
  EXPECT_TRUE(got.Intact());
  for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], tolerance * (1 + fabs(want[i]))) << "at " << i;
}

TEST(Norm, LayerNormAllForms) {
  ForEachTarget([] {
    const NormKernels k = GetNormKernels();
    for (size_t width : kOddWidths) {
      SCOPED_TRACE(width);
      const Case c(3, width);
      for (int form = 0; form < 16; ++form) {
        const bool residual = form & 1, keep = form & 8;
        const float* weight = form & 2 ? c.weight.data() : nullptr;
        const float* bias = form & 4 ? c.bias.data() : nullptr;
        Guarded<float> y(c.x.size()), sum(c.x.size());
        k.layer_norm(c.x.data(), residual ? c.residual.data() : nullptr, weight, bias, 1e-5f, 3, width,
                     keep ? sum.data() : nullptr, y.data());
        // A width of two or three may have nearly equal values: conditioning, not the kernel, sets the error.
        ExpectNear(y, PlainNorm(c, true, residual, weight, 0, bias, 1e-5), kTolerance * (width < 8 ? 10 : 1));
        EXPECT_TRUE(sum.Intact());
        for (size_t i = 0; keep && i < c.x.size(); ++i) {
          ASSERT_EQ(sum[i], residual ? c.x[i] + c.residual[i] : c.x[i]);
        }
      }
    }
  });
}

TEST(Norm, RmsNormAllForms) {
  ForEachTarget([] {
    const NormKernels k = GetNormKernels();
    for (size_t width : kOddWidths) {
      SCOPED_TRACE(width);
      const Case c(3, width);
      for (int form = 0; form < 16; ++form) {
        const bool residual = form & 1, keep = form & 8;
        const float* weight = form & 2 ? c.weight.data() : nullptr;
        const float offset = form & 4 ? 1.0f : 0.0f;
        Guarded<float> y(c.x.size()), sum(c.x.size());
        k.rms_norm(c.x.data(), residual ? c.residual.data() : nullptr, weight, offset, 1e-6f, 3, width,
                   keep ? sum.data() : nullptr, y.data());
        ExpectNear(y, PlainNorm(c, false, residual, weight, offset, nullptr, 1e-6), kTolerance);
        EXPECT_TRUE(sum.Intact());
        for (size_t i = 0; keep && i < c.x.size(); ++i) {
          ASSERT_EQ(sum[i], residual ? c.x[i] + c.residual[i] : c.x[i]);
        }
      }
    }
  });
}

// A mean of a thousand deviations: a one-pass sum of squares would lose everything here.
TEST(Norm, LayerNormKeepsSmallDeviationsFromALargeMean) {
  ForEachTarget([] {
    const NormKernels k = GetNormKernels();
    const Case c(2, 384, 1.0f, 1000.0f);
    Guarded<float> y(c.x.size());
    k.layer_norm(c.x.data(), nullptr, nullptr, nullptr, 1e-12f, 2, 384, nullptr, y.data());
    ExpectNear(y, PlainNorm(c, true, false, nullptr, 0, nullptr, 1e-12), 4e-4);  // ulp of the mean: 6e-5
  });
}

TEST(Norm, ConstantAndZeroRowsStayFinite) {
  ForEachTarget([] {
    const NormKernels k = GetNormKernels();
    std::vector<float> x(100, 0.0f);
    Guarded<float> y(100);
    k.layer_norm(x.data(), nullptr, nullptr, nullptr, 1e-12f, 1, 100, nullptr, y.data());
    for (size_t i = 0; i < 100; ++i) ASSERT_EQ(y[i], 0.0f);
    k.rms_norm(x.data(), nullptr, nullptr, 0, 1e-12f, 1, 100, nullptr, y.data());
    for (size_t i = 0; i < 100; ++i) ASSERT_EQ(y[i], 0.0f);
    for (NormClamp guard : {NormClamp::kLength, NormClamp::kSquares}) {
      k.l2_normalize(x.data(), guard, 1e-12f, 1, 100, y.data());
      for (size_t i = 0; i < 100; ++i) ASSERT_EQ(y[i], 0.0f);
    }
  });
}

TEST(Norm, L2NormalizeBothGuards) {
  ForEachTarget([] {
    const NormKernels k = GetNormKernels();
    for (size_t width : kOddWidths) {
      for (float scale : {1.0f, 1e-7f}) {
        const std::vector<float> x = RandomFloats(3 * width, scale);
        for (NormClamp guard : {NormClamp::kLength, NormClamp::kSquares}) {
          Guarded<float> y(x.size());
          k.l2_normalize(x.data(), guard, 1e-6f, 3, width, y.data());
          std::vector<double> want(x.begin(), x.end());
          for (size_t r = 0; r < 3; ++r) {
            double squares = 0;
            for (size_t i = 0; i < width; ++i) squares += want[r * width + i] * want[r * width + i];
            const double length = guard == NormClamp::kLength ? fmax(sqrt(squares), 1e-6) : sqrt(fmax(squares, 1e-6));
            for (size_t i = 0; i < width; ++i) want[r * width + i] /= length;
          }
          ExpectNear(y, want, kTolerance);
        }
      }
    }
  });
}

TEST(Norm, InPlaceAndRowAloneGiveTheSameBits) {
  ForEachTarget([] {
    const NormKernels k = GetNormKernels();
    for (size_t width : kOddWidths) {
      const Case c(5, width);
      const float* w = c.weight.data();
      const float* b = c.bias.data();
      std::vector<float> y(c.x.size()), stream(c.x.size()), alone(width), alone_stream(width);
      k.layer_norm(c.x.data(), c.residual.data(), w, b, 1e-5f, 5, width, stream.data(), y.data());
      k.layer_norm(&c.x[3 * width], &c.residual[3 * width], w, b, 1e-5f, 1, width, alone_stream.data(), alone.data());
      for (size_t i = 0; i < width; ++i) ASSERT_EQ(alone[i], y[3 * width + i]);
      Guarded<float> x(c.x), residual(c.residual);
      k.layer_norm(x.data(), residual.data(), w, b, 1e-5f, 5, width, residual.data(), x.data());
      EXPECT_EQ(x.values(), y);
      EXPECT_EQ(residual.values(), stream);
      Guarded<float> over_residual(c.residual);
      k.layer_norm(c.x.data(), over_residual.data(), w, b, 1e-5f, 5, width, nullptr, over_residual.data());
      EXPECT_EQ(over_residual.values(), y);
      EXPECT_TRUE(x.Intact() && residual.Intact() && over_residual.Intact());

      k.rms_norm(c.x.data(), c.residual.data(), w, 0, 1e-5f, 5, width, stream.data(), y.data());
      k.rms_norm(&c.x[3 * width], &c.residual[3 * width], w, 0, 1e-5f, 1, width, nullptr, alone.data());
      for (size_t i = 0; i < width; ++i) ASSERT_EQ(alone[i], y[3 * width + i]);
      Guarded<float> x2(c.x);
      k.rms_norm(x2.data(), c.residual.data(), w, 0, 1e-5f, 5, width, nullptr, x2.data());
      EXPECT_EQ(x2.values(), y);

      k.l2_normalize(c.x.data(), NormClamp::kLength, 1e-12f, 5, width, y.data());
      Guarded<float> x3(c.x);
      k.l2_normalize(x3.data(), NormClamp::kLength, 1e-12f, 5, width, x3.data());
      EXPECT_EQ(x3.values(), y);
    }
  });
}

TEST(Norm, NanStaysInItsRow) {
  ForEachTarget([] {
    const NormKernels k = GetNormKernels();
    std::vector<float> x = RandomFloats(2 * 33), y(2 * 33);
    x[5] = NAN;
    k.layer_norm(x.data(), nullptr, nullptr, nullptr, 1e-5f, 2, 33, nullptr, y.data());
    for (size_t i = 0; i < 33; ++i) ASSERT_TRUE(isnan(y[i]) && !isnan(y[33 + i]));
    k.rms_norm(x.data(), nullptr, nullptr, 0, 1e-5f, 2, 33, nullptr, y.data());
    for (size_t i = 0; i < 33; ++i) ASSERT_TRUE(isnan(y[i]) && !isnan(y[33 + i]));
  });
}

}  // namespace
}  // namespace fovea
