// Calibrated rounding: how much it reduces the error, in double precision, and where it equals rounding to the nearest.
#include "tools/convert/rounding.h"

#include <gtest/gtest.h>
#include <math.h>
#include <string.h>

#include <algorithm>
#include <cmath>

#include "tests/support/random_floats.h"
#include "tools/convert/quantize.h"

namespace fovea::test {
namespace {

using tools::BlobTensor;
using tools::Matrix;

std::vector<float> Random(size_t count, uint32_t seed) { return RandomFloats(count, 1, seed); }

// Correlated columns: each is a mixture of few vectors.
Matrix Rows(uint32_t rows, uint32_t width, uint32_t seed) {
  const uint32_t few = width / 4 + 1;
  const std::vector<float> mix = Random(few * width, seed), parts = Random(rows * few, seed + 1),
                           noise = Random(rows * width, seed + 2);
  Matrix matrix{rows, width, {}};
  for (uint32_t r = 0; r < rows; ++r) {
    for (uint32_t i = 0; i < width; ++i) {
      float value = 0.3f + 0.2f * noise[r * width + i];
      for (uint32_t k = 0; k < few; ++k) value += parts[r * few + k] * mix[k * width + i];
      matrix.values.push_back(value);
    }
  }
  return matrix;
}

// The matrix that the factor represents.
std::vector<double> Products(const std::vector<const Matrix*>& inputs, bool centered) {
  const size_t width = inputs[0]->width;
  std::vector<double> mean(width), products(width * width);
  double count = 0, diagonal = 0;
  for (const Matrix* input : inputs) {
    count += input->rows;
    for (size_t i = 0; i < input->values.size(); ++i) mean[i % width] += input->values[i];
  }
  for (double& m : mean) m = centered ? m / count : 0;
  for (const Matrix* input : inputs) {
    for (uint32_t r = 0; r < input->rows; ++r) {
      for (size_t i = 0; i < width; ++i) {
        for (size_t k = 0; k < width; ++k) {
          products[i * width + k] += (input->Row(r)[i] - mean[i]) * (input->Row(r)[k] - mean[k]) / count;
        }
      }
    }
  }
  for (size_t i = 0; i < width; ++i) diagonal += products[i * width + i] / static_cast<double>(width);
  for (size_t i = 0; i < width; ++i) products[i * width + i] += 0.3 * diagonal;
  return products;
}

struct Size {
  uint32_t rows, width;
};
constexpr Size kSizes[] = {{1, 1}, {3, 2}, {17, 33}, {16, 64}, {33, 96}, {5, 130}, {100, 320}};

TEST(Rounding, TheFactorIsThatOfTheProducts) {
  tools::Workers workers(2);
  for (const Size size : kSizes) {
    const Matrix a = Rows(40, size.width, 5), b = Rows(23, size.width, 9);
    for (const bool centered : {false, true}) {
      const tools::RowStatistics statistics = tools::MakeStatistics({&a, &b}, centered, workers);
      const std::vector<double> wanted = Products({&a, &b}, centered);
      const size_t width = size.width;
      double largest = 0;
      for (const double product : wanted) largest = std::max(largest, fabs(product));
      for (size_t i = 0; i < width; ++i) {
        for (size_t k = 0; k < width; ++k) {
          double sum = 0;
          for (size_t j = 0; j <= std::min(i, k); ++j) {
            sum += static_cast<double>(statistics.factor[i * width + j]) * statistics.factor[k * width + j];
          }
          ASSERT_NEAR(sum, wanted[i * width + k], 2e-6 * largest) << width << " at " << i << ", " << k;
        }
      }
    }
  }
}

BlobTensor Encoded(const std::vector<float>& values, Size size, DType type) {
  BlobTensor tensor;
  tensor.type = type;
  tensor.rows = size.rows;
  tensor.width = size.width;
  tools::EncodeTensor(values, tensor);
  return tensor;
}

// Sum over the rows of the error's square in the sense of the products.
double Error(const std::vector<float>& values, const BlobTensor& tensor, const std::vector<double>& products) {
  const std::vector<float> stored = tools::DecodeTensor(tensor);
  double sum = 0;
  for (size_t r = 0; r < tensor.rows; ++r) {
    for (size_t i = 0; i < tensor.width; ++i) {
      for (size_t k = 0; k < tensor.width; ++k) {
        const double a = static_cast<double>(stored[r * tensor.width + i]) - values[r * tensor.width + i];
        const double b = static_cast<double>(stored[r * tensor.width + k]) - values[r * tensor.width + k];
        sum += a * b * products[i * tensor.width + k];
      }
    }
  }
  return sum;
}

TEST(Rounding, ErrorsCancelWhereColumnsGoTogether) {
  tools::Workers workers(2);
  for (const Size size : kSizes) {
    for (const DType type : {DType::kI8, DType::kI4}) {
      if (size.width < 32 || (type == DType::kI4 && size.width % 32 != 0)) continue;
      const std::vector<float> values = Random(size.rows * size.width, 3);
      const Matrix rows = Rows(200, size.width, 7);
      const std::vector<double> products = Products({&rows}, true);
      BlobTensor tensor = Encoded(values, size, type);
      const std::vector<uint8_t> scales = tensor.scales;
      const double nearest = Error(values, tensor, products);
      tools::RoundWeights(values, tools::MakeStatistics({&rows}, true, workers), tensor, workers);
      EXPECT_LT(Error(values, tensor, products), 0.6 * nearest) << size.width;
      if (type == DType::kI8) {
        EXPECT_EQ(tensor.scales, scales);
      }
      EXPECT_LT(tools::CompareTensors(values, tools::DecodeTensor(tensor)).relative_rms,
                type == DType::kI8 ? 0.02 : 0.3);
    }
  }
}

// A block's scale that fits what the blocks after it left serves better than the one that fits its own values.
TEST(Rounding, ScalesOfBlocksFitWhatIsBestAfterOthers) {
  tools::Workers workers(2);
  const Size size = {100, 320};
  const std::vector<float> values = Random(size.rows * size.width, 3);
  const Matrix rows = Rows(200, size.width, 7);
  const std::vector<double> products = Products({&rows}, true);
  const tools::RowStatistics statistics = tools::MakeStatistics({&rows}, true, workers);
  BlobTensor fitted = Encoded(values, size, DType::kI4);
  const std::vector<uint8_t> first_scales = fitted.scales;
  tools::RoundWeights(values, statistics, fitted, workers);
  EXPECT_NE(fitted.scales, first_scales);
  // The same values rounded to the first scales, column by column in double precision.
  BlobTensor plain = Encoded(values, size, DType::kI4);
  const auto factor = [&](size_t i, size_t k) { return static_cast<double>(statistics.factor[i * size.width + k]); };
  for (size_t r = 0; r < size.rows; ++r) {
    std::vector<double> errors(size.width);
    for (size_t j = size.width; j-- > 0;) {
      double sum = 0;
      for (size_t k = j + 1; k < size.width; ++k) sum += factor(k, j) * errors[k];
      const size_t at = r * size.width + j;
      uint32_t bits = 0;
      memcpy(reinterpret_cast<uint8_t*>(&bits) + 2, &plain.scales[2 * (at / 32)], 2);
      float scale;
      memcpy(&scale, &bits, 4);
      const double steps = std::clamp(std::nearbyint((values[at] - sum / factor(j, j)) / scale), -8.0, 7.0);
      errors[j] = steps * scale - values[at];
      uint8_t& pair = plain.data[at / 2];
      const int nibble = static_cast<int>(steps) + 8;
      pair = static_cast<uint8_t>(at % 2 == 0 ? (pair & 0xf0) | nibble : (pair & 0x0f) | nibble << 4);
    }
  }
  EXPECT_LT(Error(values, fitted, products), 0.97 * Error(values, plain, products));
}

// A block that was of four bits before keeps its scale.
TEST(Rounding, WholeBlocksKeepTheirScale) {
  tools::Workers workers(1);
  const Size size = {9, 96};
  std::vector<float> values = Random(size.rows * size.width, 3);
  for (size_t i = 0; i < values.size(); ++i) {
    if (i / 32 % 3 == 0) values[i] = std::clamp(std::nearbyintf(values[i] * 4), -8.0f, 7.0f) * 0.125f;
  }
  const Matrix rows = Rows(200, size.width, 7);
  BlobTensor tensor = Encoded(values, size, DType::kI4);
  const std::vector<uint8_t> scales = tensor.scales;
  tools::RoundWeights(values, tools::MakeStatistics({&rows}, true, workers), tensor, workers);
  size_t differ = 0;
  for (size_t block = 0; block < scales.size() / 2; ++block) {
    const bool same = memcmp(&tensor.scales[2 * block], &scales[2 * block], 2) == 0;
    if (block % 3 == 0) {
      EXPECT_TRUE(same) << block;
    }
    differ += !same;
  }
  EXPECT_GT(differ, 0u);
}

// Uncorrelated columns.
TEST(Rounding, IsToTheNearestWhereColumnsAreIndependent) {
  tools::Workers workers(2);
  for (const Size size : kSizes) {
    for (const DType type : {DType::kI8, DType::kI4}) {
      if (type == DType::kI4 && size.width % 32 != 0) continue;
      const std::vector<float> values = Random(size.rows * size.width, 3);
      Matrix unit{size.width, size.width, std::vector<float>(size.width * size.width)};
      for (size_t i = 0; i < size.width; ++i) unit.values[i * size.width + i] = 2;
      BlobTensor tensor = Encoded(values, size, type);
      const std::vector<uint8_t> nearest = tensor.data;
      tools::RoundWeights(values, tools::MakeStatistics({&unit}, false, workers), tensor, workers);
      EXPECT_EQ(tensor.data, nearest) << size.width;
      // Rows of zeros add no information either.
      Matrix zeros{3, size.width, std::vector<float>(3 * size.width)};
      tools::RoundWeights(values, tools::MakeStatistics({&zeros}, true, workers), tensor, workers);
      EXPECT_EQ(tensor.data, nearest) << size.width;
    }
  }
}

}  // namespace
}  // namespace fovea::test
