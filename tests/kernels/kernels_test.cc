// The table of all kernels is the getters' results under their names.
#include "runtime/kernels/kernels.h"

#include "tests/kernels/kernel_test_util.h"

namespace fovea {
namespace {

TEST(Kernels, TableHoldsThisTargetsKernels) {
  ForEachTarget([] {
    const Kernels k = GetKernels();
    EXPECT_EQ(k.elementwise.add, GetElementwiseKernels().add);
    EXPECT_EQ(k.norm.layer_norm, GetNormKernels().layer_norm);
    EXPECT_EQ(k.softmax.softmax, GetSoftmaxKernels().softmax);
  });
}

}  // namespace
}  // namespace fovea
