# The target `reference`: the API reference as HTML, from the public headers, in reference/html of the build folder.
# Needs Doxygen (Debian's package doxygen); without it there is no such target.
find_program(FOVEA_DOXYGEN doxygen)
mark_as_advanced(FOVEA_DOXYGEN)
if(NOT FOVEA_DOXYGEN OR NOT TARGET Python3::Interpreter)
  return()
endif()
set(SOURCE ${PROJECT_SOURCE_DIR})
set(VERSION ${PROJECT_VERSION})
set(PYTHON ${Python3_EXECUTABLE})
set(OUTPUT ${PROJECT_BINARY_DIR}/reference)
file(MAKE_DIRECTORY ${OUTPUT})
configure_file(${CMAKE_CURRENT_LIST_DIR}/Doxyfile.in ${OUTPUT}/Doxyfile @ONLY)
add_custom_target(reference
  COMMAND ${FOVEA_DOXYGEN} ${OUTPUT}/Doxyfile
  COMMAND ${CMAKE_COMMAND} -E echo "${OUTPUT}/html/index.html"
  VERBATIM COMMENT "Writing the API reference")
