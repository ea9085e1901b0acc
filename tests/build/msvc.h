/* Included first by msvc.sh: MinGW-w64's headers of Windows and libstdc++, read as a compiler for MSVC's interface. It
 * has no predefined names of gcc and wants attributes before declarators. */
#ifndef FOVEA_TESTS_BUILD_MSVC_H_
#define FOVEA_TESTS_BUILD_MSVC_H_

#define __MM_MALLOC_H /* declares what stdlib.h declares otherwise */
#define __GCC_ATOMIC_TEST_AND_SET_TRUEVAL 1
#define __GCC_ATOMIC_BOOL_LOCK_FREE 2
#define __GCC_ATOMIC_CHAR_LOCK_FREE 2
#define __GCC_ATOMIC_CHAR16_T_LOCK_FREE 2
#define __GCC_ATOMIC_CHAR32_T_LOCK_FREE 2
#define __GCC_ATOMIC_WCHAR_T_LOCK_FREE 2
#define __GCC_ATOMIC_SHORT_LOCK_FREE 2
#define __GCC_ATOMIC_INT_LOCK_FREE 2
#define __GCC_ATOMIC_LONG_LOCK_FREE 2
#define __GCC_ATOMIC_LLONG_LOCK_FREE 2
#define __GCC_ATOMIC_POINTER_LOCK_FREE 2
/* In this order: the second hides attributes from the compiler. */
/* clang-format off */
#include <immintrin.h>
#include <_mingw.h>
/* clang-format on */
#undef __attribute__ /* hidden from compilers with _MSC_VER */
#undef __MINGW_ATTRIB_NORETURN
#define __MINGW_ATTRIB_NORETURN
#undef __MINGW_NOTHROW
#define __MINGW_NOTHROW
#undef __MINGW_ATTRIB_DEPRECATED
#define __MINGW_ATTRIB_DEPRECATED

#endif /* FOVEA_TESTS_BUILD_MSVC_H_ */
