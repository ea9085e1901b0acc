// Rounding weights to integers with regard to the rows that they will be multiplied with.
#ifndef FOVEA_TOOLS_CONVERT_ROUNDING_H_
#define FOVEA_TOOLS_CONVERT_ROUNDING_H_

#include <vector>

#include "tools/base/workers.h"
#include "tools/blob/blob.h"
#include "tools/common/session.h"

namespace fovea::tools {

// What many rows of a layer's input have in common.
struct RowStatistics {
  std::vector<double> mean;
  // Row by row, as wide as the mean: L, where L times its transpose is the matrix of the columns' mean products (less
  // those of the means, if `centered`) with a share of the mean of its diagonal added to the diagonal: the rows are
  // samples only, and not to be trusted entirely. Only the triangle up to the diagonal is L's.
  std::vector<float> factor;
};
// The same bits for any number of workers.
RowStatistics MakeStatistics(const std::vector<const Matrix*>& inputs, bool centered, Workers& workers);

// Rounds the values of an int8 or int4 tensor, which has its scales, anew: not each to the nearest, but so that the
// errors of a row, taken together, change the layer's output little. From the last column to the first, each is rounded
// after what the errors so far make it best to be. (The columnwise method of optimal brain quantization, with the
// factor of the matrix itself.) int8 keeps its scales; a block of int4 has a new one, which fits what its values are
// best to be, unless they fit theirs exactly. The same bits for any number of workers.
void RoundWeights(const std::vector<float>& values, const RowStatistics& statistics, BlobTensor& tensor,
                  Workers& workers);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ROUNDING_H_
