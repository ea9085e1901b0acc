#!/bin/sh
# A Meson project takes the release archive as a subproject by the wrap that was made with it, without a network, and
# README's example in it classifies a text as this build does. Also when it turns on unity builds, link-time
# optimisation, sanitizers and warnings as errors for itself.
#   meson.sh SOURCE_DIR BUILD_DIR CC CXX
set -eu
source=$1 build=$2
export CC="$3" CXX="$4"
meson=${MESON:-meson}
command -v "$meson" >/dev/null || { echo "NOT TESTED: the Meson wrap, for want of meson"; exit 77; }
work=$build/tests/packages/meson
rm -rf "$work"
mkdir -p "$work/project/subprojects/packagecache"
cmake --build "$build" --target release >/dev/null
cp "$build/release/meson/fovea.wrap" "$work/project/subprojects/"
cp "$build"/release/fovea-*.tar.xz "$work/project/subprojects/packagecache/"
cp "$source/tests/tools/readme_example.c" "$work/project/example.c"
cat >"$work/project/meson.build" <<'END'
project('host', 'c', default_options: ['warning_level=3', 'werror=true', 'unity=on', 'b_sanitize=address',
  'b_lundef=false'])
fovea = dependency('fovea', version: '>= 0.1', default_options: ['simd=baseline'])
executable('host', 'example.c', dependencies: fovea)
END

text="A library to read compressed audio files. It supports FLAC and Ogg Vorbis."
model=$work/classifier.fovea
"$build/fovea" convert "$source/tools/train/package-section" -o "$model" --weights int8 --compare none >/dev/null
expected=$("$build/tests/tools/readme_example" "$model" "$text")
for kind in ${KINDS:-static shared}; do
  "$meson" setup "$work/project" "$work/$kind" -Ddefault_library="$kind" --wrap-mode=nofallback \
    --force-fallback-for=fovea >"$work/$kind.log" 2>&1 ||
    { tail -n 20 "$work/$kind.log"; exit 1; }
  ninja -C "$work/$kind" >>"$work/$kind.log" 2>&1 || { tail -n 20 "$work/$kind.log"; exit 1; }
  found=$("$work/$kind/host" "$model" "$text")
  [ "$found" = "$expected" ] || { echo "$kind: the text is of class $found, not $expected" >&2; exit 1; }
  if [ $kind = static ]; then
    library=$(echo "$work/$kind"/subprojects/fovea-*/libfovea.a)
    foreign=$(nm -u "$library" | grep -E ' (_ZN?St|__cxa|__asan|_ZN7__gnu)' | head -n 3)
  else
    library=$(echo "$work/$kind"/subprojects/fovea-*/libfovea.so)
    foreign=$(nm -D --defined-only "$library" | grep -vE ' (fovea_|A FOVEA_)' | head -n 3)
  fi
  [ -z "$foreign" ] || { echo "$kind: $foreign" >&2; exit 1; }
  echo "Meson, $kind: $found"
done
rm -rf "$work"
