# Toolchain: Debian's compiler for 64-bit RISC-V. It is too old for vectors, which need clang.
set(triple riscv64-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/debian_cross.cmake)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
