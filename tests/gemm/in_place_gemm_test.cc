// Kernels of 64-bit Arm for integer weights in place: with dot products and without they give the bits of one formula.
// Run on a processor that has dot products and on one that has not.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/kernels/gemm_arm.h"
#include "runtime/kernels/kernels.h"
#include "tests/gemm/gemm_problem.h"

#if FOVEA_GEMM_IN_PLACE_ARM

namespace fovea::testing {
namespace {

// The sum of products of `count` weights of a column, from `first` on, with x; without x the sum of weights.
int32_t SumOfProducts(const GemmWeights& w, size_t column, size_t first, size_t count, const int8_t* x) {
  int32_t sum = 0;
  for (size_t i = first; i < first + count; ++i) {
    const size_t at = column * w.shape.k + i;
    const bool eight = w.shape.type == DType::kI8;
    const uint8_t byte = static_cast<const uint8_t*>(w.rows)[eight ? at : at / 2];
    const int weight = eight ? static_cast<int8_t>(byte) : (i % 2 == 0 ? byte & 15 : byte >> 4) - 8;
    sum += (x == nullptr ? 1 : x[i]) * weight;
  }
  return sum;
}

float Expected(const GemmProblem& problem, size_t row, size_t column) {
  const GemmWeights& w = problem.weights;
  const QuantParams params = problem.input.params[row];
  const int8_t* x = problem.input.quantized + row * w.shape.k;
  const float bias = w.bias == nullptr ? 0 : w.bias[column];
  if (w.shape.type == DType::kI8) {
    const int32_t exact =
        SumOfProducts(w, column, 0, w.shape.k, x) - params.zero_point * SumOfProducts(w, column, 0, w.shape.k, nullptr);
    return std::fma(static_cast<float>(exact), static_cast<const float*>(w.scales)[column] * params.scale, bias);
  }
  float sum = 0, weights = 0;  // scaled blocks, added up
  for (size_t i = 0; i < w.shape.k; i += kI4Block) {
    const uint32_t bits = uint32_t{static_cast<const uint16_t*>(w.scales)[(column * w.shape.k + i) / kI4Block]} << 16;
    float scale;
    std::memcpy(&scale, &bits, sizeof(scale));
    sum = std::fma(static_cast<float>(SumOfProducts(w, column, i, kI4Block, x)), scale, sum);
    weights = std::fma(static_cast<float>(SumOfProducts(w, column, i, kI4Block, nullptr)), scale, weights);
  }
  return std::fma(std::fma(-static_cast<float>(params.zero_point), weights, sum), params.scale, bias);
}

void Check(GemmShape shape, size_t rows) {
  const GemmProblem problem(shape, rows, rows % 3 != 0, static_cast<uint32_t>(rows + 131 * shape.n + 31 * shape.k));
  const ReadyGemm gemm(HighwayGemm(), GetKernels(), problem.weights);
  std::vector<float> y(rows * shape.n);
  gemm.Run(problem.input, Activation::kNone, y.data());
  for (size_t i = 0; i < y.size(); ++i) {
    const float expected = Expected(problem, i / shape.n, i % shape.n);
    ASSERT_EQ(std::memcmp(&y[i], &expected, sizeof(expected)), 0)
        << rows << " rows, " << shape.n << " x " << shape.k << ": row " << i / shape.n << " column " << i % shape.n
        << " is " << y[i] << ", should be " << expected;
  }
}

TEST(InPlaceGemm, I8GivesTheBitsOfTheFormula) {
  for (const uint32_t k : {1, 15, 16, 17, 31, 32, 47, 64, 65, 96, 127, 200}) {
    for (const uint32_t n : {1, 2, 3, 4, 9}) {
      for (size_t rows = 1; rows <= 13; ++rows) Check({DType::kI8, n, k}, rows);
    }
  }
  Check({DType::kI8, 130, 384}, 37);
}

TEST(InPlaceGemm, I4GivesTheBitsOfTheFormula) {
  for (const uint32_t k : {32, 64, 96, 160}) {
    for (const uint32_t n : {1, 2, 3, 4, 9}) {
      for (size_t rows = 1; rows <= 26; ++rows) Check({DType::kI4, n, k}, rows);
    }
  }
  Check({DType::kI4, 130, 384}, 37);
}

}  // namespace
}  // namespace fovea::testing

#endif  // FOVEA_GEMM_IN_PLACE_ARM
