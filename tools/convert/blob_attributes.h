// Operations that are about to be written, and their attributes.
#ifndef FOVEA_TOOLS_CONVERT_BLOB_ATTRIBUTES_H_
#define FOVEA_TOOLS_CONVERT_BLOB_ATTRIBUTES_H_

#include <utility>

#include "runtime/blob/attributes.h"
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

// Puts an operation and the value that it makes at the end of a program. Returns the value.
inline uint32_t AppendOperation(BlobOperation operation, const BlobValue& value, BlobProgram& program) {
  operation.output = static_cast<uint32_t>(program.values.size());
  program.values.push_back(value);
  program.operations.push_back(std::move(operation));
  return program.operations.back().output;
}

// No row of an attention sees those after it.
inline bool IsCausal(const BlobOperation& attention) {
  return NumberOr(attention, Attribute::kCausal, 0) != 0 || NumberOr(attention, Attribute::kRight, UINT32_MAX) == 0;
}

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_BLOB_ATTRIBUTES_H_
