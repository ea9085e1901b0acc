// Implements fovea/status.h and fovea/version.h.
#include "fovea/status.h"

#include "fovea/version.h"
#include "hwy/highway.h"
#include "runtime/blob/format.h"

#define FOVEA_STRING(x) #x
#define FOVEA_EXPAND(x) FOVEA_STRING(x)

extern "C" {

const char* fovea_status_name(fovea_status status) {
  switch (status) {
#define FOVEA_NAME(name) \
  case name:             \
    return #name;
    FOVEA_NAME(FOVEA_OK)
    FOVEA_NAME(FOVEA_E_ARGUMENT)
    FOVEA_NAME(FOVEA_E_ORDER)
    FOVEA_NAME(FOVEA_E_BLOB)
    FOVEA_NAME(FOVEA_E_UNSUPPORTED)
    FOVEA_NAME(FOVEA_E_MEMORY)
    FOVEA_NAME(FOVEA_E_LIMIT)
    FOVEA_NAME(FOVEA_E_INPUT)
    FOVEA_NAME(FOVEA_E_CANCELLED)
    FOVEA_NAME(FOVEA_E_INTERNAL)
    FOVEA_NAME(FOVEA_E_NULL)
    FOVEA_NAME(FOVEA_E_STRUCT_SIZE)
    FOVEA_NAME(FOVEA_E_NAME)
    FOVEA_NAME(FOVEA_E_INDEX)
    FOVEA_NAME(FOVEA_E_HANDLE)
    FOVEA_NAME(FOVEA_E_OPTION)
    FOVEA_NAME(FOVEA_E_RUNNER)
    FOVEA_NAME(FOVEA_E_MAGIC)
    FOVEA_NAME(FOVEA_E_TRUNCATED)
    FOVEA_NAME(FOVEA_E_CHECKSUM)
    FOVEA_NAME(FOVEA_E_SECTION)
    FOVEA_NAME(FOVEA_E_RECORD)
    FOVEA_NAME(FOVEA_E_SHAPE)
    FOVEA_NAME(FOVEA_E_TEXT_DATA)
    FOVEA_NAME(FOVEA_E_VERSION)
    FOVEA_NAME(FOVEA_E_OP)
    FOVEA_NAME(FOVEA_E_BUILD)
    FOVEA_NAME(FOVEA_E_TOO_COMPLEX)
    FOVEA_NAME(FOVEA_E_PACKED)
    FOVEA_NAME(FOVEA_E_TOO_SMALL)
    FOVEA_NAME(FOVEA_E_MISALIGNED)
    FOVEA_NAME(FOVEA_E_ROWS)
    FOVEA_NAME(FOVEA_E_SEGMENTS)
    FOVEA_NAME(FOVEA_E_LENGTH)
    FOVEA_NAME(FOVEA_E_CAPACITY)
    FOVEA_NAME(FOVEA_E_ID)
    FOVEA_NAME(FOVEA_E_UTF8)
    FOVEA_NAME(FOVEA_E_EMPTY)
    FOVEA_NAME(FOVEA_E_STATE)
#undef FOVEA_NAME
    case FOVEA_STATUS_MIN:
    case FOVEA_STATUS_MAX:
      break;
  }
  return "unknown status";
}

const char* fovea_version(void) {
  return FOVEA_EXPAND(FOVEA_VERSION_MAJOR) "." FOVEA_EXPAND(FOVEA_VERSION_MINOR) "." FOVEA_EXPAND(FOVEA_VERSION_PATCH);
}

const char* fovea_simd_target(void) {
#if FOVEA_RISCV_VECTORS  // runtime/kernels/riscv: the target EMU128, but not of plain loops
  return "RVV";
#elif HWY_TARGETS == HWY_STATIC_TARGET  // one target: no dispatch, so no code that detects the processor
  return hwy::TargetName(HWY_STATIC_TARGET);
#else
  const int64_t usable = hwy::SupportedTargets() & HWY_TARGETS;
  return hwy::TargetName(usable & -usable);  // better targets have lower bits
#endif
}

uint32_t fovea_blob_version(void) { return fovea::kBlobVersion; }

}  // extern "C"
