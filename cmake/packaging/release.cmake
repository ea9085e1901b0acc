# The target `release`: a source archive with the dependencies inside, and the recipes that use it (README.md).
set(FOVEA_RELEASE_URL "" CACHE STRING "Where the release archive will be published: an address without the file's name")
if(NOT TARGET Python3::Interpreter OR NOT FOVEA_BUILD_TOOLS OR NOT FOVEA_XNNPACK)
  add_custom_target(release
    COMMAND ${CMAKE_COMMAND} -E echo
      "release: this build folder lacks dependencies: it needs Python, FOVEA_BUILD_TOOLS and FOVEA_XNNPACK"
    COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
  return()
endif()
set(arguments)
set(dependencies xnnpack highway pthreadpool fxdiv utf8proc zlib)
fovea_sources(${dependencies})
foreach(name IN LISTS dependencies)
  string(TOUPPER ${name} upper)
  list(APPEND arguments ${name}=${FOVEA_${upper}_DIR})
endforeach()
foreach(folder IN ITEMS nlohmann CLI fmt stb)
  string(TOUPPER FOVEA_${folder}_INCLUDE variable)
  list(APPEND arguments ${folder}=${${variable}})
endforeach()
add_custom_target(release
  COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_LIST_DIR}/release.py ${PROJECT_SOURCE_DIR}
    ${PROJECT_BINARY_DIR}/release ${PROJECT_VERSION} "${FOVEA_RELEASE_URL}" ${arguments}
  VERBATIM COMMENT "Collecting sources and dependencies into an archive")
