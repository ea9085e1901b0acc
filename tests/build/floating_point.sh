#!/bin/sh
# Compiler modes that change floating-point results: sources compiled without CMake refuse them or are not affected, and
# fovea's own build switches them off.
#   floating_point.sh CMAKE SOURCE_DIR BUILD_DIR HIGHWAY_DIR CC CXX [OTHER_CXX]
set -eu
cmake=$1 source=$2 build=$3 highway=$4 cc=$5 cxx=$6 other=${7-}
work=$build/tests/build/floating_point
rm -rf "$work"
mkdir -p "$work"
fail() { echo "$*" >&2; exit 1; }
is_clang() { "$1" -dM -E -x c++ /dev/null | grep -q __clang__; }
is_x86() { "$1" -dM -E -x c++ /dev/null | grep -q __x86_64__; }

fast="-ffast-math -Ofast -ffinite-math-only -Ofast,-fno-signed-zeros"
gcc_parts="-funsafe-math-optimizations -freciprocal-math -fassociative-math,-fno-signed-zeros,-fno-trapping-math
  -fsingle-precision-constant"
clang_parts="-funsafe-math-optimizations -freciprocal-math -fassociative-math,-fno-signed-zeros -fapprox-func"
harmless="-O2 -frounding-math -fno-signed-zeros -fno-trapping-math"

# compiles COMPILER MODE SOURCE OBJECT: with the flags of the bundle after the mode.
compiles() {
  # shellcheck disable=SC2046
  "$1" -std=c++17 -O2 $(echo "$2" | tr , ' ') -ffp-contract=off -fno-math-errno -fno-exceptions -fno-rtti -w \
    -DHWY_COMPILE_ONLY_STATIC -I"$source" -I"$source/include" -I"$highway" -c "$3" -o "$4"
}

refuses() {
  echo '#include "runtime/base/floating_point.h"' >"$work/empty.cc"
  if compiles "$1" "$2" "$work/empty.cc" "$work/empty.o" 2>"$work/said"; then fail "$1 $2 is not refused"; fi
  grep -q "fovea needs" "$work/said" || { cat "$work/said"; fail "$1 $2 is refused without a reason"; }
  echo "$1: $2 is refused"
}

# The same object code in this mode as without.
is_not_affected() {
  for kernel in quantize softmax activation; do
    printf '#include "runtime/base/floating_point.h"\n#include "runtime/kernels/%s.cc"\n' "$kernel" >"$work/$kernel.cc"
    plain=$work/$kernel.$(basename "$1").o
    [ -f "$plain" ] || compiles "$1" -O2 "$work/$kernel.cc" "$plain"
    compiles "$1" "$2" "$work/$kernel.cc" "$work/$kernel.o"
    cmp -s "$plain" "$work/$kernel.o" || fail "$1 $2 compiles another $kernel"
  done
  echo "$1: the same kernels with $2"
}

for compiler in "$cxx" $other; do
  modes=$fast
  if ! is_clang "$compiler"; then
    modes="$modes $gcc_parts"
    if is_x86 "$compiler"; then modes="$modes -mfpmath=387 -mfpmath=both"; fi
  fi
  for mode in $modes; do refuses "$compiler" "$mode"; done
  if is_clang "$compiler"; then
    for mode in $clang_parts; do is_not_affected "$compiler" "$mode"; done
  else
    for mode in $harmless; do compiles "$compiler" "$mode" "$work/empty.cc" "$work/empty.o"; done
  fi
done

# A parent project that sets all these modes, in both possible ways, and adds fovea's build.
parts=$gcc_parts
if is_clang "$cxx"; then parts=$clang_parts; fi
if ! is_clang "$cxx" && is_x86 "$cxx"; then parts="$parts -mfpmath=387 -mrecip"; fi
modes=$(echo $fast $parts | tr ', ' '  ')
for kind in plain host; do
  mkdir -p "$work/$kind"
  options=
  if [ "$kind" = host ]; then options="add_compile_options($modes)"; fi
  cat >"$work/$kind/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(host C CXX)
$options
add_subdirectory($source fovea)
END
  flags=
  if [ "$kind" = host ]; then flags=$modes; fi
  "$cmake" -S "$work/$kind" -B "$work/$kind/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_C_FLAGS="$flags" -DCMAKE_CXX_FLAGS="$flags" -DFOVEA_BUILD_TOOLS=OFF \
    -DFOVEA_BUILD_TESTS=OFF -DFOVEA_SIMD=baseline -Wno-dev >"$work/$kind/configure.log" 2>&1 ||
    { cat "$work/$kind/configure.log"; exit 1; }
  objects=$(ninja -C "$work/$kind/build" -t targets all | sed -n 's/: .*//p' |
    grep -E 'kernels/(quantize|softmax|activation)\.cc\.o$|/microkernels-prod.*qd8-f32-qc8w-gemm-1x[^/]*\.o$')
  [ "$(echo "$objects" | wc -l)" -gt 3 ] || fail "XNNPACK's kernels are not found"
  # shellcheck disable=SC2086
  ninja -C "$work/$kind/build" $objects >"$work/$kind/build.log" 2>&1 || { tail "$work/$kind/build.log"; exit 1; }
done
for object in $objects; do
  cmp -s "$work/plain/build/$object" "$work/host/build/$object" || fail "a host's flags change $object"
done
echo "fovea's build: the same objects within a project with $modes"
