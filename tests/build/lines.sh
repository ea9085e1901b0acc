#!/bin/sh
# No line is longer than 120 columns: clang-format leaves comments and strings unchanged. Exempt are tables of READMEs,
# which cannot be broken, and hashes of pinned sources.   lines.sh SOURCE_DIR
set -eu
cd "$1"
files=$(find ./* .ci -path ./build -prune -o -path ./tests/data -prune -o -path ./tests/fuzz/corpus -prune -o \
  -type f -print |
  grep -E '\.(h|hpp|c|cc|inc|cmake|sh|py|mjs|html|css|java|swift|md)$|CMakeLists\.txt$|/run$' | sort)
long=$(echo "$files" | xargs grep -HnE '.{121}' | grep -vE '^[^:]*:[0-9]+: *\||[0-9a-f]{64}$' || true)
[ -z "$long" ] || { echo "$long"; exit 1; }
