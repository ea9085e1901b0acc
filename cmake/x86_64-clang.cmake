# Toolchain: clang for emulated x86 processors.
include(${CMAKE_CURRENT_LIST_DIR}/x86_64-linux.cmake)
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
