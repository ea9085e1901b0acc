#include "tools/convert/encoder.h"

#include <utility>

namespace fovea::tools {
namespace {

DType TypeOf(Shortest shortest, DType wanted) {
  if (wanted == DType::kF32) return wanted;
  switch (shortest) {
    case Shortest::kF32:
      return DType::kF32;
    case Shortest::kF16:
      return DType::kF16;
    case Shortest::kInt8:
      return wanted == DType::kI4 ? DType::kI8 : wanted;
    case Shortest::kAny:
      break;
  }
  return wanted;
}

}  // namespace

std::vector<DType> TypesFor(const Resolved& model, DType wanted) {
  std::vector<DType> types;
  for (size_t i = 0; i < model.content.tensors.size(); ++i) {
    const bool whole = model.content.tensors[i].type == DType::kI32;
    types.push_back(whole ? DType::kI32 : TypeOf(model.shortest[i], wanted));
  }
  return types;
}

TensorReport Encode(const Resolved& model, size_t index, DType asked, BlobTensor& tensor, Workers& workers) {
  const Constant& constant = model.constants[index];
  const std::vector<float> values = constant.load();
  tensor.type = StorableType(asked, values, tensor.width);
  EncodeTensor(values, tensor, constant.hides, &workers);
  TensorReport report = {
      tensor.name,          tensor.type, tensor.rows, tensor.width, tensor.data.size() + tensor.scales.size(),
      tensor.type != asked, {}};
  if (tensor.type != DType::kF32 && tensor.type != DType::kI32) {
    report.error = CompareTensors(values, DecodeTensor(tensor, &workers));
  }
  return report;
}

EncodedTensors EncodeAll(const Resolved& model, const TensorMaker& make, const Progress& progress) {
  EncodedTensors all;
  all.tensors = model.content.tensors;
  for (size_t i = 0; i < all.tensors.size(); ++i) {
    if (progress) progress("quantize", all.tensors[i].name, i, all.tensors.size());
    all.reports.push_back(make(i, all.tensors[i]));
  }
  if (progress) progress("quantize", "", all.tensors.size(), all.tensors.size());
  return all;
}

EncodedTensors EncodeAll(const Resolved& model, const std::vector<DType>& types, Workers& workers,
                         const Progress& progress) {
  const auto make = [&](size_t i, BlobTensor& tensor) { return Encode(model, i, types[i], tensor, workers); };
  return EncodeAll(model, make, progress);
}

}  // namespace fovea::tools
