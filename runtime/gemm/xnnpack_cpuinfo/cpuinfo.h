// The part of the cpuinfo library's interface that XNNPACK uses. ../xnnpack_cpuinfo.cc implements it with CPUID or the
// kernel's capability words: no allocation, no files, no state. Core models are never distinguished, so that every core
// and every start uses the same kernels and gives the same bits.
#ifndef FOVEA_RUNTIME_GEMM_XNNPACK_CPUINFO_CPUINFO_H_
#define FOVEA_RUNTIME_GEMM_XNNPACK_CPUINFO_CPUINFO_H_

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum cpuinfo_uarch {
  cpuinfo_uarch_unknown,
  // XNNPACK compares with these; no core is ever reported as one.
  cpuinfo_uarch_cortex_a5,
  cpuinfo_uarch_cortex_a7,
  cpuinfo_uarch_cortex_a32,
  cpuinfo_uarch_cortex_a35,
  cpuinfo_uarch_cortex_a53,
  cpuinfo_uarch_cortex_a55,
  cpuinfo_uarch_cortex_a55r0,
  cpuinfo_uarch_cortex_a57,
  cpuinfo_uarch_cortex_a72,
  cpuinfo_uarch_cortex_a73,
  cpuinfo_uarch_cortex_a75,
  cpuinfo_uarch_cortex_a76,
  cpuinfo_uarch_cortex_a77,
  cpuinfo_uarch_cortex_a78,
  cpuinfo_uarch_cortex_a510,
  cpuinfo_uarch_cortex_a710,
  cpuinfo_uarch_cortex_a715,
  cpuinfo_uarch_cortex_x1,
  cpuinfo_uarch_cortex_x2,
  cpuinfo_uarch_cortex_x3,
  cpuinfo_uarch_neoverse_n1,
  cpuinfo_uarch_neoverse_n2,
  cpuinfo_uarch_neoverse_v1,
  cpuinfo_uarch_neoverse_v2,
  cpuinfo_uarch_exynos_m1,
  cpuinfo_uarch_exynos_m2,
  cpuinfo_uarch_exynos_m3,
  cpuinfo_uarch_exynos_m4,
  cpuinfo_uarch_exynos_m5,
  cpuinfo_uarch_krait,
  cpuinfo_uarch_kryo,
  cpuinfo_uarch_zen,
  cpuinfo_uarch_zen4,
  cpuinfo_uarch_dhyana,
};

struct cpuinfo_core {
  enum cpuinfo_uarch uarch;
};
struct cpuinfo_uarch_info {
  enum cpuinfo_uarch uarch;
};

bool cpuinfo_initialize(void);
const struct cpuinfo_core* cpuinfo_get_core(uint32_t index);
// NULL except for index 0: all cores count as one kind.
const struct cpuinfo_uarch_info* cpuinfo_get_uarch(uint32_t index);

bool cpuinfo_has_x86_sse2(void);
bool cpuinfo_has_x86_ssse3(void);
bool cpuinfo_has_x86_sse4_1(void);
bool cpuinfo_has_x86_avx(void);
bool cpuinfo_has_x86_f16c(void);
bool cpuinfo_has_x86_fma3(void);
bool cpuinfo_has_x86_avx2(void);
bool cpuinfo_has_x86_avxvnni(void);
bool cpuinfo_has_x86_avx_vnni_int8(void);
bool cpuinfo_has_x86_gfni(void);
bool cpuinfo_has_x86_avx512f(void);
bool cpuinfo_has_x86_avx512bw(void);
bool cpuinfo_has_x86_avx512dq(void);
bool cpuinfo_has_x86_avx512vl(void);
bool cpuinfo_has_x86_avx512vbmi(void);
bool cpuinfo_has_x86_avx512vnni(void);
bool cpuinfo_has_x86_avx512fp16(void);
bool cpuinfo_has_x86_amx_int8(void);

bool cpuinfo_has_arm_v6(void);
bool cpuinfo_has_arm_vfpv2(void);
bool cpuinfo_has_arm_vfpv3(void);
bool cpuinfo_has_arm_neon(void);
bool cpuinfo_has_arm_neon_fp16(void);
bool cpuinfo_has_arm_neon_fma(void);
bool cpuinfo_has_arm_neon_v8(void);
bool cpuinfo_has_arm_fp16_arith(void);
bool cpuinfo_has_arm_neon_fp16_arith(void);
bool cpuinfo_has_arm_neon_bf16(void);
bool cpuinfo_has_arm_neon_dot(void);
bool cpuinfo_has_arm_i8mm(void);
bool cpuinfo_has_arm_sve(void);
bool cpuinfo_has_arm_sve2(void);
bool cpuinfo_has_arm_sme(void);
bool cpuinfo_has_arm_sme2(void);

#ifdef __cplusplus
}
#endif

#endif  // FOVEA_RUNTIME_GEMM_XNNPACK_CPUINFO_CPUINFO_H_
