/* fovea/version.h - which library this is. */
#ifndef FOVEA_VERSION_H_
#define FOVEA_VERSION_H_

#include "fovea/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FOVEA_VERSION_MAJOR 0
#define FOVEA_VERSION_MINOR 1
#define FOVEA_VERSION_PATCH 0

/* "0.1.0"; static. */
FOVEA_API const char* fovea_version(void);
/* The SIMD target that kernels use on this machine ("AVX3_DL", "NEON", ..); static. */
FOVEA_API const char* fovea_simd_target(void);
/* The newest blob format this library reads. */
FOVEA_API uint32_t fovea_blob_version(void);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_VERSION_H_ */
