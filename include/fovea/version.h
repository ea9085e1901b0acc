/* fovea/version.h - version of the library, and the SIMD level it uses. */
#ifndef FOVEA_VERSION_H_
#define FOVEA_VERSION_H_

#include "fovea/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FOVEA_VERSION_MAJOR 0
#define FOVEA_VERSION_MINOR 1
#define FOVEA_VERSION_PATCH 0

/* Returns the version of the linked library, "0.1.0"; static. */
FOVEA_API const char* fovea_version(void);

/* Returns Highway's name of the SIMD target that kernels use on this machine: "NEON"; "AVX3_DL" for AVX-512 VNNI;
 * static. */
FOVEA_API const char* fovea_simd_target(void);

/* Returns the newest blob format that this library reads. */
FOVEA_API uint32_t fovea_blob_version(void);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_VERSION_H_ */
