#!/bin/sh
# C and C++ are formatted according to .clang-format.   format.sh [--fix] SOURCE_DIR
set -eu
how="--dry-run --Werror"
if [ "$1" = --fix ]; then how=-i; shift; fi
cd "$1"
# shellcheck disable=SC2086
find include ports runtime tests tools -path tests/data -prune -o -name '*.[hc]*' -type f -print |
  grep -E '\.(h|hpp|c|cc)$' | sort | xargs clang-format-14 $how
