# Toolchain: Xcode's, by CMake's own support. The presets say for which system; elsewhere CMake would say something else
# that is missing, or build for the machine at hand.
if(NOT CMAKE_HOST_SYSTEM_NAME STREQUAL Darwin)
  message(FATAL_ERROR "Builds for Apple's systems need a Mac with Xcode; this is ${CMAKE_HOST_SYSTEM_NAME}")
endif()
