// The name of each attribute, for NameOf and NamesOf of names.h.
#ifndef FOVEA_RUNTIME_BLOB_ATTRIBUTE_NAMES_H_
#define FOVEA_RUNTIME_BLOB_ATTRIBUTE_NAMES_H_

#include "runtime/blob/attributes.h"
#include "runtime/blob/names.h"

namespace fovea {

template <>
struct NamesOf<Attribute> {
  using Number = Attribute;
  static constexpr Named<Attribute> list[] = {
#define FOVEA_ATTRIBUTE(number, name, Name, type) {Number::k##Name, #name},
#include "runtime/blob/attribute_list.inc"
#undef FOVEA_ATTRIBUTE
  };
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BLOB_ATTRIBUTE_NAMES_H_
