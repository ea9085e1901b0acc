// Products of bytes in one instruction of 64-bit Arm, in code that is compiled for every Arm and chosen at run time.
//
// The instructions are written as encodings, into which the assembler puts the numbers of registers. By name, gcc's
// assembler accepts them only with -march, which holds for a whole file; a function with a target attribute cannot
// inline functions compiled for features that it lacks (-march=armv8-a+crypto); and clang declares the intrinsics only
// with -march before version 16.
#ifndef FOVEA_RUNTIME_KERNELS_DOT_ARM_INL_H_
#define FOVEA_RUNTIME_KERNELS_DOT_ARM_INL_H_

#if defined(__aarch64__)
#include <arm_neon.h>

#include "hwy/base.h"

namespace fovea {
namespace arm {

// Defines .Lfovea_v0 as 0 and so on: an operand is printed as the name of its register.
#define FOVEA_REGISTER_NUMBERS                                                                       \
  ".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t" \
  ".equ .Lfovea_v\\n,\\n\n\t"                                                                        \
  ".endr\n\t"

// Multiplications by a 32-bit lane of their second operand.
constexpr uint32_t kFmlaByLane = 0x4f801000u, kSdotByLane = 0x4f80e000u, kBfdotByLane = 0x4f40f000u;
constexpr uint32_t ByLane(uint32_t instruction, uint32_t lane) {
  return instruction | (lane & 1) << 21 | (lane >> 1) << 11;
}
constexpr uint32_t kSdot = 0x4e809400u;  // four bytes of each lane with four bytes of the same lane

// Adds a product of b and c to `sum`: vector register numbers at bits 0, 5 and 16 of the instruction. `volatile` keeps
// products in the order of the source: in gcc's order, six rows of sums would not stay in registers.
template <uint32_t kInstruction, class Sum, class Operand>
HWY_INLINE Sum AddProduct(Sum sum, Operand b, Operand c) {
  __asm__ volatile(FOVEA_REGISTER_NUMBERS ".inst %c3 | .Lfovea_%0 | .Lfovea_%1 << 5 | .Lfovea_%2 << 16"
                   : "+w"(sum)
                   : "w"(b), "w"(c), "i"(kInstruction));
  return sum;
}

// SDOT: adds to each lane of `sum` the products of four bytes of b with the four bytes in lane kLane of c.
template <uint32_t kLane>
HWY_INLINE int32x4_t DotWithLane(int32x4_t sum, int8x16_t b, int8x16_t c) {
  return AddProduct<ByLane(kSdotByLane, kLane)>(sum, b, c);
}

// SMMLA: adds the 2 x 2 products of two rows in b with two rows in c, eight bytes each.
HWY_INLINE int32x4_t MultiplyRows(int32x4_t sum, int8x16_t b, int8x16_t c) {
  return AddProduct<0x4e80a400u>(sum, b, c);
}

}  // namespace arm
}  // namespace fovea
#endif  // __aarch64__

#endif  // FOVEA_RUNTIME_KERNELS_DOT_ARM_INL_H_
