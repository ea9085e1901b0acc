#!/bin/sh
# Joins objects and archives into one object with the code that its exported functions reach; all other names are local.
# The exported ones are hidden: a shared library that contains this object does not export them again, so two plugins of
# one process, each with a copy, do not call each other's.
#   MACHINE="FLAGS" NAMES="PREFIX*" join_objects.sh CC NM OBJCOPY OUTPUT INPUT...
#       FLAGS: the machine that CC compiles for; PREFIX: the beginning of exported names
set -eu
cc=$1 nm=$2 objcopy=$3 output=$4
shift 4
# Without its groups: otherwise the linker would drop our copy of an inline function that the program has as well.
# shellcheck disable=SC2086
"$cc" $MACHINE -r -nostdlib -Wl,--gc-sections,--gc-keep-exported,--force-group-allocation -o "$output" "$@"
# Namespace std is not hidden: without optimisation its inline functions would be global names.
"$objcopy" --localize-hidden --wildcard --keep-global-symbol="$NAMES" "$output"

# Names that only discarded sections referred to are still listed as undefined: drop them, so that they pull in no
# libraries. --strip-unneeded finds them, but would also remove the names of local functions, which profilers show.
undefined() { "$nm" -u "$1" | awk '{print $2}' | sort; }
"$objcopy" --strip-unneeded "$output" "$output.stripped"
undefined "$output.stripped" >"$output.needed"
undefined "$output" | comm -23 - "$output.needed" >"$output.unneeded"
if [ -s "$output.unneeded" ]; then "$objcopy" --strip-symbols="$output.unneeded" "$output"; fi

# The linker gives a name the narrowest visibility that an object asks for; this one only asks.
{
  printf '.section .note.GNU-stack,"",%%progbits\n.section .fovea_hidden\n'
  "$nm" -g --defined-only "$output" | awk 'NF == 3 {print ".hidden " $3; print ".dc.a " $3}'
} >"$output.s"
# shellcheck disable=SC2086
"$cc" $MACHINE -c -o "$output.names" "$output.s"
# shellcheck disable=SC2086
"$cc" $MACHINE -r -nostdlib -o "$output.hidden" "$output" "$output.names"
"$objcopy" --remove-section .fovea_hidden "$output.hidden" "$output"
rm -f "$output.stripped" "$output.needed" "$output.unneeded" "$output.s" "$output.names" "$output.hidden"
