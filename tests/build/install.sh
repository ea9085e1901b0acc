#!/bin/sh
# A C99 and a C++17 program find, link and run the installed library: static and shared, by CMake and by pkg-config.
#   install.sh CMAKE BUILD_DIR CC TARGET_OR_EMPTY TOOLCHAIN_FILE [EMULATOR...]
set -eu
cmake=$1 build=$2 cc=$3 target=${4:+--target=$4} toolchain=$5
shift 5
consumer=$(cd "$(dirname "$0")/consumer" && pwd)
work=$build/tests/install
rm -rf "$work"
"$cmake" --install "$build" --prefix "$work/prefix" >/dev/null

for kind in static shared fovea; do
  "$cmake" -S "$consumer" -B "$work/$kind" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_C_COMPILER="$cc" \
    ${toolchain:+-DCMAKE_TOOLCHAIN_FILE="$toolchain"} -DKIND="$kind" >/dev/null
  "$cmake" --build "$work/$kind" >/dev/null
  echo "find_package, $kind: $("$@" "$work/$kind/consumer")"
  echo "find_package, $kind, C++: $("$@" "$work/$kind/consumer_cpp")"
done

pc=$(find "$work/prefix" -name fovea.pc)
lib=$(dirname "$(dirname "$pc")")
export PKG_CONFIG_PATH="${pc%/*}"
flags=$(pkg-config --cflags --libs fovea)
"$cc" $target -std=c99 "$consumer/main.c" -o "$work/with_shared" $flags -Wl,-rpath,"$lib"
echo "pkg-config, shared: $("$@" "$work/with_shared")"
flags=$(pkg-config --static --cflags --libs fovea)
"$cc" $target -std=c99 "$consumer/main.c" -o "$work/with_static" -static $flags
echo "pkg-config, static: $("$@" "$work/with_static")"
