// Names of the numbers of a blob. In a separate file, so that a build can leave them out.
#ifndef FOVEA_RUNTIME_BLOB_NAMES_H_
#define FOVEA_RUNTIME_BLOB_NAMES_H_

#include <stdint.h>

#include "runtime/blob/numbers.h"

namespace fovea {

template <typename Enum>
struct Named {
  Enum number;
  const char* name;
};

// NamesOf<Enum>::list: every member with its name, in the order of enum_list.inc; also for OpCode and Attribute.
template <typename Enum>
struct NamesOf;

#define FOVEA_ENUM_BEGIN(Enum) \
  template <>                  \
  struct NamesOf<Enum> {       \
    using Number = Enum;       \
    static constexpr Named<Enum> list[] = {
#define FOVEA_ENUM(number, name, Name) {Number::k##Name, #name},
#define FOVEA_ENUM_END(Enum) \
  }                          \
  ;                          \
  }                          \
  ;
#include "runtime/blob/enum_list.inc"

#define FOVEA_OP(number, name, Name) FOVEA_ENUM(number, name, Name)
FOVEA_ENUM_BEGIN(OpCode)
#include "runtime/blob/op_list.inc"
FOVEA_ENUM_END(OpCode)
#undef FOVEA_OP

#define FOVEA_ATTRIBUTE(number, name, Name, type) FOVEA_ENUM(number, name, Name)
FOVEA_ENUM_BEGIN(Attribute)
#include "runtime/blob/attribute_list.inc"
FOVEA_ENUM_END(Attribute)
#undef FOVEA_ATTRIBUTE
#undef FOVEA_ENUM_BEGIN
#undef FOVEA_ENUM
#undef FOVEA_ENUM_END

// "unknown" if the number is no member.
template <typename Enum>
const char* NameOf(Enum number) {
  for (const Named<Enum>& member : NamesOf<Enum>::list) {
    if (member.number == number) return member.name;
  }
  return "unknown";
}

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BLOB_NAMES_H_
