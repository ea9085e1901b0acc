#!/bin/sh
# Both libraries define exactly the global names of symbols.txt.   symbols.sh [--update] NM SHARED [STATIC]
# After the interface has grown: cmake --build --preset host-release --target update_symbols, and read the difference.
set -eu
list=$(dirname "$0")/symbols.txt
update=
if [ "$1" = --update ]; then update=1; shift; fi
nm=$1 shared=$2 static=${3-}

# Names of the shared library have a version behind them, and the version is a name as well.
names() { "$nm" "$@" 2>/dev/null | awk 'NF >= 3 && $2 != "A" {sub(/@.*/, "", $3); print $3}' | sort -u; }

if [ -n "$update" ]; then names -D --defined-only "$shared" >"$list"; fi
if grep -v '^fovea_' "$list"; then echo "symbols.txt may hold only fovea_ names" >&2; exit 1; fi
names -D --defined-only "$shared" | diff "$list" - || { echo "the shared library's names changed" >&2; exit 1; }
[ -n "$static" ] || exit 0
names -g --defined-only "$static" | diff "$list" - || { echo "the static library's names changed" >&2; exit 1; }
