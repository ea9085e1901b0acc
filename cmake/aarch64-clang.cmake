# Toolchain: clang with the libraries of Debian's cross compiler. It supports every Arm target of the kernels.
include(${CMAKE_CURRENT_LIST_DIR}/aarch64-linux.cmake)
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_ASM_COMPILER clang-19)
set(CMAKE_ASM_COMPILER_TARGET aarch64-linux-gnu)
