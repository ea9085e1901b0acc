# Toolchain: Debian's compiler for Arm microcontrollers; Cortex-M55 with Helium. Its assembler mistakes a conditional
# "vcvt ne" for another instruction, so if-conversion is off.
set(triple arm-none-eabi)
set(cpu "-mcpu=cortex-m55 -mfloat-abi=hard -mthumb -fno-if-conversion2")
include(${CMAKE_CURRENT_LIST_DIR}/bare_metal.cmake)
set(CMAKE_SYSTEM_PROCESSOR cortex-m55)
