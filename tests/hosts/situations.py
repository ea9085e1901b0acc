"""What projects do that contain fovea: their settings as lines of CMake, and what must hold beside README's answer.

  parent     lines before fovea is added; after: lines after it
  minimum    the parent's cmake_minimum_required, languages: those of its project
  files      further files: name -> text
  add        how it is added, if not by add_subdirectory
  whole      with XNNPACK and kernels for all processors, which takes minutes; else neither
  check      a function of the host (hosts.py) that raises RuntimeError
"""
import os
import re
import shutil
import subprocess
import tarfile

CLANG = ("clang-19", "clang++-19")


def lines_of(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout


def cache_is_the_parents(host):
    cache = (host.build / "CMakeCache.txt").read_text(encoding="utf-8")
    written = [line for line in cache.splitlines()
               if re.match(r"CMAKE_BUILD_TYPE:\w+=.|BUILD_SHARED_LIBS:|CMAKE_CXX_STANDARD:|CMAKE_\w*_LAUNCHER:", line)]
    if written:
        raise RuntimeError(f"fovea wrote into the cache of its parent: {written[0]}")


def names(file, *options):
    return {line.split()[-1] for line in lines_of("nm", *options, file).splitlines() if line.split()}


def refers_to_none_of(pattern, fault):
    def check(host):
        library = next(host.build.glob("**/runtime/libfovea.a"))
        foreign = sorted(name for name in names(library, "-u") if re.search(pattern, name))
        if foreign:
            raise RuntimeError(f"libfovea.a {fault}: {foreign[:3]}")
    return check


needs_no_cxx_runtime = refers_to_none_of(r"St|glibcxx|cxxabi|_ZN", "refers to a C++ runtime")
is_not_instrumented = refers_to_none_of(r"san_|gcov|profc|trace_pc", "is instrumented")


def shared_is_used(host):
    if "libfovea.so" not in lines_of("readelf", "-d", host.binary()):
        raise RuntimeError("the program does not use the shared library")


def uses_kernels_of(word):
    def check(host):
        found = host.run(host.binary("target")).strip()
        if found != word:
            raise RuntimeError(f"kernels of {found} are used, not of {word}")
    return check


def copies_do_not_meet(host):
    for plugin in ("first", "second"):
        exported = names(host.build / f"lib{plugin}.so", "-D", "--defined-only")
        if any(name.startswith("fovea_") for name in exported):
            raise RuntimeError(f"a plugin exports fovea's names: {sorted(exported)[:3]}")
    host.run(host.binary("loader"), host.build / "libfirst.so", host.build / "libsecond.so")


def prefixes_are_kept_apart(host):
    copy = host.build / "second" / "lib" / "libsecond_fovea.a"
    listed = (host.source / "tests" / "build" / "symbols.txt").read_text(encoding="utf-8").split()
    defined = {name for name in names(copy, "-g", "--defined-only") if not name.endswith((".o", ".o:"))}
    wrong = defined ^ {f"second_{name}" for name in listed}
    if wrong:
        raise RuntimeError(f"{copy.name} defines, or lacks: {sorted(wrong)[:3]}")
    found = host.run(host.binary("both"), host.folder.parent / "classifier.fovea").split()
    if found != ["1", "1"]:
        raise RuntimeError(f"the two copies print {found}")


def exported_target_links(host):
    """A target of the parent is installed and used by another project, with fovea."""
    prefix = host.build / "prefix"
    host.run("cmake", "--install", host.build, "--prefix", prefix)
    user = host.folder / "user"
    host.run("cmake", "-S", user, "-B", user / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    host.run("cmake", "--build", user / "build")
    if not host.run(user / "build" / "user").strip():
        raise RuntimeError("the exported target's program prints nothing")


def only_the_parents_tests(host):
    listed = [line for line in host.run("ctest", "--test-dir", host.build, "-N").splitlines() if "Test #" in line]
    if len(listed) != 1:
        raise RuntimeError(f"the parent has one test, ctest lists {len(listed)}")


def release_archive(host):
    """The archive of the target `release`."""
    build = host.folder.parents[2]
    host.run("cmake", "--build", build, "--target", "release")
    return next((build / "release").glob("fovea-*.tar.xz"))


def archive(host):
    """A source archive, as a release has it."""
    file = host.folder / "fovea.tar.gz"
    with tarfile.open(file, "w:gz") as tar:
        for name in ("CMakeLists.txt", "include", "runtime", "ports", "tools", "cmake"):
            tar.add(host.source / name, f"fovea-source/{name}")
    return file


def path_with_spaces(host):
    link = host.folder / "third party" / "fo vea"
    link.parent.mkdir()
    os.symlink(host.source, link)
    return link


TARGET = {"target.c": ("#include <fovea/fovea.h>\n#include <stdio.h>\n"
                       "int main(void) { puts(fovea_simd_target()); return 0; }\n")}
ADD_TARGET = "add_executable(target target.c)\ntarget_link_libraries(target PRIVATE fovea::fovea)"
PLUGIN = ("#include <fovea/fovea.h>\nconst char* version_of_plugin(void);\n"
          "const char* version_of_plugin(void) { return fovea_version(); }\n")
LOADER = r"""
#include <dlfcn.h>
#include <stdio.h>
typedef const char* (*version)(void);
int main(int count, char** files) {
  const char* found[2] = {0, 0};
  int i;
  if (count != 3) return 1;
  for (i = 0; i < 2; ++i) {
    void* library = dlopen(files[i + 1], RTLD_NOW | RTLD_GLOBAL);
    version function;
    if (library == NULL) { puts(dlerror()); return 1; }
    *(void**)&function = dlsym(library, "version_of_plugin");
    found[i] = function();
  }
  return found[0] == found[1];
}
"""
BOTH = {
    "first.cc": ("#include <fovea/fovea.hpp>\n"
                 "bool first(const void* blob, std::size_t size);\n"
                 "bool first(const void* blob, std::size_t size) {\n"
                 "  return bool(fovea::Model::make({static_cast<const std::byte*>(blob), size}));\n}\n"),
    "both.cc": ("#include <cstdint>\n#include <cstdio>\n#include <fstream>\n#include <iterator>\n#include <vector>\n"
                "bool first(const void* blob, std::size_t size);\nbool second(const void* blob, std::size_t size);\n"
                "int main(int, char** arguments) {\n"
                "  std::ifstream file(arguments[1], std::ios::binary);\n"
                "  const std::vector<char> read{std::istreambuf_iterator<char>(file), {}};\n"
                "  std::vector<char> memory(read.size() + 63);\n"
                "  char* blob = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64;\n"
                "  for (std::size_t i = 0; i < read.size(); ++i) blob[i] = read[i];\n"
                "  std::printf(\"%d %d\\n\", first(blob, read.size()), second(blob, read.size()));\n}\n")}
# The second copy is built beside the project, as one that some other library contains.
SECOND = """
set(second ${CMAKE_BINARY_DIR}/second)
set(compilers -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER} -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER})
execute_process(COMMAND ${CMAKE_COMMAND} -S @fovea@ -B ${second}/build -G Ninja ${compilers} -Wno-dev
  -DFOVEA_SYMBOL_PREFIX=second_ -DFOVEA_BUILD_TOOLS=OFF -DFOVEA_BUILD_TESTS=OFF -DFOVEA_XNNPACK=OFF
  -DFOVEA_SIMD=baseline -DFOVEA_CACHE_DIR=${FOVEA_CACHE_DIR} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${second}/build COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${second}/build --prefix ${second} COMMAND_ERROR_IS_FATAL ANY)
add_subdirectory("@fovea@" fovea)
"""
LINK_BOTH = """
file(READ ${CMAKE_SOURCE_DIR}/first.cc text)
string(REPLACE "bool first" "bool second" text "${text}")
file(WRITE ${CMAKE_BINARY_DIR}/second.cc "${text}")
set(CMAKE_CXX_STANDARD 20)
add_library(first_user STATIC first.cc)
target_link_libraries(first_user PRIVATE fovea::fovea)
add_library(second_user STATIC ${CMAKE_BINARY_DIR}/second.cc)
target_include_directories(second_user PRIVATE ${second}/include)
target_link_libraries(second_user PRIVATE ${second}/lib/libsecond_fovea.a)
add_executable(both both.cc)
target_link_libraries(both PRIVATE first_user second_user)
"""
# Modules and variables of a parent with the names of fovea's.
MODULES = ("options", "profile", "prefix", "flags", "host", "sources", "install", "summary")
VARIABLES = ("port", "lines", "names", "sources", "libraries", "pinned", "missing", "joins", "machine", "object",
             "never", "products", "simd", "tools", "tests", "vendored", "set", "made", "licences", "parts",
             "link_options")
EXPORT = """
add_library(hostlib STATIC hostlib.c)
target_link_libraries(hostlib PUBLIC fovea::fovea)
install(TARGETS hostlib EXPORT hostTargets DESTINATION lib)
install(EXPORT hostTargets NAMESPACE host:: DESTINATION lib/cmake/host)
file(WRITE ${CMAKE_BINARY_DIR}/hostConfig.cmake
  "include(CMakeFindDependencyMacro)\nfind_dependency(fovea)\ninclude(\${CMAKE_CURRENT_LIST_DIR}/hostTargets.cmake)\n")
install(FILES ${CMAKE_BINARY_DIR}/hostConfig.cmake DESTINATION lib/cmake/host)
"""
USER = """cmake_minimum_required(VERSION 3.25)
project(user C)
find_package(host REQUIRED)
add_executable(user user.c)
target_link_libraries(user PRIVATE host::hostlib)
"""
STRICT = ("-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wcast-qual -Wold-style-cast -Wundef "
          "-Wmissing-declarations -Werror").split()

SITUATIONS = {
    "nothing": {
        "what": "a parent without a build type; nothing is written into its cache", "check": cache_is_the_parents},
    "shared": {
        "what": "BUILD_SHARED_LIBS of the parent", "whole": True,
        "parent": "set(BUILD_SHARED_LIBS ON)", "check": shared_is_used},
    "shared_cache": {
        "what": "-DBUILD_SHARED_LIBS=ON for the whole build", "configure": ["-DBUILD_SHARED_LIBS=ON"],
        "check": shared_is_used},
    "lto": {
        "what": "link-time optimisation of the parent (gcc)", "needs": ["gcc", "g++"], "compilers": ("gcc", "g++"),
        "parent": "set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)", "configure": ["-DCMAKE_POLICY_DEFAULT_CMP0069=NEW"]},
    "lto_flags": {
        "what": "-flto in the flags of all", "configure": ["-DCMAKE_C_FLAGS=-flto", "-DCMAKE_CXX_FLAGS=-flto"],
        "whole": True},
    "lto_clang": {
        "what": "link-time optimisation of the parent (clang)", "needs": list(CLANG) + ["ld.lld-19"],
        "compilers": CLANG, "parent": "set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)\nadd_link_options(-fuse-ld=lld-19)"},
    "unity": {
        "what": "unity builds", "parent": "set(CMAKE_UNITY_BUILD ON)", "whole": True},
    "hardened": {
        "what": "hardening of distributions: _GLIBCXX_ASSERTIONS, _FORTIFY_SOURCE, stack protectors",
        "parent": "add_compile_definitions(_GLIBCXX_ASSERTIONS _GLIBCXX_DEBUG)\n"
                  "add_compile_options(-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong)",
        "check": needs_no_cxx_runtime},
    "hardened_flags": {
        "what": "the same in CXXFLAGS", "configure": [
            "-DCMAKE_CXX_FLAGS=-O2 -D_GLIBCXX_ASSERTIONS -D_FORTIFY_SOURCE=2 -fstack-protector-strong",
            "-DCMAKE_C_FLAGS=-O2 -D_FORTIFY_SOURCE=2 -fstack-protector-strong"], "check": needs_no_cxx_runtime},
    "libcxx": {
        "what": "libc++ with checks", "needs": list(CLANG), "compilers": CLANG,
        "parent": "add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-stdlib=libc++>)\n"
                  "add_compile_definitions(_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_DEBUG)",
        "check": needs_no_cxx_runtime},
    "address": {
        "what": "address and undefined-behaviour sanitizers of the parent",
        "parent": "add_compile_options(-fsanitize=address,undefined)\nadd_link_options(-fsanitize=address,undefined)",
        "check": is_not_instrumented},
    "thread": {
        "what": "thread sanitizer of the parent",
        "parent": "add_compile_options(-fsanitize=thread)\nadd_link_options(-fsanitize=thread)",
        "check": is_not_instrumented},
    "coverage": {
        "what": "coverage of the parent",
        "parent": "add_compile_options(--coverage)\nadd_link_options(--coverage)", "check": is_not_instrumented},
    "v3": {
        "what": "-march=x86-64-v3, which has neither AES nor PCLMUL: kernels of AVX2",
        "configure": ["-DCMAKE_CXX_FLAGS=-march=x86-64-v3", "-DCMAKE_C_FLAGS=-march=x86-64-v3"],
        "files": TARGET, "after": ADD_TARGET, "check": uses_kernels_of("AVX2")},
    "warnings": {
        "what": "the parent's warnings as errors", "parent": f"add_compile_options({' '.join(STRICT[:-1])} "
                "$<$<COMPILE_LANGUAGE:C>:-Wno-old-style-cast>)\nset(CMAKE_COMPILE_WARNING_AS_ERROR ON)"},
    "warnings_clang": {
        "what": "the parent's warnings as errors (clang)", "needs": list(CLANG), "compilers": CLANG,
        # Indexing a pointer is an "unsafe buffer": the parent's C code cannot do without it.
        "parent": "add_compile_options(-Weverything -Wno-unsafe-buffer-usage)\nset(CMAKE_COMPILE_WARNING_AS_ERROR ON)"},
    "standards": {
        "what": "C++11 and C23 of the parent", "parent": "set(CMAKE_CXX_STANDARD 11)\nset(CMAKE_C_STANDARD 23)\n"
                "set(CMAKE_CXX_STANDARD_REQUIRED ON)\nset(CMAKE_CXX_EXTENSIONS ON)"},
    "fixed_position": {
        "what": "no position-independent code, static program", "parent": "set(CMAKE_POSITION_INDEPENDENT_CODE OFF)",
        "after": "target_link_options(host PRIVATE -static -no-pie)"},
    "two_copies": {
        "what": "two plugins of one process, each with its own copy",
        "files": {"plugin.c": PLUGIN, "loader.c": LOADER},
        "after": "foreach(name IN ITEMS first second)\n  add_library(${name} SHARED plugin.c)\n"
                 "  target_link_libraries(${name} PRIVATE fovea::fovea)\nendforeach()\n"
                 "add_executable(loader loader.c)\ntarget_link_libraries(loader PRIVATE ${CMAKE_DL_LIBS})",
        "check": copies_do_not_meet},
    "archive": {
        "what": "FetchContent of a source archive", "source": archive,
        "add": "include(FetchContent)\nFetchContent_Declare(fovea URL @fovea@)\nFetchContent_MakeAvailable(fovea)"},
    "spaces": {
        "what": "folders with spaces in their names", "source": path_with_spaces},
    "makefiles": {
        "what": "Unix makefiles", "needs": ["make"], "generator": "Unix Makefiles"},
    "several_types": {
        "what": "a generator of several build types", "generator": "Ninja Multi-Config",
        "config": ["--config", "Debug"]},
    "other_linkers": {
        "what": "lld", "needs": ["ld.lld"], "parent": "add_link_options(-fuse-ld=lld)"},
}

SITUATIONS.update({
    "prefix": {
        "what": "two copies linked into one program, one with a prefix", "add": SECOND, "after": LINK_BOTH,
        "files": BOTH, "check": prefixes_are_kept_apart},
    "odd_flags": {
        "what": "-fvisibility=default, -fno-plt, -fshort-enums, -funsigned-char, large files, control-flow protection",
        "parent": "set(CMAKE_CXX_VISIBILITY_PRESET default)\nadd_compile_options(-fvisibility=default -fno-plt "
                  "-fshort-enums -funsigned-char -fstack-clash-protection -fcf-protection=full "
                  "-ftrivial-auto-var-init=pattern -fexceptions -frtti)\nadd_compile_definitions("
                  "_FILE_OFFSET_BITS=64 _GNU_SOURCE DEBUG NDEBUG)\nadd_link_options(-Wl,-z,now,-z,relro)",
        "check": needs_no_cxx_runtime},
    "static_pie": {
        "what": "a static position-independent program", "parent": "set(CMAKE_POSITION_INDEPENDENT_CODE ON)\n"
                "add_compile_options(-fPIE)", "after": "target_link_options(host PRIVATE -static-pie)"},
    "newest_standards": {
        "what": "C++23 without extensions",
        "parent": "set(CMAKE_CXX_STANDARD 23)\nset(CMAKE_CXX_STANDARD_REQUIRED ON)\n"
                "set(CMAKE_CXX_EXTENSIONS OFF)\nset(CMAKE_C_EXTENSIONS OFF)"},
    "old_policies": {
        "what": "a parent in C alone, with the policies of CMake 3.16", "minimum": "3.16", "languages": "C"},
    "tests_of_the_parent": {
        "what": "a parent with tests and targets that have common names",
        "parent": "include(CTest)\nadd_test(NAME own COMMAND ${CMAKE_COMMAND} --version)\n"
                  "foreach(name IN ITEMS installed release bundle man_pages package_source tests tools)\n"
                  "  add_custom_target(${name})\nendforeach()", "check": only_the_parents_tests},
    "variables": {
        "what": "variables and modules of the parent that have the names of fovea's", "files": {
            f"modules/{name}.cmake": 'message(FATAL_ERROR "a module of the parent")\n' for name in MODULES},
        "parent": "list(APPEND CMAKE_MODULE_PATH ${CMAKE_SOURCE_DIR}/modules)\nforeach(name IN ITEMS "
                  f"{' '.join(VARIABLES)})\n  set(${{name}} parents)\nendforeach()"},
    "includes": {
        "what": "include directories of the parent that contain another Highway and another fovea", "files": {
            "other/hwy/highway.h": "#error another Highway\n", "other/fovea/status.h": "#error another fovea\n",
            "other/runtime/base/status.h": "#error another runtime\n"},
        "parent": "include_directories(other)",
        "after": "set_target_properties(host PROPERTIES INCLUDE_DIRECTORIES \"\")"},
    "nested": {
        "what": "a subproject of a subproject", "files": {"middle/CMakeLists.txt": "project(middle C)\n"
            "add_subdirectory(${FOVEA_SOURCE} fovea)\n"},
        "add": 'set(FOVEA_SOURCE "@fovea@")\nadd_subdirectory(middle)'},
    "export": {
        "what": "a target of the parent that links fovea, installed and exported", "after": EXPORT, "files": {
            "hostlib.c": PLUGIN, "user/CMakeLists.txt": USER,
            "user/user.c": "#include <stdio.h>\nconst char* version_of_plugin(void);\n"
                           "int main(void) { return puts(version_of_plugin()) < 0; }\n"},
        "check": exported_target_links},
    "folders": {
        "what": "folders and names of products chosen by the parent",
        "parent": "set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/out)\n"
                  "set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/out)\nset(CMAKE_DEBUG_POSTFIX d)\n"
                  "set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/out)",
        "configure": ["-DCMAKE_BUILD_TYPE=Debug"]},
    "release": {
        "what": "FetchContent of the release archive, without other sources", "source": release_archive,
        "configure": ["-DFOVEA_CACHE_DIR=/dev/null/none"],
        "add": "include(FetchContent)\nFetchContent_Declare(fovea URL @fovea@)\nFetchContent_MakeAvailable(fovea)"},
})

if shutil.which("mold"):
    SITUATIONS["mold"] = {"what": "mold", "parent": "add_link_options(-fuse-ld=mold)"}
