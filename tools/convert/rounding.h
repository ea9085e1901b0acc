// Rounds weights to integers with regard to the rows that they are multiplied with.
#ifndef FOVEA_TOOLS_CONVERT_ROUNDING_H_
#define FOVEA_TOOLS_CONVERT_ROUNDING_H_

#include <vector>

#include "tools/base/workers.h"
#include "tools/blob/blob.h"
#include "tools/model/session.h"

namespace fovea::tools {

// Second-order statistics of the rows of a layer's input.
struct RowStatistics {
  std::vector<double> mean;
  // L in row-major order, as wide as the mean: L L^T is the matrix of mean products of columns (less the products of
  // means, if `centered`), with a share of its mean diagonal added to the diagonal as regularization, since the rows
  // are only samples. Only the lower triangle is used.
  std::vector<float> factor;
};
// Bits do not depend on the number of workers.
RowStatistics MakeStatistics(const std::vector<const Matrix*>& inputs, bool centered, Workers& workers);

// Rounds the values of an int8 or int4 tensor that has its scales again: not each to the nearest, but so that the
// errors of a row together change the layer's output little. Columns are processed from last to first; each value is
// corrected for the errors so far and then rounded. (The columnwise method of optimal brain quantization, with the
// factor of the matrix itself.) int8 keeps its scales; an int4 block gets a new scale that fits its corrected values,
// unless its values are exact multiples of the former scale. Bits do not depend on the number of workers.
void RoundWeights(const std::vector<float>& values, const RowStatistics& statistics, BlobTensor& tensor,
                  Workers& workers);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ROUNDING_H_
