# Toolchain: clang with the libraries of Debian's cross compiler, for RISC-V processors with vectors (RVV 1.0) of 128
# bits or more.
include(${CMAKE_CURRENT_LIST_DIR}/riscv64-linux.cmake)
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_C_COMPILER_TARGET riscv64-linux-gnu)
set(CMAKE_CXX_COMPILER_TARGET riscv64-linux-gnu)
set(CMAKE_C_FLAGS_INIT -march=rv64gcv)
set(CMAKE_CXX_FLAGS_INIT -march=rv64gcv)
