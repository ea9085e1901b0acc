// Matrix products (GEMM) with a fixed order of summation.
#ifndef FOVEA_TOOLS_CONVERT_PRODUCT_H_
#define FOVEA_TOOLS_CONVERT_PRODUCT_H_

#include <stddef.h>

namespace fovea::tools {

// Rows of a matrix at a distance of `stride` numbers; a negative stride goes backwards.
struct StridedRows {
  const float* data;
  ptrdiff_t stride;
};

// c[i, k] += sum over d of a[d, i] * sign * b[d, k], where sign is 1 or -1; a has `depth` rows of `rows` numbers, b as
// many of `columns`, and c `rows` rows of `columns`, at a distance of `stride` numbers.
//
// Terms are added to each element one by one from the first row on, with each product and each sum rounded to float:
// the result has the bits of the plain loop, regardless of the processor and of how a product is split.
void AddProduct(StridedRows a, float sign, StridedRows b, size_t depth, size_t rows, size_t columns, float* c,
                size_t stride);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_PRODUCT_H_
