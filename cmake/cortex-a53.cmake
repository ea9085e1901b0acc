# Toolchain: Debian's compiler for 64-bit Arm Linux used for firmware, with picolibc instead of the system's library.
# Data is accessed aligned, because unaligned accesses fail while the MMU is off.
set(triple aarch64-linux-gnu)
set(libc /usr/lib/picolibc/${triple})
execute_process(COMMAND ${triple}-gcc -print-file-name=include OUTPUT_VARIABLE own OUTPUT_STRIP_TRAILING_WHITESPACE)
set(headers /usr/${triple}/include/c++/12)
string(CONCAT cpu "-mcpu=cortex-a53 -mstrict-align -fno-pic -mno-outline-atomics -fno-stack-protector -nostdinc"
  " -isystem ${headers} -isystem ${headers}/${triple} -isystem ${CMAKE_CURRENT_LIST_DIR}/picolibc"
  " -isystem ${libc}/include -isystem ${own}")
include(${CMAKE_CURRENT_LIST_DIR}/bare_metal.cmake)
string(CONCAT CMAKE_EXE_LINKER_FLAGS_INIT "-nostdlib -static -no-pie -L${libc}/lib -Wl,--build-id=none"
  " -Wl,--no-warn-rwx-segments")
set(CMAKE_CXX_STANDARD_LIBRARIES "-lc -lm -lgcc")  # in this order, after everything else
set(CMAKE_C_STANDARD_LIBRARIES "${CMAKE_CXX_STANDARD_LIBRARIES}")
set(CMAKE_SYSTEM_PROCESSOR cortex-a53)
