# Installs the libraries with find_package(fovea) and pkg-config, the headers, the command, and the licences of the
# libraries' parts.
include(GNUInstallDirs)
# The target `installed`: everything that an installation, or pip with FOVEA_LIBRARY_DIR, takes from a build folder.
if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(installed DEPENDS ${FOVEA_LIBRARIES})
  foreach(part IN ITEMS fovea_command fovea_port fovea_port_shared)
    if(TARGET ${part})
      add_dependencies(installed ${part})
    endif()
  endforeach()
endif()
if(NOT FOVEA_INSTALL)
  return()
endif()
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/fovea)

install(TARGETS ${FOVEA_LIBRARIES} EXPORT foveaTargets)
install(EXPORT foveaTargets NAMESPACE fovea:: DESTINATION ${package_dir})
configure_file(cmake/foveaConfig.cmake.in foveaConfig.cmake @ONLY)
write_basic_package_version_file(foveaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/foveaConfig.cmake ${PROJECT_BINARY_DIR}/foveaConfigVersion.cmake
  DESTINATION ${package_dir})
install(DIRECTORY ${FOVEA_INCLUDE_DIR}/fovea DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN *.h PATTERN *.hpp)

file(RELATIVE_PATH prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
configure_file(cmake/fovea.pc.in fovea.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/fovea.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The port: fovea::port, fovea-port.pc and <fovea/port.h>.
if(TARGET fovea_port)
  set(ports fovea_port)
  if(TARGET fovea_port_shared)
    list(APPEND ports fovea_port_shared)
  endif()
  install(TARGETS ${ports} EXPORT foveaPortTargets)
  install(EXPORT foveaPortTargets NAMESPACE fovea:: DESTINATION ${package_dir})
  install(FILES ports/port.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fovea)
  configure_file(cmake/fovea-port.pc.in fovea-port.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/fovea-port.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

if(WIN32 AND CMAKE_NM)  # the list that other compilers' tools make their own import library from
  install(FILES ${PROJECT_BINARY_DIR}/runtime/fovea.def DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET fovea_command)
  install(TARGETS fovea_command)
endif()

set(licences HIGHWAY/LICENSE-BSD3)
if(FOVEA_XNNPACK)
  list(APPEND licences XNNPACK/LICENSE PTHREADPOOL/LICENSE FXDIV/LICENSE)
endif()
foreach(licence IN LISTS licences)
  cmake_path(GET licence PARENT_PATH name)
  cmake_path(GET licence FILENAME file)
  string(TOLOWER ${name} lower)
  install(FILES ${FOVEA_${name}_DIR}/${file} DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME LICENSE.${lower})
endforeach()
