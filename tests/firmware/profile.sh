#!/bin/sh
# The profile of the sample is what its model needs.   profile.sh HOST_COMMAND BLOB PROFILE
set -eu
explain=
if grep -qx 'part taps' "$3"; then
  explain=--explain
fi
needed=$("$1" inspect "$2" --needs $explain | grep -v '^#' | sort)
listed=$(grep -v '^#' "$3" | sort)
if [ "$needed" != "$listed" ]; then
  echo "$3 is not what the model needs:" >&2
  "$1" inspect "$2" --needs $explain
  exit 1
fi
