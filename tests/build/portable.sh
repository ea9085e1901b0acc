#!/bin/sh
# Programs labelled portable hold no kernel that depends on the processor: a second processor would test nothing new.
#   portable.sh NM PROGRAM...
set -eu
nm=$1
shift
for program; do
  names=$("$nm" -C "$program" | grep -cE ' xnn_|::N_[A-Z0-9_]+::' || true)
  echo "$(basename "$program"): $names names of kernels"
  [ "$names" = 0 ] || exit 1
done
