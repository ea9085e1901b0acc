#!/bin/sh
# The Debian package is installed by dpkg into a separate folder; its library, headers, command, CMake and pkg-config
# files and manual pages work from there.
#   deb.sh SOURCE_DIR BUILD_DIR CC
set -eu
source=$1 build=$2 cc=$3
for tool in dpkg-deb dpkg-shlibdeps pkg-config; do
  command -v "$tool" >/dev/null || { echo "NOT TESTED: the Debian package, for want of $tool"; exit 77; }
done
work=$build/tests/packages/deb
rm -rf "$work"
mkdir -p "$work/root/var/lib/dpkg"
cmake --build "$build" --target fovea_static fovea_shared fovea_command fovea_man_pages >/dev/null
(cd "$build" && cpack -G DEB -B "$work" >"$work/cpack.log") || { tail -n 20 "$work/cpack.log"; exit 1; }
package=$(find "$work" -maxdepth 1 -name '*.deb')

# A separate database, as on an empty system: dependencies are read, not installed, and the loader's cache is not
# this machine's.
: >"$work/root/var/lib/dpkg/status"
mkdir "$work/bin"
printf '#!/bin/sh\necho called >%s\n' "$work/ldconfig" >"$work/bin/ldconfig"
chmod +x "$work/bin/ldconfig"
in_root() {
  PATH="$work/bin:$PATH:/usr/sbin:/sbin" dpkg --root="$work/root" --log="$work/dpkg.log" --force-not-root \
    --force-depends --force-bad-path --force-script-chrootless "$@"
}
in_root -i "$package" >"$work/dpkg.txt" 2>&1 || { cat "$work/dpkg.txt"; exit 1; }
dpkg-query --admindir="$work/root/var/lib/dpkg" -W -f '${Package} ${Version} ${Status}\n' fovea
depends=$(dpkg-deb -f "$package" Depends)
echo "depends on: $depends"
case $depends in *libc6*) ;; *) echo "the package does not depend on the C library" >&2; exit 1 ;; esac
[ -e "$work/ldconfig" ] || { echo "ldconfig was not called" >&2; exit 1; }

usr=$work/root/usr
pages=$(find "$usr/share/man/man1" -name '*.1' | wc -l)
commands=$("$usr/bin/fovea" --help | grep -c '^  [a-z]')
[ "$pages" = $((commands + 1)) ] || { echo "$pages manual pages of $commands commands" >&2; exit 1; }
if command -v groff >/dev/null; then
  for page in "$usr"/share/man/man1/*.1; do
    # Long names of options cannot be adjusted or broken.
    faults=$(groff -ww -man -Tutf8 "$page" 2>&1 >/dev/null | grep -v 'adjust line\|break line' || true)
    [ -z "$faults" ] || { echo "$faults" >&2; exit 1; }
  done
fi

text="A library to read compressed audio files. It supports FLAC and Ogg Vorbis."
model=$work/classifier.fovea
"$usr/bin/fovea" convert "$source/tools/train/package-section" -o "$model" --weights int8 --compare none >/dev/null
expected=$("$build/tests/tools/readme_example" "$model" "$text")
export PKG_CONFIG_PATH="$usr/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR=
compare() {  # compare HOW PROGRAM
  found=$("$2" "$model" "$text")
  [ "$found" = "$expected" ] || { echo "$1: the text is of class $found, not $expected" >&2; exit 1; }
  echo "$1: $found"
}
example=$source/tests/tools/readme_example.c
# shellcheck disable=SC2046
"$cc" -std=c99 "$example" -o "$work/shared" $(pkg-config --cflags --libs fovea) -Wl,-rpath,"$usr/lib"
readelf -d "$work/shared" | grep -q 'NEEDED.*libfovea[.]so[.]' ||
  { echo "does not need the library's SONAME" >&2; exit 1; }
compare "pkg-config" "$work/shared"
# shellcheck disable=SC2046
"$cc" -std=c99 "$example" -o "$work/static" -static $(pkg-config --static --cflags --libs fovea)
compare "pkg-config --static" "$work/static"
mkdir "$work/project"
printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(classify C)' 'find_package(fovea REQUIRED)' \
  "add_executable(classify $example)" 'target_link_libraries(classify PRIVATE fovea::fovea)' \
  >"$work/project/CMakeLists.txt"
cmake -S "$work/project" -B "$work/project/build" -DCMAKE_PREFIX_PATH="$usr" -DCMAKE_C_COMPILER="$cc" >/dev/null
cmake --build "$work/project/build" >/dev/null
compare "find_package" "$work/project/build/classify"

in_root -r fovea >/dev/null 2>&1
left=$(find "$usr" -type f 2>/dev/null | head -n 3)
[ -z "$left" ] || { echo "removing the package leaves $left" >&2; exit 1; }
rm -rf "$work"
