// Structs of the C interface that grow with versions: reads and fills a caller's struct of any version.
#ifndef FOVEA_RUNTIME_BASE_STRUCTS_H_
#define FOVEA_RUNTIME_BASE_STRUCTS_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fovea/types.h"
#include "runtime/base/status.h"

namespace fovea {

inline constexpr char kStructSizeFault[] = "struct_size is not set: set the struct to zero, struct_size to its sizeof";

// Whether a struct of some version can have this size. Call it before reading or writing the struct: if the caller did
// not initialise it, struct_size is any number.
constexpr bool IsStructSize(size_t size) {
  return size >= sizeof(size_t) && size <= FOVEA_STRUCT_SIZE_MAX && size % alignof(size_t) == 0;
}

// The same for a struct in which the library reads and writes fields up to that size.
template <typename T>
Status CheckStructSize(const T& given, Reporter& reporter, size_t least = sizeof(size_t)) {
  static_assert(sizeof(T) <= FOVEA_STRUCT_SIZE_MAX, "");
  if (IsStructSize(given.struct_size) && given.struct_size >= least) return kOk;
  return reporter.Fail(FOVEA_E_STRUCT_SIZE, kStructSizeFault, sizeof(T), given.struct_size);
}

// Whether the fields unknown to this version are zero. *at: offset of the first byte that is not.
template <typename T>
bool TailIsZero(const T* given, size_t* at) {
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(given);
  for (*at = sizeof(T); *at < given->struct_size; ++*at) {
    if (bytes[*at] != 0) return false;
  }
  return true;
}

// Reads a caller's struct of any version: fields that it lacks become zero, newer fields must be zero.
template <typename T>
Status ReadStruct(const T* given, T* options, Reporter& reporter) {
  *options = T();
  options->struct_size = sizeof(T);
  if (given == nullptr) return kOk;
  const size_t size = given->struct_size;
  FOVEA_TRY(CheckStructSize(*given, reporter));
  size_t at;
  if (!TailIsZero(given, &at)) {
    return reporter.Fail(FOVEA_E_STRUCT_SIZE, "an option is newer than this library: zero it", sizeof(T), size, at);
  }
  memcpy(static_cast<void*>(options), given, size < sizeof(T) ? size : sizeof(T));
  options->struct_size = sizeof(T);
  return kOk;
}

// Fills a caller's struct of any version: the fields that it has; newer ones become zero.
template <typename T>
fovea_status WriteStruct(T values, T* out) {
  if (out == nullptr) return FOVEA_E_NULL;
  const size_t size = out->struct_size;
  if (!IsStructSize(size)) return FOVEA_E_STRUCT_SIZE;
  values.struct_size = size;
  memset(static_cast<void*>(out), 0, size);
  memcpy(static_cast<void*>(out), &values, size < sizeof(T) ? size : sizeof(T));
  return FOVEA_OK;
}

// An array of the caller's structs; the element size is that of the caller's version.
template <typename T>
struct Structs {
  const T& operator[](uint32_t i) const {
    return *reinterpret_cast<const T*>(reinterpret_cast<const uint8_t*>(first) + i * first->struct_size);
  }
  const T* first;
};

// All elements have the size of the first, which is at least `least`.
template <typename T>
Status CheckStructs(const T* first, uint32_t count, const char* null, const char* wrong, Reporter& reporter,
                    size_t least = sizeof(T)) {
  if (first == nullptr && count != 0) return reporter.Fail(FOVEA_E_NULL, null);
  for (uint32_t i = 0; i < count; ++i) {
    const T& given = Structs<T>{first}[i];
    const size_t size = given.struct_size;
    FOVEA_TRY(CheckStructSize(given, reporter));
    if (size < least || size % alignof(T) != 0 || size != first->struct_size) {
      return reporter.Fail(FOVEA_E_STRUCT_SIZE, wrong, sizeof(T), size, i);
    }
  }
  return kOk;
}

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BASE_STRUCTS_H_
