// Answers XNNPACK's questions about the CPU directly from the machine. XNNPACK asks once per process.
#include <cpuinfo.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include "runtime/base/arm_extensions.h"
#elif defined(__linux__) && defined(__arm__)
#include <sys/auxv.h>
#endif

namespace {
constexpr cpuinfo_core kCore = {cpuinfo_uarch_unknown};
constexpr cpuinfo_uarch_info kUarch = {cpuinfo_uarch_unknown};
}  // namespace

bool cpuinfo_initialize(void) { return true; }
const cpuinfo_core* cpuinfo_get_core(uint32_t) { return &kCore; }
const cpuinfo_uarch_info* cpuinfo_get_uarch(uint32_t index) { return index == 0 ? &kUarch : nullptr; }

#if defined(__x86_64__) || defined(__i386__)

namespace {

enum Register { kEax, kEbx, kEcx, kEdx };

bool Cpuid(uint32_t leaf, uint32_t subleaf, Register reg, int bit) {
  uint32_t regs[4];
  if (__get_cpuid_max(0, nullptr) < leaf) return false;
  __cpuid_count(leaf, subleaf, regs[kEax], regs[kEbx], regs[kEcx], regs[kEdx]);
  return (regs[reg] >> bit) & 1;
}

bool Leaf7Subleaf1(Register reg, int bit) {
  uint32_t last, b, c, d;
  if (__get_cpuid_max(0, nullptr) < 7) return false;
  __cpuid_count(7, 0, last, b, c, d);
  return last >= 1 && Cpuid(7, 1, reg, bit);
}

// Whether the operating system saves these register sets (bits of XCR0) on a context switch.
bool SystemSaves(uint32_t sets) {
  if (!Cpuid(1, 0, kEcx, 27)) return false;
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & sets) == sets;
}
bool SavesAvx() { return SystemSaves(0x6); }
bool SavesAvx512() { return SystemSaves(0xe6); }
#if !defined(_WIN32)
bool SavesAmx() { return SystemSaves(0x60000); }
#endif

}  // namespace

bool cpuinfo_has_x86_sse2(void) { return Cpuid(1, 0, kEdx, 26); }
bool cpuinfo_has_x86_ssse3(void) { return Cpuid(1, 0, kEcx, 9); }
bool cpuinfo_has_x86_sse4_1(void) { return Cpuid(1, 0, kEcx, 19); }
bool cpuinfo_has_x86_avx(void) { return SavesAvx() && Cpuid(1, 0, kEcx, 28); }
bool cpuinfo_has_x86_f16c(void) { return SavesAvx() && Cpuid(1, 0, kEcx, 29); }
bool cpuinfo_has_x86_fma3(void) { return SavesAvx() && Cpuid(1, 0, kEcx, 12); }
bool cpuinfo_has_x86_avx2(void) { return SavesAvx() && Cpuid(7, 0, kEbx, 5); }
bool cpuinfo_has_x86_avxvnni(void) { return SavesAvx() && Leaf7Subleaf1(kEax, 4); }
bool cpuinfo_has_x86_avx_vnni_int8(void) { return SavesAvx() && Leaf7Subleaf1(kEdx, 4); }
bool cpuinfo_has_x86_gfni(void) { return Cpuid(7, 0, kEcx, 8); }
bool cpuinfo_has_x86_avx512f(void) { return SavesAvx512() && Cpuid(7, 0, kEbx, 16); }
bool cpuinfo_has_x86_avx512dq(void) { return SavesAvx512() && Cpuid(7, 0, kEbx, 17); }
bool cpuinfo_has_x86_avx512bw(void) { return SavesAvx512() && Cpuid(7, 0, kEbx, 30); }
bool cpuinfo_has_x86_avx512vl(void) { return SavesAvx512() && Cpuid(7, 0, kEbx, 31); }
bool cpuinfo_has_x86_avx512vbmi(void) { return SavesAvx512() && Cpuid(7, 0, kEcx, 1); }
bool cpuinfo_has_x86_avx512vnni(void) { return SavesAvx512() && Cpuid(7, 0, kEcx, 11); }
bool cpuinfo_has_x86_avx512fp16(void) { return SavesAvx512() && Cpuid(7, 0, kEdx, 23); }
#if defined(_WIN32)
// Windows lets a process use AMX only after the program has asked it to, which is not for a library to do.
bool cpuinfo_has_x86_amx_int8(void) { return false; }
#else
bool cpuinfo_has_x86_amx_int8(void) { return SavesAmx() && Cpuid(7, 0, kEdx, 24) && Cpuid(7, 0, kEdx, 25); }
#endif

#elif defined(__aarch64__)

bool cpuinfo_has_arm_v6(void) { return true; }
bool cpuinfo_has_arm_vfpv2(void) { return true; }
bool cpuinfo_has_arm_vfpv3(void) { return true; }
bool cpuinfo_has_arm_neon(void) { return true; }
bool cpuinfo_has_arm_neon_fp16(void) { return true; }
bool cpuinfo_has_arm_neon_fma(void) { return true; }
bool cpuinfo_has_arm_neon_v8(void) { return true; }
bool cpuinfo_has_arm_fp16_arith(void) { return fovea::ArmHasHalfArithmetic(); }
bool cpuinfo_has_arm_neon_fp16_arith(void) { return fovea::ArmHasHalfVectors(); }
bool cpuinfo_has_arm_neon_dot(void) { return fovea::ArmHasDotProduct(); }
bool cpuinfo_has_arm_neon_bf16(void) { return fovea::ArmHasBf16(); }
bool cpuinfo_has_arm_i8mm(void) { return fovea::ArmHasByteMatrices(); }
// XNNPACK has kernels for these only with a library that this build leaves out.
bool cpuinfo_has_arm_sve(void) { return false; }
bool cpuinfo_has_arm_sve2(void) { return false; }
bool cpuinfo_has_arm_sme(void) { return false; }
bool cpuinfo_has_arm_sme2(void) { return false; }

#elif defined(__arm__) && defined(__linux__)

namespace {
bool Hwcap(int bit) { return (getauxval(AT_HWCAP) >> bit) & 1; }
bool Hwcap2(int bit) { return (getauxval(AT_HWCAP2) >> bit) & 1; }
}  // namespace

bool cpuinfo_has_arm_v6(void) { return __ARM_ARCH >= 6; }
bool cpuinfo_has_arm_vfpv2(void) { return Hwcap(6); }
bool cpuinfo_has_arm_vfpv3(void) { return Hwcap(13); }
bool cpuinfo_has_arm_neon(void) { return Hwcap(12); }
bool cpuinfo_has_arm_neon_fp16(void) { return cpuinfo_has_arm_neon_fma(); }  // every VFPv4 has half conversions
bool cpuinfo_has_arm_neon_fma(void) { return Hwcap(12) && Hwcap(16); }
bool cpuinfo_has_arm_neon_v8(void) { return Hwcap(12) && Hwcap2(4); }  // CRC32, which only ARMv8 cores have
bool cpuinfo_has_arm_fp16_arith(void) { return Hwcap(22); }
bool cpuinfo_has_arm_neon_fp16_arith(void) { return Hwcap(23); }
bool cpuinfo_has_arm_neon_dot(void) { return Hwcap(24); }
bool cpuinfo_has_arm_neon_bf16(void) { return Hwcap(26); }
bool cpuinfo_has_arm_i8mm(void) { return Hwcap(27); }

#endif
