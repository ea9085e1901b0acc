#!/bin/sh
# Defines the names of XNNPACK that objects refer to and none defines: files that are left out, because only functions
# refer to them that are never called. Elsewhere linkers discard these functions first; on Windows the tables for
# unwinding keep every function. Each name is an instruction that traps.
#   unused_names.sh NM CC OUTPUT.obj OBJECT...
set -eu
nm=$1 cc=$2 output=$3
shift 3
names() { "$nm" "$@" 2>/dev/null | awk '$NF ~ /^xnn_/ {print $NF}' | sort -u; }
names --defined-only "$@" >"$output.defined"
{
  echo '	.text'
  names -u "$@" | comm -23 - "$output.defined" | awk '{print "\t.globl " $1 "\n" $1 ":"}'
  echo '	ud2'
} >"$output.s"
"$cc" -c -o "$output" "$output.s"
rm "$output.defined" "$output.s"
