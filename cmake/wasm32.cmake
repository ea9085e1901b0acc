# Toolchain: Emscripten, 32-bit WebAssembly with 128-bit SIMD and threads. Programs run in Node.
execute_process(COMMAND em-config EMSCRIPTEN_ROOT
  OUTPUT_VARIABLE emscripten OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE missing)
if(missing)
  message(FATAL_ERROR "Emscripten is missing: its em-config is not in the PATH")
endif()
find_program(FOVEA_NODE NAMES node nodejs REQUIRED)
mark_as_advanced(FOVEA_NODE)
# Emscripten before 3.1.10 mistakes a Node with fetch() for a browser.
set(CMAKE_CROSSCOMPILING_EMULATOR ${FOVEA_NODE} --no-experimental-fetch)
set(EMSCRIPTEN_SYSTEM_PROCESSOR wasm32)
include(${emscripten}/cmake/Modules/Platform/Emscripten.cmake)
set(CMAKE_C_FLAGS_INIT "-msimd128 -pthread")
# Tools throw; the library does not. They throw through JavaScript: with threads, clang 14 and the libraries of
# Emscripten 3.1.6 disagree on where a WebAssembly exception stores its type, and no typed handler catches it.
set(CMAKE_CXX_FLAGS_INIT "-msimd128 -pthread -fexceptions")
# Programs can access the machine's files and environment, and exit with main's value.
set(CMAKE_EXE_LINKER_FLAGS_INIT "--pre-js ${CMAKE_CURRENT_LIST_DIR}/node_environment.js \
-sNODERAWFS=1 -sEXIT_RUNTIME=1 -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB \
-sTOTAL_STACK=4MB -sPROXY_TO_PTHREAD=1 -Wno-pthreads-mem-growth")
