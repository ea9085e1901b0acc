// Operations under construction, with their attributes.
#ifndef FOVEA_TOOLS_CONVERT_BLOB_ATTRIBUTES_H_
#define FOVEA_TOOLS_CONVERT_BLOB_ATTRIBUTES_H_

#include <utility>

#include "runtime/blob/attributes.h"
#include "runtime/blob/operands.h"
#include "tools/blob/blob.h"

namespace fovea::tools {

inline uint32_t NumberOr(const BlobOperation& operation, Attribute key, uint32_t absent) {
  for (const AttributeRecord& attribute : operation.attributes) {
    if (attribute.key == static_cast<uint32_t>(key)) return attribute.bits;
  }
  return absent;
}

inline void SetNumber(BlobOperation& operation, Attribute key, uint32_t bits) {
  for (AttributeRecord& attribute : operation.attributes) {
    if (attribute.key == static_cast<uint32_t>(key)) return static_cast<void>(attribute.bits = bits);
  }
  operation.attributes.push_back({static_cast<uint32_t>(key), bits});
}

// Operands by name; an operation may list fewer than there are.
inline uint32_t InputOf(const BlobOperation& operation, InputNumber i) {
  return i.number < operation.inputs.size() ? operation.inputs[i.number] : kBlobNone;
}
inline uint32_t TensorOf(const BlobOperation& operation, TensorNumber i) {
  return i.number < operation.tensors.size() ? operation.tensors[i.number] : kBlobNone;
}
inline bool HasInput(const BlobOperation& operation, InputNumber i) { return InputOf(operation, i) != kBlobNone; }
inline bool HasTensor(const BlobOperation& operation, TensorNumber i) { return TensorOf(operation, i) != kBlobNone; }
inline void SetInput(BlobOperation& operation, InputNumber i, uint32_t value) {
  if (operation.inputs.size() <= i.number) operation.inputs.resize(i.number + 1, kBlobNone);
  operation.inputs[i.number] = value;
}

// Appends an operation and its output value to a program; returns the value.
inline uint32_t AppendOperation(BlobOperation operation, const BlobValue& value, BlobProgram& program) {
  operation.output = static_cast<uint32_t>(program.values.size());
  program.values.push_back(value);
  program.operations.push_back(std::move(operation));
  return program.operations.back().output;
}

// Whether no row of an attention sees later rows.
inline bool IsCausal(const BlobOperation& attention) {
  return NumberOr(attention, Attribute::kCausal, 0) != 0 || NumberOr(attention, Attribute::kRight, UINT32_MAX) == 0;
}

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_BLOB_ATTRIBUTES_H_
