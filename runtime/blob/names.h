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

// NamesOf<Enum>::list: every member with its name, in the order of its list. For OpCode it is in op_names.h, for
// Attribute in attribute_names.h.
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
#include "runtime/blob/record_enum_list.inc"
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
