// GEMM of the converter has the bits of the plain loop for any division of the work; rounding has the bits of one
// worker.
#include "tools/convert/product.h"

#include <gtest/gtest.h>
#include <string.h>

#include "tests/support/combinations.h"
#include "tests/support/random_floats.h"
#include "tools/convert/quantize.h"
#include "tools/convert/rounding.h"

namespace fovea::test {
namespace {

struct Shape {
  size_t depth, rows, columns;
};

struct ProductCase {
  Shape shape;
  float sign;
  bool backwards;  // rows of the first factor from the last to the first
};

TEST(Product, HasTheBitsOfThePlainLoop) {
  const std::vector<Shape> shapes = {{1, 1, 1}, {7, 6, 16}, {300, 13, 35}, {257, 5, 270}, {64, 12, 256}, {0, 3, 3}};
  for (const ProductCase& p : Combinations<ProductCase>(shapes, std::vector{1.0f, -1.0f}, kOffAndOn)) {
    const Shape& s = p.shape;
    const size_t wide_a = s.rows + 3, wide_b = s.columns + 2, stride = s.columns + 1;
    const std::vector<float> a = RandomFloats(s.depth * wide_a + 1, 1, 1), b = RandomFloats(s.depth * wide_b + 1, 1, 2);
    std::vector<float> c = RandomFloats(s.rows * stride, 1, 3), wanted = c;
    const size_t last = s.depth == 0 ? 0 : s.depth - 1;
    for (size_t i = 0; i < s.rows; ++i) {
      for (size_t k = 0; k < s.columns; ++k) {
        for (size_t d = 0; d < s.depth; ++d) {
          wanted[i * stride + k] += p.sign * a[(p.backwards ? last - d : d) * wide_a + i] * b[d * wide_b + k];
        }
      }
    }
    const auto step = static_cast<ptrdiff_t>(wide_a);
    tools::AddProduct({p.backwards ? &a[last * wide_a] : a.data(), p.backwards ? -step : step}, p.sign,
                      {b.data(), static_cast<ptrdiff_t>(wide_b)}, s.depth, s.rows, s.columns, c.data(), stride);
    EXPECT_EQ(memcmp(c.data(), wanted.data(), 4 * c.size()), 0) << s.depth << " " << s.rows << " " << s.columns;
  }
}

TEST(Product, RoundingIsTheSameForAnyNumberOfWorkers) {
  const uint32_t width = 320, rows = 301;
  const tools::Matrix read{70, width, RandomFloats(70 * width, 1, 5)};
  const std::vector<float> values = RandomFloats(rows * width, 1, 6);
  std::vector<uint8_t> first;
  for (const uint32_t count : {1u, 2u, 5u}) {
    tools::Workers workers(count);
    tools::BlobTensor tensor;
    tensor.type = DType::kI4;
    tensor.rows = rows;
    tensor.width = width;
    tools::EncodeTensor(values, tensor);
    tools::RoundWeights(values, tools::MakeStatistics({&read}, true, workers), tensor, workers);
    if (first.empty()) first = tensor.data;
    EXPECT_EQ(tensor.data, first) << count;
  }
}

}  // namespace
}  // namespace fovea::test
