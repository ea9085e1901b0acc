# Compiler flags of fovea's own code. XNNPACK has separate flags in cmake/xnnpack.
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 99)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(FOVEA_FIRMWARE OR EMSCRIPTEN)
  set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(ANDROID_ABI STREQUAL armeabi-v7a)
  add_compile_options(-mfpu=neon-vfpv4)  # Highway's NEON; the NDK's default lacks the fused multiply-add
endif()

# Arithmetic without value-changing optimisations, regardless of flags from a parent project or the environment (-Ofast,
# -ffast-math and its parts, x87 registers): these flags come later on the command line and switch them off. XNNPACK
# gets the same flags. Other build systems are checked by runtime/base/floating_point.h.
include(CheckCXXCompilerFlag)
include(host)
if(WIN32)
  include(windows)
endif()
set(FOVEA_EXACT_ARITHMETIC -fno-fast-math -fno-unsafe-math-optimizations -fno-associative-math -fno-reciprocal-math
  -fno-finite-math-only -fsigned-zeros -fno-rounding-math)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  list(APPEND FOVEA_EXACT_ARITHMETIC -ftrapping-math -fno-single-precision-constant)
endif()
if(NOT EMSCRIPTEN)
  check_cxx_compiler_flag("-msse2 -mfpmath=sse" FOVEA_HAS_X86_MATH)
endif()
if(FOVEA_HAS_X86_MATH)
  list(APPEND FOVEA_EXACT_ARITHMETIC -msse2 -mfpmath=sse $<$<CXX_COMPILER_ID:GNU>:-mno-recip>)
endif()
check_cxx_compiler_flag(-Wno-overriding-option FOVEA_HAS_OVERRIDING_OPTION)  # clang warns about them
if(EMSCRIPTEN)
  # clang 14 warns about one of these flags: WebAssembly has no floating-point exceptions.
  list(APPEND FOVEA_EXACT_ARITHMETIC -Wno-unsupported-floating-point-opt)
endif()
if(FOVEA_HAS_OVERRIDING_OPTION)
  list(APPEND FOVEA_EXACT_ARITHMETIC -Wno-overriding-option)
endif()

# For all of our code: library, tools and tests.
add_library(fovea_flags INTERFACE)
target_include_directories(fovea_flags INTERFACE ${PROJECT_SOURCE_DIR} ${FOVEA_INCLUDE_DIR})
target_compile_definitions(fovea_flags INTERFACE ${FOVEA_PREFIX_DEFINITIONS})
target_compile_options(fovea_flags INTERFACE
  -Wall -Wextra -Wshadow -Wno-psabi $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>  # in libstdc++'s std::stable_sort
  $<$<CXX_COMPILER_ID:Clang>:-Wno-pragma-clang-attribute>  # a file may have no function for a target
  -Werror=return-type -Werror=vla -Werror=implicit-fallthrough
  $<$<CONFIG:Release>:-O2>
  # a * b + c rounds the same in every loop, target and compiler: a fused multiply-add is written explicitly.
  ${FOVEA_EXACT_ARITHMETIC} -ffp-contract=off -fno-math-errno ${FOVEA_HOST_FLAGS})
set(instrumented 0)
if(NOT FOVEA_SANITIZE STREQUAL none)
  # A program with this property uses the objects of host-release, which a compiler cache has; its libraries do not.
  set(instrumented $<NOT:$<BOOL:$<TARGET_PROPERTY:FOVEA_UNINSTRUMENTED>>>)
  set(sanitize -fsanitize=thread)
  if(FOVEA_SANITIZE MATCHES "^(address|fuzzer)$")
    # Without the checks that take longest to compile, which the address sanitizer does anyway.
    set(sanitize -fsanitize=address -fsanitize=undefined -fno-sanitize-recover=all
      -fno-sanitize=vptr,null,object-size,nonnull-attribute,returns-nonnull-attribute,pointer-overflow)
  endif()
  if(FOVEA_SANITIZE STREQUAL fuzzer)
    list(APPEND sanitize -fsanitize=fuzzer-no-link)  # coverage counters; the harnesses link the loop
  endif()
  target_compile_options(fovea_flags INTERFACE "$<${instrumented}:${sanitize};-O1;-g1;-fno-omit-frame-pointer>")
  target_link_options(fovea_flags INTERFACE ${sanitize})
endif()
# Tools and tests, linked last. If gcc inlines less, it compiles them twice as fast with sanitizers, and tests a sixth
# faster without; under an emulator the slower code would cost more than that.
add_library(fovea_quickly_compiled INTERFACE)
add_library(fovea_quickly_compiled_tests INTERFACE)
target_link_libraries(fovea_quickly_compiled_tests INTERFACE fovea_quickly_compiled)
target_compile_options(fovea_quickly_compiled INTERFACE $<${instrumented}:-Og>)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^riscv" AND CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  # QEMU 7.2 takes long for vectors, and stops at conversions to integers that clang makes of loops (vfncvt.rtz).
  target_compile_options(fovea_quickly_compiled INTERFACE -fno-vectorize -fno-slp-vectorize)
