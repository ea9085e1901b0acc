# What toolchain files of firmware have in common: `triple` and `cpu`, the compiler's flags, are set before.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_C_COMPILER ${triple}-gcc)
set(CMAKE_CXX_COMPILER ${triple}-g++)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)  # nothing links before there is a board
foreach(language IN ITEMS C CXX ASM)
  set(CMAKE_${language}_FLAGS_INIT "${cpu} -fno-unwind-tables -fno-asynchronous-unwind-tables")
endforeach()
