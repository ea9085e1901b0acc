#!/bin/sh
# The programs that README.md shows or names compile as C99 and C++, the one for C++ without exceptions and RTTI,
# without a warning.   examples.sh SOURCE_DIR CC CXX
set -eu
source=$1 cc=$2 cxx=$3
warnings="-Werror -Wall -Wextra -pedantic -Wshadow -Wconversion"
for example in readme attention reuse; do
  file=$source/tests/tools/${example}_example.c
  for language in "$cc -x c -std=c99" "$cc -x c -std=c11" "$cxx -x c++ -std=c++11" "$cxx -x c++ -std=c++17"; do
    # shellcheck disable=SC2086
    $language $warnings -I"$source/include" -fsyntax-only "$file" || { echo "$file: $language"; exit 1; }
  done
done
for compiler in "$cxx" $(command -v clang++-19 || command -v clang++ || true); do
  for standard in c++17 c++20; do
    # shellcheck disable=SC2086
    $compiler -std=$standard -fno-exceptions -fno-rtti $warnings -I"$source/include" -fsyntax-only \
      "$source/tests/tools/cpp_example.cc" || { echo "cpp_example.cc: $compiler $standard"; exit 1; }
  done
done
