# Settings of the surrounding program, or flags for everything, that fovea does not take over: settings under which
# its objects could not be joined, would need a C++ runtime or would be instrumented, and warnings that are for its
# authors. A sanitizer of fovea's own build is FOVEA_SANITIZE. tests/hosts builds with each of these.
set(CMAKE_INTERPROCEDURAL_OPTIMIZATION OFF)  # kernels are compiled for several processors and chosen at run time
set(CMAKE_UNITY_BUILD OFF)                   # such a file includes itself once for each processor
set(FOVEA_HOST_FLAGS)
if(NOT PROJECT_IS_TOP_LEVEL)
  set(CMAKE_COMPILE_WARNING_AS_ERROR OFF)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTY INCLUDE_DIRECTORIES)  # may contain another Highway
  list(APPEND FOVEA_HOST_FLAGS -w)
endif()
set(of_all "-flto|-fsanitize|-coverage|-fprofile|_ASSERTIONS|_GLIBCXX|_LIBCPP")
if(NOT PROJECT_IS_TOP_LEVEL OR "${CMAKE_C_FLAGS} ${CMAKE_CXX_FLAGS}" MATCHES "${of_all}")
  foreach(flag IN ITEMS -fno-lto -fno-sanitize=all -fno-sanitize-coverage=edge,trace-pc-guard,trace-cmp,trace-pc
      -fno-profile-arcs -fno-test-coverage -fno-profile-generate -fno-profile-instr-generate -fno-coverage-mapping)
    string(MAKE_C_IDENTIFIER "FOVEA_HAS${flag}" known)
    check_cxx_compiler_flag(${flag} ${known})
    if(${known} AND (FOVEA_SANITIZE STREQUAL none OR NOT flag MATCHES "sanitize"))
      list(APPEND FOVEA_HOST_FLAGS ${flag})
    endif()
  endforeach()
  list(APPEND FOVEA_HOST_FLAGS -U_GLIBCXX_ASSERTIONS -U_GLIBCXX_DEBUG -U_GLIBCXX_DEBUG_PEDANTIC
    -U_LIBCPP_HARDENING_MODE -U_LIBCPP_ENABLE_ASSERTIONS)
endif()
