# Toolchain: Debian's compiler for 64-bit Arm.
set(triple aarch64-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/debian_cross.cmake)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
