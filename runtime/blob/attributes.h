// The number and the type of each attribute of operations.
#ifndef FOVEA_RUNTIME_BLOB_ATTRIBUTES_H_
#define FOVEA_RUNTIME_BLOB_ATTRIBUTES_H_

#include <stdint.h>

namespace fovea {

enum class AttributeType : uint32_t {
  kU32,
  kF32,
  kFlag,  // 0 or 1
  kEnum,  // a number of enum_list.inc
};
enum class Attribute : uint32_t {
#define FOVEA_ATTRIBUTE(number, name, Name, type) k##Name = number,
#include "runtime/blob/attribute_list.inc"
#undef FOVEA_ATTRIBUTE
};

// kU32 for a number that is unknown.
constexpr AttributeType TypeOf(Attribute key) {
  switch (key) {
#define FOVEA_ATTRIBUTE(number, name, Name, type) \
  case Attribute::k##Name:                        \
    return AttributeType::k##type;
#include "runtime/blob/attribute_list.inc"
#undef FOVEA_ATTRIBUTE
  }
  return AttributeType::kU32;
}

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BLOB_ATTRIBUTES_H_
