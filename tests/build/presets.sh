#!/bin/sh
# Presets with a vendor's toolchain are listed, report what is missing, and pass the preset's settings to an NDK.
# A cross build with a command of this machine can be configured: it takes its manual pages from there.
#   presets.sh CMAKE SOURCE_DIR WORK_DIR
set -eu
cmake=$1 source=$2 work=$3
unset ANDROID_NDK_HOME ANDROID_NDK_ROOT
rm -rf "$work"
mkdir -p "$work/empty" "$work/ndk/build/cmake"
cd "$source"
for preset in android-arm64 android-armv7 ios-arm64 ios-simulator-arm64 macos-arm64; do
  "$cmake" --list-presets | grep "\"$preset\".*(not run here)" >/dev/null ||
    { echo "$preset is not listed" >&2; exit 1; }
done

# refused PRESET PATTERN: configuring fails, and its messages, joined to one line, match the pattern.
refused() {
  if "$cmake" --preset "$1" -B "$work/$1" >"$work/log" 2>&1; then echo "$1 was configured" >&2; exit 1; fi
  tr -s '\n ' ' ' <"$work/log" >"$work/line"
  grep -q "$2" "$work/line" || { echo "$1 does not contain '$2':" >&2; cat "$work/log" >&2; exit 1; }
}
refused android-arm64 "NDK is needed: set ANDROID_NDK_HOME to its folder"
export ANDROID_NDK_HOME="$work/empty"
refused android-arm64 "/empty is not Android's NDK: it has no build/cmake/android.toolchain.cmake"
rm -rf "$work/android-arm64"
# A fake NDK prints its arguments. A folder whose first configuration failed accepts it later.
unset ANDROID_NDK_HOME
refused android-arm64 "NDK is needed"
echo 'message(FATAL_ERROR "given ${ANDROID_ABI} ${ANDROID_PLATFORM} here")' \
  >"$work/ndk/build/cmake/android.toolchain.cmake"
export ANDROID_NDK_ROOT="$work/ndk"
refused android-arm64 "given arm64-v8a android-24 here"
refused android-armv7 "given armeabi-v7a android-24 here"
if [ "$(uname)" != Darwin ]; then
  for preset in ios-arm64 ios-simulator-arm64 macos-arm64; do
    refused $preset "need a Mac with Xcode; this is $(uname)"
  done
fi
if command -v aarch64-linux-gnu-g++ >/dev/null; then
  "$cmake" --preset aarch64-linux -B "$work/aarch64" -Wno-dev -DFOVEA_HOST_COMMAND="$work/fovea" -DFOVEA_XNNPACK=OFF \
    -DFOVEA_BUILD_TESTS=OFF >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
fi
echo "presets: as expected"
