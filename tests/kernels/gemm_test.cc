// int8 products to equal bits on every target; tests/gemm holds all types to a tolerance.
#include "runtime/kernels/gemm.h"

#include <memory>

#include "tests/kernels/kernel_test_util.h"
#include "tests/support/int8_products.h"

namespace fovea {
namespace {

TEST(Gemm, Int8HasTheBitsOfPlainSums) {
  ForEachTarget([] {
    const auto products = std::make_unique<testing::Int8Products>();
    products->Check(GetGemmKernels().i8, [](size_t rows, size_t columns, size_t k, bool bias, size_t r, size_t c) {
      ADD_FAILURE() << "m " << rows << " n " << columns << " k " << k << " bias " << bias << ": row " << r << " column "
                    << c;
    });
  });
}

}  // namespace
}  // namespace fovea
