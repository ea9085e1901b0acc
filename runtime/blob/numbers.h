// Enumerations of the numbers in a blob, made from the lists in this folder. Every folder may include it.
#ifndef FOVEA_RUNTIME_BLOB_NUMBERS_H_
#define FOVEA_RUNTIME_BLOB_NUMBERS_H_

#include <stdint.h>

namespace fovea {

#define FOVEA_ENUM_BEGIN(Enum) enum class Enum : uint32_t {
#define FOVEA_ENUM(number, name, Name) k##Name = number,
#define FOVEA_ENUM_END(Enum) \
  }                          \
  ;
#include "runtime/blob/enum_list.inc"
#undef FOVEA_ENUM_BEGIN
#undef FOVEA_ENUM
#undef FOVEA_ENUM_END

// k<Enum>Count: the number of members of an enumeration; CountOf returns it for the type of its argument.
#define FOVEA_ENUM_BEGIN(Enum)      \
  constexpr uint32_t CountOf(Enum); \
  inline constexpr uint32_t k##Enum##Count = 0
#define FOVEA_ENUM(number, name, Name) +1
#define FOVEA_ENUM_END(Enum) \
  ;                          \
  constexpr uint32_t CountOf(Enum) { return k##Enum##Count; }
#include "runtime/blob/enum_list.inc"
#undef FOVEA_ENUM_BEGIN
#undef FOVEA_ENUM
#undef FOVEA_ENUM_END

// Whether a number read from a blob is a member.
#define FOVEA_ENUM_BEGIN(Enum)      \
  constexpr bool IsMember(Enum e) { \
    switch (static_cast<uint32_t>(e)) {
#define FOVEA_ENUM(number, name, Name) case number:
#define FOVEA_ENUM_END(Enum) \
  return true;               \
  default:                   \
    return false;            \
    }                        \
    }
#include "runtime/blob/enum_list.inc"
#undef FOVEA_ENUM_BEGIN
#undef FOVEA_ENUM
#undef FOVEA_ENUM_END

enum class OpCode : uint32_t {
#define FOVEA_OP(number, name, Name) k##Name = number,
#include "runtime/blob/op_list.inc"
#undef FOVEA_OP
};

enum class AttributeType : uint32_t {
  kU32,
  kF32,
  kFlag,  // 0 or 1
  kEnum,  // a member of an enumeration in enum_list.inc
};
enum class Attribute : uint32_t {
#define FOVEA_ATTRIBUTE(number, name, Name, type) k##Name = number,
#include "runtime/blob/attribute_list.inc"
#undef FOVEA_ATTRIBUTE
};

// The type of an attribute's value; kU32 for an unknown key.
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

#endif  // FOVEA_RUNTIME_BLOB_NUMBERS_H_
