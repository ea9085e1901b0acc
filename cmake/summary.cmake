# Prints the configuration.
if(FOVEA_XNNPACK)
  set(gemm "XNNPACK and Highway")
else()
  set(gemm "Highway")
endif()
set(profile everything)
if(FOVEA_PROFILE)
  list(JOIN FOVEA_PROFILE ", " profile)
endif()
string(TOUPPER "${CMAKE_BUILD_TYPE}" upper)
set(compiler "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
message(STATUS "fovea ${PROJECT_VERSION}
   target              ${CMAKE_SYSTEM_NAME} ${CMAKE_SYSTEM_PROCESSOR}, ${compiler}, ${CMAKE_BUILD_TYPE}
   launcher            ${CMAKE_CXX_COMPILER_LAUNCHER}
   matrix products     ${gemm}
   vectors             ${FOVEA_VECTORS}
   profile             ${profile}
   port                ${FOVEA_PORT}
   shared library      ${BUILD_SHARED_LIBS}
   sanitizer           ${FOVEA_SANITIZE}
   tools               ${FOVEA_BUILD_TOOLS}
   tests               ${FOVEA_BUILD_TESTS}
   benchmarks          ${FOVEA_BUILD_BENCHMARKS}
   XNNPACK source      ${FOVEA_XNNPACK_DIR}
   Highway source      ${FOVEA_HIGHWAY_DIR}")
