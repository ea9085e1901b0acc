// Structs of the C interface that begin with their size.
#ifndef FOVEA_TOOLS_BASE_SIZED_H_
#define FOVEA_TOOLS_BASE_SIZED_H_

namespace fovea::tools {

// Zeroed, with struct_size set.
template <typename T>
T Sized() {
  T value = {};
  value.struct_size = sizeof(T);
  return value;
}

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_SIZED_H_
