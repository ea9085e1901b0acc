"""What projects do that contain fovea: their settings as lines of CMake, and what must hold beside README's answer.

  parent     lines before fovea is added; after: lines after it
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
        "parent": "add_compile_options(-Weverything)\nset(CMAKE_COMPILE_WARNING_AS_ERROR ON)"},
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

if shutil.which("mold"):
    SITUATIONS["mold"] = {"what": "mold", "parent": "add_link_options(-fuse-ld=mold)"}
