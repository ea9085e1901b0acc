# Toolchain: Debian's compiler for 64-bit Arm Linux as one for firmware, with picolibc in place of the system's library.
# Data is read aligned, since memory is strict about it while the MMU is off.
set(triple aarch64-linux-gnu)
set(libc /usr/lib/picolibc/aarch64-linux-gnu)
set(cpu "-mcpu=cortex-a53 -mstrict-align -fno-pic -fno-stack-protector -mno-outline-atomics --specs=${libc}/picolibc.specs")
include(${CMAKE_CURRENT_LIST_DIR}/bare_metal.cmake)
set(CMAKE_SYSTEM_PROCESSOR cortex-a53)
