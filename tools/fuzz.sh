#!/bin/sh
# Fuzzes the library and the converter with clang's libFuzzer (tests/fuzz/README.md), each harness for N seconds.
#   tools/fuzz.sh SECONDS [HARNESS...]     all harnesses when none is named
# Inputs that reach new code are kept in build/fuzz/HARNESS, inputs that reveal a fault in build/fuzz/found. Exits with
# 1 if there is a fault.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:?usage: tools/fuzz.sh SECONDS [HARNESS...]}
shift
harnesses=${*:-$(sed -n 's/^FOVEA_HARNESS(\(.*\))$/\1/p' tests/fuzz/harness_list.inc | tr '[:upper:]' '[:lower:]')}
tools/setup.sh --fuzz
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
cmake --preset host-fuzz -Wno-dev >/dev/null
cmake --build --preset host-fuzz

found=build/fuzz/found
mkdir -p "$found"
code=0
for harness in $harnesses; do
  kept=build/fuzz/$harness
  log=build/fuzz/$harness.log
  mkdir -p "$kept"
  before=$(find "$kept" -type f | wc -l)
  result=ok
  # Also detects leaks. No input takes a second; 25 seconds are a hang.
  FOVEA_FUZZ=$harness build/host-fuzz/tests/fuzz/fuzzer "$kept" $(ls -d "tests/fuzz/corpus/$harness" 2>/dev/null) \
    -max_total_time="$seconds" -max_len=400000 -timeout=25 -rss_limit_mb=3000 -malloc_limit_mb=1500 \
    -artifact_prefix="$found/$harness-" -print_final_stats=1 >"$log" 2>&1 || result=FOUND
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  echo "$harness: ${runs:-0} runs, $(($(find "$kept" -type f | wc -l) - before)) new inputs, $result"
  if [ $result != ok ]; then
    code=1
    grep -E 'BROKEN PROMISE|ERROR:|SUMMARY|runtime error|Test unit written' "$log" || tail -n 20 "$log"
  fi
done
exit $code
