// Instructions that not every 64-bit Arm processor has, as the operating system reports them at run time; none on a
// system that is not listed here.
#ifndef FOVEA_RUNTIME_BASE_ARM_EXTENSIONS_H_
#define FOVEA_RUNTIME_BASE_ARM_EXTENSIONS_H_

#if defined(__aarch64__)

#if defined(__linux__)
#include <sys/auxv.h>
#elif defined(__APPLE__)
#include <stddef.h>
#include <sys/sysctl.h>
#endif

namespace fovea {

#if defined(__linux__)
inline bool ArmCapability(unsigned long type, int bit) { return (getauxval(type) >> bit) & 1; }
#define FOVEA_ARM_HAS(linux_word, linux_bit, apple_name) ::fovea::ArmCapability(linux_word, linux_bit)
#elif defined(__APPLE__)
inline bool ArmCapability(const char* name) {
  int value = 0;
  size_t size = sizeof(value);
  return sysctlbyname(name, &value, &size, nullptr, 0) == 0 && value != 0;
}
#define FOVEA_ARM_HAS(linux_word, linux_bit, apple_name) ::fovea::ArmCapability("hw.optional.arm." apple_name)
#else
#define FOVEA_ARM_HAS(linux_word, linux_bit, apple_name) false
#endif

inline bool ArmHasHalfArithmetic() { return FOVEA_ARM_HAS(AT_HWCAP, 9, "FEAT_FP16"); }
inline bool ArmHasHalfVectors() { return FOVEA_ARM_HAS(AT_HWCAP, 10, "FEAT_FP16"); }
inline bool ArmHasDotProduct() { return FOVEA_ARM_HAS(AT_HWCAP, 20, "FEAT_DotProd"); }
inline bool ArmHasBf16() { return FOVEA_ARM_HAS(AT_HWCAP2, 14, "FEAT_BF16"); }
inline bool ArmHasByteMatrices() { return FOVEA_ARM_HAS(AT_HWCAP2, 13, "FEAT_I8MM"); }

#undef FOVEA_ARM_HAS

}  // namespace fovea

#endif  // __aarch64__

#endif  // FOVEA_RUNTIME_BASE_ARM_EXTENSIONS_H_
