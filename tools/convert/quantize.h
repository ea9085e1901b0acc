// From f32 values to the bytes of a tensor in a blob, and back.
#ifndef FOVEA_TOOLS_CONVERT_QUANTIZE_H_
#define FOVEA_TOOLS_CONVERT_QUANTIZE_H_

#include <vector>

#include "tools/blob/blob.h"

namespace fovea::tools {

class Workers;

// What storing a tensor as it is stored cost.
struct QuantizationError {
  double max_abs = 0;
  double relative_rms = 0;  // root of (sum of squared errors / sum of squares)
};

// The type in which rows of this width can be stored if `wanted` is asked for: int4 needs whole blocks, else it is
// int8; a value too large for f16 leaves all in f32.
DType StorableType(DType wanted, const std::vector<float>& values, uint32_t width);

// Of a block of int4 the scale, as it is stored, of the smallest sum of squared errors among a few; `weights` of these
// may be null.
float BestInt4Scale(const float* block, const float* weights);
// One of which all its values are whole numbers from -8 to 7, as those are that were of four bits before; 0 if there is
// none.
float WholeInt4Scale(const float* block);

// Fills tensor.data and tensor.scales for tensor.type, rows and width. int8 and int4 scales are those of the smallest
// squared error among a few; they are positive and normal. Fails at values that are not finite or, for f16, too large;
// `hides` allows -infinity in f32. Workers, if there are any, share the rows; the bytes are the same.
void EncodeTensor(const std::vector<float>& values, BlobTensor& tensor, bool hides = false, Workers* workers = nullptr);
std::vector<float> DecodeTensor(const BlobTensor& tensor, Workers* workers = nullptr);
QuantizationError CompareTensors(const std::vector<float>& exact, const std::vector<float>& stored);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_QUANTIZE_H_
