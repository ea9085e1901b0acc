// The tensors of a model as a blob stores them.
#ifndef FOVEA_TOOLS_CONVERT_ENCODER_H_
#define FOVEA_TOOLS_CONVERT_ENCODER_H_

#include <stddef.h>

#include <functional>
#include <vector>

#include "tools/base/workers.h"
#include "tools/convert/convert.h"
#include "tools/convert/resolve.h"

namespace fovea::tools {

// The type of each tensor if `wanted` is requested for all: tensors that need more bits get a longer type.
std::vector<DType> TypesFor(const Resolved& model, DType wanted);

// Makes a tensor of name, rows and width as one of such a type, or of the one that can hold it (StorableType).
TensorReport Encode(const Resolved& model, size_t index, DType asked, BlobTensor& tensor, Workers& workers);

// Makes tensor `index` of a model so.
using TensorMaker = std::function<TensorReport(size_t index, BlobTensor& tensor)>;

// All tensors of a model, and what storing them so cost.
struct EncodedTensors {
  std::vector<BlobTensor> tensors;
  std::vector<TensorReport> reports;
};
EncodedTensors EncodeAll(const Resolved& model, const TensorMaker& make, const Progress& progress);
EncodedTensors EncodeAll(const Resolved& model, const std::vector<DType>& types, Workers& workers,
                         const Progress& progress);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ENCODER_H_
