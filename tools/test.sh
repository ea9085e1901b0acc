#!/bin/sh
# Builds and runs all tests that must pass before a change is merged: on this machine, also without vectors and with
# sanitizers; kernels on 64-bit Arm under emulation (also compiled by clang, which supports more Arm targets); and
# firmware. tests/README.md lists what runs where, and why.
#   tools/test.sh [host-release] [host-scalar] [host-asan] [aarch64] [firmware]
#       all of these if none is named
#   tools/test.sh [sizes] [host-emu128] [host-asan-whole] [aarch64-whole] [x86_64] [armv7] [riscv64] [riscv64-vectors]
#       [wasm32] [windows-mingw]
#       bytes of small libraries, kernels as plain loops, sanitizers also in the code of tests, all tests on 64-bit Arm
#       (compiled by gcc and by clang), other processors, WebAssembly, Windows under Wine
#   tools/test.sh everything
#       both lists: takes hours, because of emulation
# The last line is the number of passed, failed and skipped cases; the lines above it name the skipped cases and the
# reasons.
set -eu
cd "$(dirname "$0")/.."
usual="host-release host-scalar host-asan aarch64 firmware"
cross="x86_64 armv7 riscv64 riscv64-vectors wasm32 windows-mingw"
named=${*:-$usual}
if [ "$named" = everything ]; then named="$usual sizes host-emu128 host-asan-whole aarch64-whole $cross"; fi
packages=--test
for what in $named; do
  case " $cross " in *" $what "*) packages=--cross ;; esac
done
tools/setup.sh $packages
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1  # a clone elsewhere finds the same objects
export CCACHE_SLOPPINESS=pch_defines,time_macros  # what precompiled headers need
jobs=$(nproc)
mkdir -p build
rm -f build/*.cases.log
failed=0

seconds() { echo "$(($(date +%s) - $1)) s"; }

# build PRESET [CONFIGURE_PRESET, unless it has the same name]
build() {
  start=$(date +%s)
  cmake --preset "${2:-$1}" -Wno-dev -DCMAKE_COMPILE_WARNING_AS_ERROR=ON >"build/$1.log" 2>&1 ||
    { cat "build/$1.log"; exit 1; }
  cmake --build --preset "$1" -j "$jobs" >>"build/$1.log" 2>&1 || { tail -n 60 "build/$1.log"; exit 1; }
  echo "$1: built ($(seconds "$start"))"
}

# check PRESET [BUILD_FOLDER, unless it has the preset's name]
check() {
  start=$(date +%s)
  rm -f "build/${2:-$1}/Testing/Temporary/LastTest.log"
  code=0
  ctest --preset "$1" -j "$jobs" >"build/$1.test.log" 2>&1 || code=$?
  if [ $code != 0 ]; then cat "build/$1.test.log"; failed=1; fi
  cp "build/${2:-$1}/Testing/Temporary/LastTest.log" "build/$1.cases.log"
  echo "$1: $(awk -f tools/test_summary.awk "build/$1.cases.log" | tail -n 1) ($(seconds "$start"))"
}

for what in $named; do
  case $what in
    aarch64)
      build aarch64-kernels aarch64-linux
      for processor in cortex-a53 max; do
        check aarch64-$processor aarch64-linux
      done
      build aarch64-clang
      check aarch64-clang
      build aarch64-dotprod
      check aarch64-dotprod
      ;;
    aarch64-whole)
      build aarch64-linux
      for tests in cortex-a53-models cortex-a76 whole; do
        check aarch64-$tests aarch64-linux
      done
      build aarch64-clang-whole
      check aarch64-clang-whole
      ;;
    sizes)
      build host-release
      check sizes host-release
      ;;
    x86_64)
      build x86_64-linux
      check x86_64-nehalem x86_64-linux
      check x86_64-haswell x86_64-linux
      build x86_64-clang
      check x86_64-clang
      ;;
    armv7)
      build armv7-linux
      check armv7-cortex-a15 armv7-linux
      check armv7-cortex-a7 armv7-linux
      build armv7-clang
      check armv7-clang
      ;;
    riscv64)
      build riscv64-linux
      check riscv64 riscv64-linux
      ;;
    riscv64-vectors)
      build riscv64-vectors
      check riscv64-vectors-128 riscv64-vectors
      check riscv64-vectors-256 riscv64-vectors
      ;;
    wasm32 | windows-mingw)
      build host-release
      build "$what"
      check "$what"
      ;;
    firmware)
      build host-release
      for processor in cortex-m7 cortex-m55 cortex-a53; do
        build "$processor"
        check "$processor"
      done
      ;;
    *)
      build "$what"
      check "$what"
      ;;
  esac
done

echo "== all"
awk -f tools/test_summary.awk build/*.cases.log
exit $failed
