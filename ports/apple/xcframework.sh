#!/bin/sh
# Makes CFovea.xcframework next to Package.swift: fovea and its port for iPhones, their simulator and Macs. Needs Xcode
# and CMake. Pinned sources come from build/deps, see cmake/README.md.
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
for preset in ios-arm64 ios-simulator-arm64 macos-arm64; do
  (cd "$root" && cmake --preset $preset && cmake --build --preset $preset --target fovea_static fovea_port)
  build=$root/build/$preset
  libtool -static -o "$build/libCFovea.a" "$build/runtime/libfovea.a" "$build/ports/libfovea_port.a"
  set -- "$@" -library "$build/libCFovea.a" -headers "$headers"
done
xcodebuild -create-xcframework "$@" -output "$here/CFovea.xcframework"
