// XNNPACK's kernels for lesser x86 processors than this one. Where FOVEA_X86_LEVEL names a level, XNNPACK is told of no
// more: the library's own answers (runtime/gemm/xnnpack_cpuinfo.cc) are compiled once more, with a CPUID that leaves
// bits out, and stand before those of the library.
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

enum Word { kLeaf1C, kLeaf7B, kLeaf7C, kLeaf7D, kLeaf7Sub1A, kLeaf7Sub1D };

struct Bits {
  Word word;
  uint32_t mask;
};
constexpr uint32_t Bit(int n) { return uint32_t{1} << n; }
constexpr Bits kSse4 = {kLeaf1C, Bit(9) | Bit(19)};  // with SSSE3
constexpr Bits kAvx = {kLeaf1C, Bit(28)};
constexpr Bits kFma = {kLeaf1C, Bit(12) | Bit(29)};  // with F16C
constexpr Bits kAvx2 = {kLeaf7B, Bit(5)};
constexpr Bits kAvxVnni = {kLeaf7Sub1A, Bit(4)};
constexpr Bits kAvxVnniInt8 = {kLeaf7Sub1D, Bit(4)};
constexpr Bits kAvx512 = {kLeaf7B, Bit(16) | Bit(17) | Bit(30) | Bit(31)};  // F, DQ, BW, VL
constexpr Bits kVnni = {kLeaf7C, Bit(11)};
constexpr Bits kGfni = {kLeaf7C, Bit(1) | Bit(8)};  // with VBMI
constexpr Bits kFp16 = {kLeaf7D, Bit(23)};
constexpr Bits kAmx = {kLeaf7D, Bit(24) | Bit(25)};

// What a processor has at each level that it has not at the one before, and what this one may have beyond it.
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

uint32_t Machine(Word word) {
  uint32_t a, b, c, d;
  if (word == kLeaf1C) {
    __cpuid_count(1, 0, a, b, c, d);
    return c;
  }
  if (__get_cpuid_max(0, nullptr) < 7) return 0;
  __cpuid_count(7, (word == kLeaf7Sub1A || word == kLeaf7Sub1D) ? 1 : 0, a, b, c, d);
  return word == kLeaf7Sub1A ? a : word == kLeaf7B ? b : word == kLeaf7C ? c : d;
}

void AnswerOfLevel(uint32_t leaf, uint32_t subleaf, uint32_t& a, uint32_t& b, uint32_t& c, uint32_t& d) {
  __cpuid_count(leaf, subleaf, a, b, c, d);
  const Level* level = ChosenLevel();
  if (level == nullptr) return;
  for (const Bits& bits : level->without) {
    if (leaf == 1 && bits.word == kLeaf1C) c &= ~bits.mask;
    if (leaf == 7 && subleaf == 0 && bits.word == kLeaf7B) b &= ~bits.mask;
    if (leaf == 7 && subleaf == 0 && bits.word == kLeaf7C) c &= ~bits.mask;
    if (leaf == 7 && subleaf == 0 && bits.word == kLeaf7D) d &= ~bits.mask;
    if (leaf == 7 && subleaf == 1 && bits.word == kLeaf7Sub1A) a &= ~bits.mask;
    if (leaf == 7 && subleaf == 1 && bits.word == kLeaf7Sub1D) d &= ~bits.mask;
  }
}

}  // namespace
}  // namespace fovea::testing

#undef __cpuid_count
#define __cpuid_count(leaf, subleaf, a, b, c, d) fovea::testing::AnswerOfLevel(leaf, subleaf, a, b, c, d)
#include "runtime/gemm/xnnpack_cpuinfo.cc"

namespace fovea::testing {
namespace {

// The tests of products run once more at each level; this one says which were at another than they were asked for.
TEST(XnnpackX86Level, IsKnownToThisProcessor) {
  const char* name = std::getenv("FOVEA_X86_LEVEL");
  if (name == nullptr) return;
  const Level* level = ChosenLevel();
  ASSERT_NE(level, nullptr) << "FOVEA_X86_LEVEL is " << name;
  if ((Machine(level->needs.word) & level->needs.mask) != level->needs.mask) {
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
