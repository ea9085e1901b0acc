# Toolchain: Debian's compiler for Arm microcontrollers; Cortex-M7 with its double-precision unit.
set(triple arm-none-eabi)
set(cpu "-mcpu=cortex-m7 -mfpu=fpv5-d16 -mfloat-abi=hard -mthumb")
include(${CMAKE_CURRENT_LIST_DIR}/bare_metal.cmake)
set(CMAKE_SYSTEM_PROCESSOR cortex-m7)
