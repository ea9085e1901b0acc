#!/bin/sh
# Builds and tests everything: this machine, this machine with sanitizers, and 64-bit Arm under emulation (the kernels
# with clang, too, which compiles them for more Arm targets).
#   tools/test.sh [host-release] [host-asan] [aarch64]     all three when none is named
set -eu
cd "$(dirname "$0")/.."
tools/setup.sh --test
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1  # a clone elsewhere finds the same objects
jobs=$(nproc)
results=build/test-summary.txt
mkdir -p build
: >"$results"
failed=0

build() {
  echo "== build $1"
  cmake --preset "$1" -Wno-dev -DCMAKE_COMPILE_WARNING_AS_ERROR=ON >"build/$1.log" 2>&1 || { cat "build/$1.log"; exit 1; }
  cmake --build --preset "$1" -j "$jobs" >>"build/$1.log" 2>&1 || { tail -n 60 "build/$1.log"; exit 1; }
}

check() {
  echo "== test $1"
  start=$(date +%s)
  code=0
  ctest --preset "$1" -j "$jobs" >"build/$1.test.log" 2>&1 || code=$?
  if [ $code != 0 ]; then cat "build/$1.test.log"; failed=1; fi
  echo "$1: $(grep 'tests passed' "build/$1.test.log" || echo "ctest failed") ($(($(date +%s) - start)) s)" | tee -a "$results"
}

for what in ${*:-host-release host-asan aarch64}; do
  case $what in
    aarch64)
      build aarch64-linux
      check aarch64-cortex-a53
      check aarch64-max
      build aarch64-clang
      check aarch64-clang
      ;;
    *)
      build "$what"
      check "$what"
      ;;
  esac
done

echo "== summary"
cat "$results"
sed -n 's/.* \([0-9]*\) tests\{0,1\} failed out of \([0-9]*\).*/\1 \2/p' "$results" |
  awk '{failed += $1; all += $2} END {printf "%d passed, %d failed\n", all - failed, failed}'
exit $failed
