// Converts f32 values to the bytes of a blob's tensor, and back.
#ifndef FOVEA_TOOLS_CONVERT_QUANTIZE_H_
#define FOVEA_TOOLS_CONVERT_QUANTIZE_H_

#include <vector>

#include "tools/blob/blob.h"

namespace fovea::tools {

class Workers;

// Error of a stored tensor.
struct QuantizationError {
  double max_abs = 0;
  double relative_rms = 0;  // root of (sum of squared errors / sum of squares)
};

// The type for rows of this width if `wanted` is requested: int4 needs whole blocks, else int8; a value too large for
// f16 leaves the tensor in f32.
DType StorableType(DType wanted, const std::vector<float>& values, uint32_t width);

// The scale of an int4 block, as stored, with the smallest sum of squared errors among a few; `weights` of the errors
// can be null.
float BestInt4Scale(const float* block, const float* weights);
// A scale of which all values of a block are multiples by -8 to 7, as for values that were quantized to four bits
// before; 0 if there is none.
float WholeInt4Scale(const float* block);

// Fills tensor.data and tensor.scales for tensor.type, rows and width. int8 and int4 scales minimize the squared error
// among a few candidates; they are positive and normal. Fails if values are not finite, or too large for f16;
// `hides` allows -infinity in f32. Optional workers share the rows; the bytes are the same.
void EncodeTensor(const std::vector<float>& values, BlobTensor& tensor, bool hides = false, Workers* workers = nullptr);
std::vector<float> DecodeTensor(const BlobTensor& tensor, Workers* workers = nullptr);
QuantizationError CompareTensors(const std::vector<float>& exact, const std::vector<float>& stored);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_QUANTIZE_H_