endif()
if(NOT CMAKE_CROSSCOMPILING OR WIN32)  # Wine does not emulate the processor
  target_compile_options(fovea_quickly_compiled_tests INTERFACE
    $<$<AND:$<CONFIG:Release>,$<NOT:${instrumented}>>:-O1>)
endif()

# Additional flags of the library's objects: small, self-contained, without a C++ runtime.
add_library(fovea_runtime_flags INTERFACE)
target_link_libraries(fovea_runtime_flags INTERFACE fovea_flags)
target_compile_options(fovea_runtime_flags INTERFACE
  -fvisibility=hidden -ffunction-sections -fdata-sections -fno-threadsafe-statics
  $<$<CONFIG:MinSizeRel>:-fno-unwind-tables -fno-asynchronous-unwind-tables>  # a tenth of a library; nothing throws
  $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden -fno-exceptions -fno-rtti>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)  # keeps tables of Highway's inline functions local
target_compile_definitions(fovea_runtime_flags INTERFACE $<$<CONFIG:MinSizeRel>:FOVEA_SMALL>)

# Highway: the SIMD targets that kernels are compiled for. Tests use the same.
add_library(fovea_highway INTERFACE)
# HWY_NEON is HWY_NEON_WITHOUT_AES plus encryption, which no kernel needs.
# Kernels keep arrays of vectors in registers, which compilers refuse for vectors of unknown length: SVE, RVV.
set(never HWY_SSSE3 HWY_NEON HWY_SVE HWY_SVE2 HWY_SVE_256 HWY_SVE2_128)
set(riscv_without_vectors OFF)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^riscv")
  list(APPEND never HWY_RVV)
  set(riscv_without_vectors ON)  # XNNPACK's have not been tested either
  target_include_directories(fovea_highway INTERFACE ${PROJECT_SOURCE_DIR}/runtime/kernels/riscv)
endif()
# AVX3_DL (AVX-512 VNNI) improves only int8 GEMM over AVX3; the other targets improve only attention's products in bf16
# and, on Arm, int8. (Highway omits the Arm target if the compiler is older than gcc 13.2 or clang 17.)
set(products HWY_AVX3_DL HWY_AVX3_ZEN4 HWY_AVX3_SPR HWY_NEON_BF16)
list(JOIN never "|" usually)
if(NOT FOVEA_SANITIZE STREQUAL none)
  set(usually "${usually}$<${instrumented}:|HWY_SSE4>")
  list(APPEND never HWY_SSE4)  # instrumented kernels compile slowly: one target per vector width is enough
endif()
# Sets FOVEA_TARGETS_<kernel>: options of sources that are compiled for targets of their kind only.
function(fovea_highway_targets kernel)
  set(disabled ${never} ${products})
  foreach(target IN LISTS ARGN)
    list(REMOVE_ITEM disabled ${target})
    if(NOT FOVEA_SANITIZE STREQUAL none)
      list(APPEND disabled HWY_AVX3)
    endif()
  endforeach()
  list(JOIN disabled "|" disabled)
  set(FOVEA_TARGETS_${kernel} -UHWY_DISABLED_TARGETS "-DHWY_DISABLED_TARGETS=(${disabled})" PARENT_SCOPE)
endfunction()
fovea_highway_targets(gemm HWY_AVX3_DL)
if(FOVEA_PROFILE AND NOT FOVEA_PROFILE_LINES MATCHES "(^|;)attention (products|[*])(;|$)")
  fovea_highway_targets(attention)
elseif(FOVEA_SANITIZE STREQUAL none)
  fovea_highway_targets(attention ${products})
else()
  fovea_highway_targets(attention HWY_AVX3_DL)
endif()
list(JOIN products "|" products)
target_compile_definitions(fovea_highway INTERFACE HWY_STATIC_DEFINE HWY_WANT_AVX3_DL
  "HWY_DISABLED_TARGETS=(${usually}|${products})")
set(FOVEA_VECTORS ${FOVEA_SIMD})  # as compiled
# A WebAssembly module either runs with its SIMD instructions or not at all.
if(FOVEA_VECTORS STREQUAL dispatch AND (riscv_without_vectors OR EMSCRIPTEN))
  set(FOVEA_VECTORS baseline)
endif()
if(FOVEA_VECTORS STREQUAL emu128)
  # Highway omits this for gcc before 14, whose vectorizer compiled some of its operations wrong; the tests show that
  # those used by the kernels are right.
  target_compile_definitions(fovea_highway INTERFACE HWY_COMPILE_ONLY_EMU128 HWY_BROKEN_EMU128=0)
elseif(FOVEA_VECTORS STREQUAL scalar)
  target_compile_definitions(fovea_highway INTERFACE HWY_COMPILE_ONLY_SCALAR)
elseif(FOVEA_VECTORS STREQUAL baseline)
  # Encryption, which no kernel needs, is no part of x86-64-v3: without the second name Highway would stay below AVX2.
  target_compile_definitions(fovea_highway INTERFACE HWY_COMPILE_ONLY_STATIC
    $<$<BOOL:${FOVEA_HAS_X86_MATH}>:HWY_DISABLE_PCLMUL_AES>)
endif()
