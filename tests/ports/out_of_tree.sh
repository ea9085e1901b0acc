#!/bin/sh
# A copy of ports/template elsewhere: by itself against the installed library, and as the port of fovea's own build.
#   out_of_tree.sh CMAKE BUILD_DIR CC BLOB
set -eu
cmake=$1 build=$2 cc=$3 blob=$4
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$build/tests/ports/out_of_tree
rm -rf "$work"
mkdir -p "$work"
cp -r "$root/ports/template" "$work/mine"
"$cmake" --install "$build" --prefix "$work/prefix" >/dev/null

"$cmake" -S "$root/ports" -B "$work/alone" -G Ninja -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DFOVEA_PORT="$work/mine" >/dev/null
"$cmake" --build "$work/alone" >/dev/null
"$work/alone/port_check" "$blob" 3

# One whose runner forgets a worker: the check sees it.
sed -i 's/worker < workers; ++worker/worker + 1 < workers; ++worker/' "$work/mine/port.c"
"$cmake" --build "$work/alone" >/dev/null
if "$work/alone/port_check" "$blob"; then echo "a runner that forgets a worker went unnoticed" >&2; exit 1; fi

cp "$root/ports/template/port.c" "$work/mine/port.c"
"$cmake" -S "$root" -B "$work/within" -G Ninja -DCMAKE_C_COMPILER="$cc" -DFOVEA_PORT="$work/mine" \
  -DFOVEA_BUILD_TOOLS=OFF -DFOVEA_BUILD_TESTS=OFF -DFOVEA_XNNPACK=OFF >/dev/null
"$cmake" --build "$work/within" --target fovea_port >/dev/null
if "$cmake" -S "$root/ports" -B "$work/none" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" -DFOVEA_PORT="$work/none" \
  >/dev/null 2>"$work/error"; then
  echo "a port without sources was taken" >&2; exit 1
fi
grep -q "FOVEA_PORT is" "$work/error"
echo "out of tree: as expected"
