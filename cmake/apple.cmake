# Toolchain: Xcode, with CMake's built-in support. The presets choose the system. Refused on other machines,
# where CMake would report an unrelated missing part or build for the current machine.
if(NOT CMAKE_HOST_SYSTEM_NAME STREQUAL Darwin)
  message(FATAL_ERROR "Builds for Apple's systems need a Mac with Xcode; this is ${CMAKE_HOST_SYSTEM_NAME}")
endif()
