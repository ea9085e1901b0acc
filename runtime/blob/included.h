// Which members of the format's enumerations a build includes: the ones that its profile lists
// (runtime/base/profile.h). For operations op_names.h is needed as well.
#ifndef FOVEA_RUNTIME_BLOB_INCLUDED_H_
#define FOVEA_RUNTIME_BLOB_INCLUDED_H_

#include "runtime/base/profile.h"
#include "runtime/blob/names.h"

namespace fovea {

// The profile's lines that list members of an enumeration, and the message for a member that is not listed.
struct ProfileLine {
  const char *kind, *lacks;  // kind null: a build has all members
};
template <typename Enum>
inline constexpr ProfileLine kProfileLine = {nullptr, ""};
template <>
inline constexpr ProfileLine kProfileLine<OpCode> = {"operation", "this build's profile lacks the operation"};
template <>
inline constexpr ProfileLine kProfileLine<Activation> = {"activation", "this build's profile lacks the activation"};
template <>
inline constexpr ProfileLine kProfileLine<NormKind> = {"norm", "this build's profile lacks the kind of norm"};
template <>
inline constexpr ProfileLine kProfileLine<PoolKind> = {"pool", "this build's profile lacks the kind of pooling"};
template <>
inline constexpr ProfileLine kProfileLine<CellKind> = {"cell", "this build's profile lacks the kind of cell"};
inline constexpr bool kHasPeepholes = Includes("cell", "peepholes");  // an LSTM's

template <typename Enum>
constexpr uint64_t IncludedMembers() {
  uint64_t included = 0;
  for (const Named<Enum>& member : NamesOf<Enum>::list) {
    if (kProfileLine<Enum>.kind == nullptr || Includes(kProfileLine<Enum>.kind, member.name)) {
      included |= uint64_t{1} << static_cast<uint32_t>(member.number);
    }
  }
  return included;
}

// One bit per number, so that a test needs no names.
template <typename Enum>
inline constexpr uint64_t kIncluded = IncludedMembers<Enum>();
// Without a function an operation has no code.
template <>
inline constexpr uint64_t kIncluded<Activation> = IncludedMembers<Activation>() | 1;

template <typename Enum>
constexpr bool IsIncluded(Enum member) {
  return (kIncluded<Enum> >> static_cast<uint32_t>(member) & 1) != 0;
}

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BLOB_INCLUDED_H_
