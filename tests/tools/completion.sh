#!/bin/bash
# Scripts of "fovea completion": bash completes with its script; zsh and fish, where installed, parse their scripts.
#   completion.sh FOVEA_COMMAND FOLDER
set -eu
fovea=$1 folder=$2
mkdir -p "$folder"
for shell in bash zsh fish; do
  "$fovea" completion $shell >"$folder/fovea.$shell"
  if command -v $shell >/dev/null; then
    $shell -n "$folder/fovea.$shell"
  else
    echo "NOT TESTED: the syntax for $shell, which is not installed"
  fi
done
. "$folder/fovea.bash"

completes() {  # EXPECTED WORD...: the last word is completed
  expected=$1
  shift
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  _fovea
  if [ "${COMPREPLY[*]-}" != "$expected" ]; then
    echo "'$*' is completed to '${COMPREPLY[*]-}' instead of '$expected'"
    exit 1
  fi
}

completes "transcribe translate" fovea tr
completes "spans tokens" fovea run --tags ""
completes "--taps --tags" fovea run --ta
completes "" fovea run mod
completes "--threads" fovea run --thr
completes "" fovea nothing --t
