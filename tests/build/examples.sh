#!/bin/sh
# The programs that ports/PROGRAMS.md shows or names, and the examples, compile as C99 and C++, the one for C++ without
# exceptions and RTTI, without a warning.   examples.sh SOURCE_DIR CC CXX
set -eu
source=$1 cc=$2 cxx=$3
warnings="-Werror -Wall -Wextra -pedantic -Wshadow -Wconversion"
installed=$(mktemp -d)  # where an installation has the port's header
trap 'rm -rf "$installed"' EXIT
mkdir "$installed/fovea"
cp "$source/ports/port.h" "$installed/fovea/port.h"
for file in "$source/tests/tools/readme_example.c" "$source"/ports/examples/*/*.c; do
  for language in "$cc -x c -std=c99" "$cc -x c -std=c11" "$cxx -x c++ -std=c++11" "$cxx -x c++ -std=c++17"; do
    # shellcheck disable=SC2086
    $language $warnings -I"$source/include" -I"$installed" -fsyntax-only "$file" || { echo "$file: $language"; exit 1; }
  done
done
for compiler in "$cxx" $(command -v clang++-19 || command -v clang++ || true); do
  for standard in c++17 c++20; do
    # shellcheck disable=SC2086
    $compiler -std=$standard -fno-exceptions -fno-rtti $warnings -I"$source/include" -fsyntax-only \
      "$source/tests/tools/cpp_example.cc" || { echo "cpp_example.cc: $compiler $standard"; exit 1; }
  done
done
