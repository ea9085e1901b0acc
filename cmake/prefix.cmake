# FOVEA_SYMBOL_PREFIX: every name that the library exports begins with a prefix, so that two different copies of it can
# be linked into one program. Callers change nothing: with the option, the headers are copied, and the copies include
# fovea/prefix.h, which defines fovea_x as PREFIXfovea_x. Sets FOVEA_INCLUDE_DIR, the folder of the public headers, and
# FOVEA_LIBRARY_NAME: two shared libraries of one name would be one for the loader.
set(FOVEA_INCLUDE_DIR ${PROJECT_SOURCE_DIR}/include)
set(FOVEA_LIBRARY_NAME ${FOVEA_SYMBOL_PREFIX}fovea)
set(FOVEA_NAMES)
set(FOVEA_PREFIX_DEFINITIONS)
if(NOT FOVEA_SYMBOL_PREFIX)
  return()
endif()

set(FOVEA_INCLUDE_DIR ${PROJECT_BINARY_DIR}/prefixed)
file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/fovea/*.h ${PROJECT_SOURCE_DIR}/include/fovea/*.hpp)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
set(lines)
foreach(header IN LISTS headers)
  file(READ ${header} text)
  cmake_path(GET header FILENAME file)
  # Comments name functions as well, but without FOVEA_API.
  string(REGEX MATCHALL "FOVEA_API[^;({]*fovea_[a-z0-9_]+\\(" functions "${text}")
  foreach(function IN LISTS functions)
    string(REGEX REPLACE ".*[^a-z0-9_](fovea_[a-z0-9_]+)\\($" "\\1" name "${function}")
    list(APPEND FOVEA_NAMES ${name})
    string(APPEND lines "#define ${name} ${FOVEA_SYMBOL_PREFIX}${name}\n")
  endforeach()
  if(file STREQUAL "status.h")  # every header with functions includes it first
    string(REPLACE "#include <stddef.h>\n" "#include \"fovea/prefix.h\"\n#include <stddef.h>\n" text "${text}")
  elseif(file MATCHES "[.]hpp$")  # inline functions of two copies would otherwise be one
    set(opened "namespace fovea {\ninline namespace ${FOVEA_SYMBOL_PREFIX}copy {")
    string(REPLACE "namespace fovea {" "${opened}" text "${text}")
    string(REPLACE "}  // namespace fovea\n" "}\n}  // namespace fovea\n" text "${text}")
  endif()
  file(CONFIGURE OUTPUT ${FOVEA_INCLUDE_DIR}/fovea/${file} CONTENT "@text@" @ONLY)
endforeach()
set(guard "FOVEA_PREFIX_H_")
set(text "/* fovea/prefix.h - names of this copy of the library, made by FOVEA_SYMBOL_PREFIX. */\n#ifndef ${guard}\n")
string(APPEND text "#define ${guard}\n\n${lines}\n#endif /* ${guard} */\n")
file(CONFIGURE OUTPUT ${FOVEA_INCLUDE_DIR}/fovea/prefix.h CONTENT "@text@" @ONLY)

# C++ names inside, for builds whose linker cannot hide them (runtime/CMakeLists.txt).
set(FOVEA_PREFIX_DEFINITIONS fovea=${FOVEA_SYMBOL_PREFIX}fovea)
