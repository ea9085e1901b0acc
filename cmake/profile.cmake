# Profiles: FOVEA_PROFILE names a list as `fovea inspect --needs` prints it, and the compiler reads it as a header.
# Lines that begin with '#' are comments. runtime/model/needs.cc checks the lines.

# Makes FOLDER/fovea_profile.h from such a list.
function(fovea_profile_header profile folder)
  file(STRINGS ${profile} lines REGEX "^[^#]")
  set(text)
  if(NOT lines)
    message(FATAL_ERROR "${profile} lists nothing: `fovea inspect BLOB --needs` prints what a model needs")
  endif()
  foreach(line IN LISTS lines)
    if(NOT line MATCHES "^[a-z]+ [a-z0-9_]+( [0-9]+)?$")
      message(FATAL_ERROR "${profile}: '${line}' is not a line of a profile")
    endif()
    string(APPEND text " \\\n  \"${line}\\n\"")
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/fovea_profile.h CONTENT "#define FOVEA_PROFILE${text}\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${profile})
endfunction()

set(FOVEA_PROFILE_INCLUDES)
if(FOVEA_PROFILE)
  if(NOT EXISTS ${FOVEA_PROFILE})
    message(FATAL_ERROR "FOVEA_PROFILE is '${FOVEA_PROFILE}': there is no such file")
  endif()
  file(STRINGS ${FOVEA_PROFILE} FOVEA_PROFILE_LINES REGEX "^[^#]")
  set(FOVEA_PROFILE_INCLUDES ${PROJECT_BINARY_DIR}/profile)
  fovea_profile_header(${FOVEA_PROFILE} ${FOVEA_PROFILE_INCLUDES})
endif()
