#!/bin/sh
# Makes CFovea.xcframework beside Package.swift: fovea and its port for iPhones, their simulator and Macs. Needs Xcode and
# CMake. Pinned sources come from build/deps, as cmake/README.md says.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
work=$root/build/apple
headers=$work/headers
rm -rf "$headers" "$here/CFovea.xcframework"
mkdir -p "$headers/fovea" "$headers/ports"
cp "$root"/include/fovea/*.h "$headers/fovea"
cp "$root/ports/port.h" "$headers/ports"
cp "$here/module.modulemap" "$headers"

set --
for platform in iphoneos:iOS:arm64 iphonesimulator:iOS:arm64 macosx:Darwin:arm64; do
  sdk=${platform%%:*} architecture=${platform##*:}
  system=${platform#*:}
  build=$work/$sdk
  cmake -S "$root" -B "$build" -G Ninja -DCMAKE_SYSTEM_NAME="${system%:*}" -DCMAKE_OSX_SYSROOT="$sdk" \
    -DCMAKE_OSX_ARCHITECTURES="$architecture" -DFOVEA_BUILD_TOOLS=OFF -DFOVEA_BUILD_TESTS=OFF -DFOVEA_PORT=posix
  cmake --build "$build" --target fovea_static fovea_port
  libtool -static -o "$build/libCFovea.a" "$build/runtime/libfovea.a" "$build/ports/libfovea_port.a"
  set -- "$@" -library "$build/libCFovea.a" -headers "$headers"
done
xcodebuild -create-xcframework "$@" -output "$here/CFovea.xcframework"
