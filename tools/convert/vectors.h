// Vectors of floats for hot loops: 16 bytes on any processor, 32 where supported. The runtime uses Highway instead;
// its quotients are approximate on 32-bit Arm, but a blob must have the same bytes wherever it is made.
#ifndef FOVEA_TOOLS_CONVERT_VECTORS_H_
#define FOVEA_TOOLS_CONVERT_VECTORS_H_

#include <stddef.h>
#include <string.h>

namespace fovea::tools {

// Compilers apply operators to these element by element, with the same bits as for scalars.
typedef float ShortVector __attribute__((vector_size(16)));
typedef float LongVector __attribute__((vector_size(32)));
constexpr size_t kMostLanes = sizeof(LongVector) / sizeof(float);

// Functions that take the vector as a template parameter are inlined into one with FOVEA_LONG_VECTORS, which must only
// run if HasLongVectors(). Fused multiply-add is not used, since it rounds once less.
#define FOVEA_INLINE inline __attribute__((always_inline))
#if defined(__x86_64__) || defined(__i386__)
#define FOVEA_HAS_LONG_VECTORS
#define FOVEA_LONG_VECTORS __attribute__((target("avx2")))
inline bool HasLongVectors() { return __builtin_cpu_supports("avx2") != 0; }
#endif

template <typename Vector>
FOVEA_INLINE Vector LoadVector(const float* from) {
  Vector vector;
  memcpy(&vector, from, sizeof(vector));
  return vector;
}

template <typename Vector>
FOVEA_INLINE void StoreVector(const Vector& vector, float* to) {
  memcpy(to, &vector, sizeof(vector));
}

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_VECTORS_H_
