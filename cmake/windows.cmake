# Options of compiler and linker for Windows: included by flags.cmake for this system only.

# printf, ... with the formats of C99, M_PI, ..., and the interface of Windows 7.
add_compile_definitions(_WIN32_WINNT=0x0601 NOMINMAX WIN32_LEAN_AND_MEAN
  $<$<COMPILE_LANGUAGE:CXX>:_USE_MATH_DEFINES>)
set(FOVEA_WINDOWS_FLAGS)
if(MINGW)
  add_compile_definitions(__USE_MINGW_ANSI_STDIO=1)
  # Windows aligns the stack to 16 bytes, and gcc cannot align it further there, but stores vectors of 32 and 64 bytes
  # by instructions that fault on other addresses (gcc's bug 54412). The assembler writes the unaligned form of these
  # instructions, which is as fast on aligned data; Debian's gcc is corrected to do so itself. build.windows checks the
  # library for the aligned form.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    list(APPEND FOVEA_WINDOWS_FLAGS -Wa,-muse-unaligned-vector-move)
    check_cxx_compiler_flag(-Wa,-muse-unaligned-vector-move FOVEA_HAS_UNALIGNED_MOVES)
    if(NOT FOVEA_HAS_UNALIGNED_MOVES)
      message(FATAL_ERROR "The assembler is older than 2.38: AVX code of gcc would crash on Windows. "
        "Use newer binutils, or clang")
    endif()
  endif()
endif()
add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${FOVEA_WINDOWS_FLAGS}>")
# Threads and main get 8 MiB of stack, as on Linux.
if(MINGW)
  add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-Wl,--stack,8388608>)
endif()
