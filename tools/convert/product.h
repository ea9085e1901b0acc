// Products of matrices whose every sum is made in one order.
#ifndef FOVEA_TOOLS_CONVERT_PRODUCT_H_
#define FOVEA_TOOLS_CONVERT_PRODUCT_H_

#include <stddef.h>

namespace fovea::tools {

// Rows of a matrix, one every `stride` numbers; a negative stride goes backwards.
struct StridedRows {
  const float* data;
  ptrdiff_t stride;
};

// c[i, k] += sum over d of a[d, i] * sign * b[d, k], where sign is 1 or -1, a has `depth` rows of `rows` numbers, b as
// many of `columns`, and c `rows` of `columns`, one every `stride` numbers.
//
// To each element terms are added one by one from the first row on, each product and each sum rounded to a float: the
// result has the bits of the plain loop, whatever the processor, and however a product is cut into several.
void AddProduct(StridedRows a, float sign, StridedRows b, size_t depth, size_t rows, size_t columns, float* c,
                size_t stride);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_PRODUCT_H_
