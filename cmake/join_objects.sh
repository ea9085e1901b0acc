#!/bin/sh
# Joins objects and archives into one object that holds what its exported functions reach, with all other names local.
#   MACHINE="FLAGS" join_objects.sh CC NM OBJCOPY OUTPUT INPUT...      FLAGS: the machine that CC compiles for
set -eu
cc=$1 nm=$2 objcopy=$3 output=$4
shift 4
# Without its groups: a program that has the same inline function would have the linker drop ours.
# shellcheck disable=SC2086
"$cc" $MACHINE -r -nostdlib -Wl,--gc-sections,--gc-keep-exported,--force-group-allocation -o "$output" "$@"
"$objcopy" --localize-hidden "$output"

# Names that only discarded sections referred to are still listed as undefined: drop them, lest they pull in libraries.
# --strip-unneeded tells them apart, but would take the names of local functions, which profilers show, as well.
undefined() { "$nm" -u "$1" | awk '{print $2}' | sort; }
"$objcopy" --strip-unneeded "$output" "$output.stripped"
undefined "$output.stripped" >"$output.needed"
undefined "$output" | comm -23 - "$output.needed" >"$output.unneeded"
if [ -s "$output.unneeded" ]; then "$objcopy" --strip-symbols="$output.unneeded" "$output"; fi
rm -f "$output.stripped" "$output.needed" "$output.unneeded"
