# Toolchain: clang with the libraries of Debian's cross compiler for 32-bit Arm.
include(${CMAKE_CURRENT_LIST_DIR}/armv7-linux.cmake)
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_C_COMPILER_TARGET arm-linux-gnueabihf)
set(CMAKE_CXX_COMPILER_TARGET arm-linux-gnueabihf)
