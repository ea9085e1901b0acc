# Toolchain: Debian's compiler for 32-bit Arm with hard floats; NEON with fused multiply-add, as since Cortex-A7 and
# A15.
set(triple arm-linux-gnueabihf)
include(${CMAKE_CURRENT_LIST_DIR}/debian_cross.cmake)
set(CMAKE_SYSTEM_PROCESSOR armv7l)
set(CMAKE_C_FLAGS_INIT "-march=armv7-a -mfpu=neon-vfpv4")
set(CMAKE_CXX_FLAGS_INIT "-march=armv7-a -mfpu=neon-vfpv4")
