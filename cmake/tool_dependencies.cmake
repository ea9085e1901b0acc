# Libraries of the tools, never of the library itself. Four are header-only and the same for every target, so a cross
# build uses the build machine's. Two are built from pinned source: utf8proc, so that every machine has the same Unicode
# data, and the compression part of zlib.
find_package(Threads REQUIRED)
add_library(fovea_tool_dependencies INTERFACE)

set(header_folder ${PROJECT_BINARY_DIR}/tool_headers)
file(MAKE_DIRECTORY ${header_folder})
foreach(header IN ITEMS nlohmann/json.hpp CLI/CLI.hpp fmt/format.h stb/stb_image.h)
  get_filename_component(folder ${header} DIRECTORY)
  string(TOUPPER FOVEA_${folder}_INCLUDE variable)
  set(vendored)
  if(FOVEA_THIRD_PARTY_DIR)
    set(vendored HINTS ${FOVEA_THIRD_PARTY_DIR}/include)
  endif()
  find_path(${variable} ${header} ${vendored} PATHS /usr/include NO_CMAKE_FIND_ROOT_PATH REQUIRED)
  mark_as_advanced(${variable})
  if(NOT folder STREQUAL nlohmann)
    file(CREATE_LINK ${${variable}}/${folder} ${header_folder}/${folder} SYMBOLIC)
  endif()
endforeach()

# The header of nlohmann/json defines the literal ""_json, which parses. It is no template, so every file that includes
# the header would instantiate the parser for it: a fifth of what the compiler does for the header. Here the literal is
# only declared, if the header defines it as version 3.11 does. The other headers are links.
set(json_folder ${header_folder}/nlohmann)
if(IS_SYMLINK ${json_folder})
  file(REMOVE ${json_folder})  # as it was in older build folders
endif()
file(MAKE_DIRECTORY ${json_folder})
file(GLOB headers RELATIVE ${FOVEA_NLOHMANN_INCLUDE}/nlohmann ${FOVEA_NLOHMANN_INCLUDE}/nlohmann/*)
list(REMOVE_ITEM headers json.hpp)
foreach(header IN LISTS headers)
  file(CREATE_LINK ${FOVEA_NLOHMANN_INCLUDE}/nlohmann/${header} ${json_folder}/${header} SYMBOLIC)
endforeach()
file(READ ${FOVEA_NLOHMANN_INCLUDE}/nlohmann/json.hpp json_header)
string(REGEX REPLACE "(_json\\([^\n]*\\))\n{\n *return nlohmann::json::parse\\(s, s \\+ n\\);\n}" "\\1;"
  json_header "${json_header}")
file(WRITE ${json_folder}/json.new "${json_header}")
file(COPY_FILE ${json_folder}/json.new ${json_folder}/json.hpp ONLY_IF_DIFFERENT)
target_include_directories(fovea_tool_dependencies SYSTEM INTERFACE ${header_folder})

# fmt is compiled once from its headers, instead of in each file that formats text.
add_library(fovea_fmt STATIC ${PROJECT_SOURCE_DIR}/cmake/fmt.cc)
target_include_directories(fovea_fmt SYSTEM PUBLIC ${header_folder})
target_link_libraries(fovea_fmt PRIVATE fovea_flags)

# stb_image likewise. Images may be hostile: tools/image checks whole files first, and sanitizers instrument stb_image.
add_library(fovea_stb_image STATIC ${PROJECT_SOURCE_DIR}/cmake/stb_image.cc)
target_include_directories(fovea_stb_image SYSTEM PUBLIC ${header_folder})
target_link_libraries(fovea_stb_image PRIVATE fovea_flags)
target_compile_options(fovea_stb_image PRIVATE -O2 -w)

# Decoders of rarer image files, where they are installed: WebP by libwebp, arithmetic-coded JPEG by libjpeg. On Linux
# only static libraries, so that the command also runs where they are not installed. Without them the command names a
# converter. Only the source file that uses a decoder depends on it.
function(fovea_optional_decoder name header library source)
  find_path(FOVEA_${name}_INCLUDE ${header})
  set(names ${library})
  if(CMAKE_SYSTEM_NAME STREQUAL Linux)
    set(names lib${library}.a)
  endif()
  find_library(FOVEA_${name}_LIBRARY NAMES ${names})
  mark_as_advanced(FOVEA_${name}_INCLUDE FOVEA_${name}_LIBRARY)
  if(FOVEA_${name}_INCLUDE AND FOVEA_${name}_LIBRARY)
    set_source_files_properties(${source} PROPERTIES
      COMPILE_DEFINITIONS FOVEA_${name} SKIP_PRECOMPILE_HEADERS ON)
    target_include_directories(fovea_readers SYSTEM PRIVATE ${FOVEA_${name}_INCLUDE})
    target_link_libraries(fovea_tools PRIVATE ${FOVEA_${name}_LIBRARY})
  endif()
endfunction()

# libsndfile reads audio files of other kinds than WAVE. Its header is needed here; the library is loaded at run time,
# so that the command also runs where it is not installed.
function(fovea_loaded_decoder name header source)
  find_path(FOVEA_${name}_INCLUDE ${header})
  mark_as_advanced(FOVEA_${name}_INCLUDE)
  if(FOVEA_${name}_INCLUDE AND UNIX)
    set_source_files_properties(${source} PROPERTIES
      COMPILE_DEFINITIONS FOVEA_${name} SKIP_PRECOMPILE_HEADERS ON)
    target_include_directories(fovea_readers SYSTEM PRIVATE ${FOVEA_${name}_INCLUDE})
    target_link_libraries(fovea_tools PRIVATE ${CMAKE_DL_LIBS})
  endif()
endfunction()

fovea_sources(utf8proc zlib)
add_library(fovea_utf8proc STATIC ${FOVEA_UTF8PROC_DIR}/utf8proc.c)
target_include_directories(fovea_utf8proc SYSTEM PUBLIC ${FOVEA_UTF8PROC_DIR})
target_compile_definitions(fovea_utf8proc PUBLIC UTF8PROC_STATIC)
target_compile_options(fovea_utf8proc PRIVATE -O2 -w)
set(zlib adler32.c compress.c crc32.c deflate.c trees.c zutil.c)
list(TRANSFORM zlib PREPEND ${FOVEA_ZLIB_DIR}/)
add_library(fovea_zlib STATIC ${zlib})
target_include_directories(fovea_zlib SYSTEM PUBLIC ${FOVEA_ZLIB_DIR})
target_compile_options(fovea_zlib PRIVATE -O2 -w)

target_link_libraries(fovea_tool_dependencies INTERFACE fovea_fmt fovea_stb_image fovea_utf8proc fovea_zlib
  Threads::Threads)
