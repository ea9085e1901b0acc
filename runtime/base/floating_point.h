// The floating-point arithmetic that the library requires: IEEE 754 single precision without value-changing compiler
// optimisations. A build with another arithmetic is refused here, since it would silently compute different numbers.
// fovea's own CMake build switches these modes off for its objects regardless of the host's flags; this file is for
// sources that are compiled otherwise. Include it before any header that has arithmetic in it.
#ifndef FOVEA_RUNTIME_BASE_FLOATING_POINT_H_
#define FOVEA_RUNTIME_BASE_FLOATING_POINT_H_

// Kernels mask keys with -infinity, pass NaN through, and round by adding and subtracting a large number.
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(_M_FP_FAST)
#error "fovea needs exact floating-point arithmetic: compile it without -ffast-math, -Ofast, their parts and /fp:fast"
#endif

// Intermediate results with more digits than float: x87 registers.
#if defined(__FLT_EVAL_METHOD__) && (__FLT_EVAL_METHOD__ == 2 || __FLT_EVAL_METHOD__ < 0) && \
    (defined(__i386__) || defined(__x86_64__))
#error "fovea needs floats rounded at each step, which x87 registers are not: compile it with -msse2 -mfpmath=sse"
#endif

// clang defines no macro for single parts of -ffast-math; these pragmas switch them off for the rest of the file. clang
// warns of the first one on WebAssembly and 32-bit Arm, where only the second one has an effect.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wignored-pragmas"
#pragma float_control(precise, on)
#pragma clang diagnostic pop
#pragma clang fp contract(off) reassociate(off)
#endif

namespace fovea {

static_assert(0.1 != static_cast<double>(0.1f),
              "fovea needs double constants: compile without -fsingle-precision-constant");

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BASE_FLOATING_POINT_H_
