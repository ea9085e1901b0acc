#!/bin/sh
# Lists a DLL's exports: the functions of the C interface that its objects define.
#   export_definitions.sh NM OUTPUT.def OBJECT...
set -eu
nm=$1 output=$2
shift 2
{
  echo EXPORTS
  "$nm" -g --defined-only "$@" 2>/dev/null | awk 'NF == 3 && $2 == "T" && $3 ~ /^fovea_/ {print "  " $3}' | sort -u
} >"$output"
