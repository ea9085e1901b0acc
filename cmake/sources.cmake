# Finds the sources of dependencies: sets FOVEA_<NAME>_DIR for each one that this build needs.

# fovea_sources(NAME...): the user's FOVEA_<NAME>_SOURCE_DIR, or else the folder of that name in FOVEA_THIRD_PARTY_DIR,
# or else the pinned source.
function(fovea_sources)
  set(pinned)
  foreach(name IN LISTS ARGN)
    string(TOUPPER ${name} upper)
    if(FOVEA_${upper}_SOURCE_DIR)
      set(FOVEA_${upper}_DIR ${FOVEA_${upper}_SOURCE_DIR} PARENT_SCOPE)
    elseif(FOVEA_THIRD_PARTY_DIR AND IS_DIRECTORY ${FOVEA_THIRD_PARTY_DIR}/${name})
      set(FOVEA_${upper}_DIR ${FOVEA_THIRD_PARTY_DIR}/${name} PARENT_SCOPE)
    else()
      list(APPEND pinned ${name})
    endif()
  endforeach()
  if(pinned)
    execute_process(
      COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/fetch_sources.sh ${FOVEA_CACHE_DIR} ${pinned}
      OUTPUT_VARIABLE lines OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    string(REPLACE "\n" ";" lines "${lines}")
    foreach(line IN LISTS lines)
      string(REGEX MATCH "^([^=]+)=(.+)$" _ "${line}")
      string(TOUPPER ${CMAKE_MATCH_1} upper)
      set(FOVEA_${upper}_DIR ${CMAKE_MATCH_2} PARENT_SCOPE)
    endforeach()
  endif()
endfunction()

fovea_sources(highway)
if(FOVEA_XNNPACK)
  fovea_sources(xnnpack pthreadpool fxdiv)
endif()
target_include_directories(fovea_highway SYSTEM INTERFACE ${FOVEA_HIGHWAY_DIR})
