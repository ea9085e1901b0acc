// f16 weights multiplied in two bytes: how exact that is, and rows and weights of the largest and smallest magnitudes.
// Skipped where f16 weights are used in place.
#if defined(FOVEA_WITH_XNNPACK)
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "hwy/base.h"
#include "runtime/kernels/gemm_split.h"
#include "runtime/kernels/kernels.h"
#include "tests/gemm/gemm_problem.h"
#include "tests/support/reference_gemm.h"

namespace fovea::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

class SplitGemmTest : public ::testing::Test {
 protected:
  void SetUp() override {
    backend_ = XnnpackGemm();
    if (backend_ == nullptr || !backend_->supports({DType::kF16, 1, 1})) GTEST_SKIP() << "f16 is used in place here";
  }

  std::vector<float> Run(const GemmProblem& problem, size_t rows) const {
    std::vector<float> y(rows * problem.weights.shape.n);
    GemmInput input = problem.input;
    input.rows = rows;
    ReadyGemm(*backend_, kernels_, problem.weights).Run(input, Activation::kNone, y.data());
    return y;
  }

  const GemmBackend* backend_ = nullptr;
  const Kernels kernels_ = GetKernels();
};

uint16_t* WeightsOf(const GemmProblem& problem) {
  return static_cast<uint16_t*>(const_cast<void*>(problem.weights.rows));
}
float* RowsOf(const GemmProblem& problem) { return const_cast<float*>(problem.input.x); }

uint16_t Half(float value) {
  const hwy::float16_t half = hwy::F16FromF32(value);
  uint16_t bits;
  std::memcpy(&bits, &half, sizeof(bits));
  return bits;
}

// The error, compared with what it costs to round the weights to f16 in the first place.
TEST_F(SplitGemmTest, LosesLessThanRoundingTheWeights) {
  constexpr size_t kRows = 8;
  for (const uint32_t k : {64u, 384u, 1536u}) {
    for (const bool heavy : {false, true}) {  // Student's t: rows reach 20 deviations, weights 10
      const GemmShape shape = {DType::kF16, 96, k};
      GemmProblem problem(shape, kRows, false, k);
      std::mt19937 random(k);
      std::normal_distribution<double> normal;
      std::student_t_distribution<double> student(3), student_weights(4);
      std::vector<double> weights(size_t{shape.n} * k);
      for (size_t i = 0; i < weights.size(); ++i) {
        weights[i] = 0.05 * (heavy ? student_weights(random) : normal(random));
        WeightsOf(problem)[i] = Half(static_cast<float>(weights[i]));
      }
      for (size_t i = 0; i < kRows * k; ++i) {
        RowsOf(problem)[i] = static_cast<float>(heavy ? student(random) : normal(random));
      }
      const std::vector<float> y = Run(problem, kRows);
      const ReferenceGemm reference(problem.weights);
      double of_rounding = 0, of_kernel = 0;
      for (size_t r = 0; r < kRows; ++r) {
        for (size_t c = 0; c < shape.n; ++c) {
          double exact = 0;
          for (size_t i = 0; i < k; ++i) exact += problem.input.x[r * k + i] * weights[c * k + i];
          const double halves = reference.At(problem.input, Activation::kNone, r, c).y;
          of_rounding += std::pow(halves - exact, 2);
          of_kernel += std::pow(y[r * shape.n + c] - halves, 2);
        }
      }
      EXPECT_LT(std::sqrt(of_kernel / of_rounding), heavy ? 0.9 : 0.35) << k << (heavy ? " heavy" : "");
    }
  }
}

// A row of a call with any number of rows; 128 take other loops than 1.
TEST_F(SplitGemmTest, SameBitsForAnyNumberOfRows) {
  constexpr size_t kMost = 128;
  for (const uint32_t k : {32u, 384u, 700u}) {
    const GemmProblem problem({DType::kF16, 70, k}, kMost, true, k);
    const std::vector<float> all = Run(problem, kMost);
    for (const size_t rows : {1, 2, 3, 6, 7, 11, 16}) {
      const std::vector<float> y = Run(problem, rows);
      EXPECT_EQ(std::memcmp(y.data(), all.data(), y.size() * sizeof(float)), 0) << rows << " rows, k " << k;
    }
  }
}

