// XNNPACK's kernels for lesser x86 processors than this one. Where FOVEA_X86_LEVEL names a level, XNNPACK detects no
// more than that: the library's detection (runtime/gemm/xnnpack_cpuinfo.cc) is compiled once more, with a CPUID that
// clears bits, and the linker takes this copy before the library's.
#if defined(FOVEA_WITH_XNNPACK) && defined(__x86_64__)
#include <cpuid.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>

namespace fovea::testing {
namespace {

// One CPUID result: which leaf and which of its four words.
struct Bits {
  uint32_t leaf, subleaf;
  int word;
  uint32_t mask;
};
constexpr uint32_t Bit(int n) { return uint32_t{1} << n; }
constexpr Bits kSse4 = {1, 0, 2, Bit(9) | Bit(19)};  // with SSSE3
constexpr Bits kAvx = {1, 0, 2, Bit(28)};
constexpr Bits kFma = {1, 0, 2, Bit(12) | Bit(29)};  // with F16C
constexpr Bits kAvx2 = {7, 0, 1, Bit(5)};
constexpr Bits kAvxVnni = {7, 1, 0, Bit(4)};
constexpr Bits kAvxVnniInt8 = {7, 1, 3, Bit(4)};
constexpr Bits kAvx512 = {7, 0, 1, Bit(16) | Bit(17) | Bit(30) | Bit(31)};  // F, DQ, BW, VL
constexpr Bits kVnni = {7, 0, 2, Bit(11)};
constexpr Bits kGfni = {7, 0, 2, Bit(1) | Bit(8)};  // with VBMI
constexpr Bits kFp16 = {7, 0, 3, Bit(23)};
constexpr Bits kAmx = {7, 0, 3, Bit(24) | Bit(25)};

// Features that each level adds to the one before, and features that this processor may have beyond its level.
struct Level {
  const char* name;
  Bits needs;
  std::initializer_list<Bits> without;
};
const Level kLevels[] = {
    {"sse2", {}, {kSse4, kAvx, kFma, kAvx2, kAvxVnni, kAvxVnniInt8, kAvx512, kVnni, kGfni, kFp16, kAmx}},
    {"sse4", kSse4, {kAvx, kFma, kAvx2, kAvxVnni, kAvxVnniInt8, kAvx512, kVnni, kGfni, kFp16, kAmx}},
    {"avx", kAvx, {kFma, kAvx2, kAvxVnni, kAvxVnniInt8, kAvx512, kVnni, kGfni, kFp16, kAmx}},
    {"avx2", kAvx2, {kAvxVnni, kAvxVnniInt8, kAvx512, kVnni, kGfni, kFp16, kAmx}},
    {"avxvnni", kAvxVnni, {kAvx512, kVnni, kGfni, kFp16, kAmx}},
    {"avx512", kAvx512, {kAvxVnni, kAvxVnniInt8, kVnni, kGfni, kFp16, kAmx}},
    {"vnni", kVnni, {kAvxVnni, kAvxVnniInt8, kGfni, kFp16, kAmx}},
    {"gfni", kGfni, {kFp16, kAmx}},
    {"amx", kAmx, {}},
};

const Level* ChosenLevel() {
  const char* name = std::getenv("FOVEA_X86_LEVEL");
  for (const Level& level : kLevels) {
    if (name != nullptr && std::string(name) == level.name) return &level;
  }
  return nullptr;
}

bool MachineHas(const Bits& bits) {
  if (bits.mask == 0) return true;
  if (__get_cpuid_max(0, nullptr) < bits.leaf) return false;
  uint32_t words[4];
  __cpuid_count(bits.leaf, bits.subleaf, words[0], words[1], words[2], words[3]);
  return (words[bits.word] & bits.mask) == bits.mask;
}

void AnswerOfLevel(uint32_t leaf, uint32_t subleaf, uint32_t& a, uint32_t& b, uint32_t& c, uint32_t& d) {
  __cpuid_count(leaf, subleaf, a, b, c, d);
  const Level* level = ChosenLevel();
  if (level == nullptr) return;
  uint32_t* const words[] = {&a, &b, &c, &d};
  for (const Bits& bits : level->without) {
    if (bits.leaf == leaf && bits.subleaf == subleaf) *words[bits.word] &= ~bits.mask;
  }
}

}  // namespace
}  // namespace fovea::testing

#undef __cpuid_count
#define __cpuid_count(leaf, subleaf, a, b, c, d) fovea::testing::AnswerOfLevel(leaf, subleaf, a, b, c, d)
#include "runtime/gemm/xnnpack_cpuinfo.cc"

namespace fovea::testing {
namespace {

// The GEMM tests run once more at each level; this one reports tests that ran at another level than requested.
TEST(XnnpackX86Level, IsKnownToThisProcessor) {
  const char* name = std::getenv("FOVEA_X86_LEVEL");
  if (name == nullptr) return;
  const Level* level = ChosenLevel();
  ASSERT_NE(level, nullptr) << "FOVEA_X86_LEVEL is " << name;
  if (!MachineHas(level->needs)) {
    std::printf("NOT TESTED: XNNPACK's kernels, for want of a processor with %s\n", name);
    GTEST_SKIP();
  }
  const auto at_least = [level](const char* least) {
    const Level* other = kLevels;
    while (std::string(other->name) != least) ++other;
    return level >= other;
  };
  EXPECT_EQ(cpuinfo_has_x86_avx(), at_least("avx"));
  EXPECT_EQ(cpuinfo_has_x86_avx512f(), at_least("avx512"));
  EXPECT_EQ(cpuinfo_has_x86_amx_int8(), at_least("amx"));
}

}  // namespace
}  // namespace fovea::testing
#endif  // FOVEA_WITH_XNNPACK && __x86_64__
