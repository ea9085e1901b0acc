# Shared by the toolchain files for firmware: `triple` and `cpu`, the compiler's flags, are set before it is included.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_C_COMPILER ${triple}-gcc)
set(CMAKE_CXX_COMPILER ${triple}-g++)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)  # nothing can be linked before a board is chosen
foreach(language IN ITEMS C CXX ASM)
  set(CMAKE_${language}_FLAGS_INIT "${cpu} -fno-unwind-tables -fno-asynchronous-unwind-tables")
endforeach()