TEST_F(SplitGemmTest, RowsOfAnyMagnitude) {
  const GemmShape shape = {DType::kF16, 20, 300};
  for (const float factor : {1e-38f, 1e-30f, 1e-12f, 1e4f, 1e20f, 1e30f}) {
    GemmProblem problem(shape, 7, false, 5);
    for (size_t i = 0; i < 7 * shape.k; ++i) RowsOf(problem)[i] *= factor;
    const std::vector<float> y = Run(problem, 7);
    const ReferenceGemm reference(problem.weights);
    for (size_t i = 0; i < y.size(); ++i) {
      const ReferenceValue expected =
          reference.At(problem.input, Activation::kNone, i / shape.n, i % shape.n, /*split=*/true);
      // A quantum of 2^-126 per element where all are smaller than 2^-110.
      const double least = std::ldexp(1.0, -126) * 256 * shape.k;
      ASSERT_NEAR(y[i], expected.y, expected.tolerance - 1e-30 + least) << factor << " " << i;
    }
  }
}

// Columns of zeros, of the largest, of the smallest normal and of subnormal weights.
TEST_F(SplitGemmTest, WeightsOfAnyMagnitude) {
  const GemmShape shape = {DType::kF16, 5, 160};
  GemmProblem problem(shape, 6, true, 9);
  const uint16_t columns[] = {0x0000, 0x7bff, 0x0400, 0x03ff, 0x0001};
  for (size_t i = 0; i < size_t{shape.n} * shape.k; ++i) {
    WeightsOf(problem)[i] = static_cast<uint16_t>(columns[i / shape.k] | (i % 3 == 0 ? 0x8000 : 0));
  }
  const std::vector<float> y = Run(problem, 6);
  const ReferenceGemm reference(problem.weights);
  for (size_t i = 0; i < y.size(); ++i) {
    const ReferenceValue expected =
        reference.At(problem.input, Activation::kNone, i / shape.n, i % shape.n, /*split=*/true);
    ASSERT_NEAR(y[i], expected.y, expected.tolerance) << i;
  }
  for (size_t r = 0; r < 6; ++r) EXPECT_EQ(y[r * shape.n], problem.weights.bias[0]) << "zeros, row " << r;
}

// As in f32: x NaN or a weight NaN makes NaN, an infinity makes the infinity of its sign, or NaN with a weight of 0.
// Other rows and columns stay as they are.
TEST_F(SplitGemmTest, PassesOnWhatIsNoNumber) {
  const GemmShape shape = {DType::kF16, 40, 200};
  for (const size_t at : {0u, 77u, 199u}) {
    for (const float special : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
      GemmProblem problem(shape, 8, true, 2);
      WeightsOf(problem)[3 * shape.k + at] = 0;
      const std::vector<float> plain = Run(problem, 8);
      RowsOf(problem)[5 * shape.k + at] = special;
      const std::vector<float> of_x = Run(problem, 8);
      RowsOf(problem)[5 * shape.k + at] = 0.5f;
      const std::vector<float> half = Run(problem, 8);
      WeightsOf(problem)[33 * shape.k + at] = Half(special);
      const std::vector<float> of_w = Run(problem, 8);
      for (size_t i = 0; i < plain.size(); ++i) {
        const size_t r = i / shape.n, c = i % shape.n;
        const std::string what = std::to_string(special) + " at " + std::to_string(at) + " row " + std::to_string(r) +
                                 " column " + std::to_string(c);
        const float w = static_cast<float>(DoubleFromF16(WeightsOf(problem)[c * shape.k + at]));
        const float in_x = special * w, in_w = special * problem.input.x[r * shape.k + at];
        if (r != 5) {
          ASSERT_EQ(of_x[i], plain[i]) << what;
        } else if (std::isnan(in_x)) {
          ASSERT_TRUE(std::isnan(of_x[i])) << what;
        } else if (c != 33 && std::fabs(w) > 1e-2f) {
          ASSERT_EQ(of_x[i], in_x) << what;
        } else {
          ASSERT_FALSE(std::isfinite(of_x[i])) << what;  // NaN for a weight that is 0 beside the largest
        }
        if (c != 33) {
          ASSERT_EQ(of_w[i], half[i]) << what;
        } else if (std::isnan(in_w)) {
          ASSERT_TRUE(std::isnan(of_w[i])) << what;
        } else {
          ASSERT_EQ(of_w[i], in_w) << what;
        }
      }
    }
  }
}

}  // namespace
}  // namespace fovea::testing
#endif  // FOVEA_WITH_XNNPACK
