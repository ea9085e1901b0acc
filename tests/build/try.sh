#!/bin/sh
# The targets that tools/try.sh builds are enough for `cmake --install` and for pip, and it shows the build's progress.
#   try.sh SOURCE_DIR BUILD_DIR
set -eu
source=$1 build=$2

# A line for each tenth of a build of 40 steps, none of lines that are no steps.
progress=$(sed -n '/^show_progress() {/,/^}/p' "$source/tools/try.sh")
shown=$({ echo "-- Configuring [1/2"; seq 1 40 | sed 's|.*|[&/40] Building [x/y] a.o|'; } |
  sh -c "$progress
show_progress" 2>&1)
if [ "$(echo "$shown" | wc -l)" != 10 ] || ! echo "$shown" | grep -q "^40 of 40 steps, about 0:00 left$"; then
  echo "tools/try.sh shows of 40 steps:"
  echo "$shown"
  exit 1
fi

if [ ! -f "$build/build.ninja" ]; then echo "SKIPPED: a build folder of another generator than Ninja"; exit 77; fi
target=$(sed -n 's/.*cmake --build .* --target \([a-z_]*\);.*/\1/p' "$source/tools/try.sh")
[ -n "$target" ] || { echo "tools/try.sh names no target"; exit 1; }
made=$build/tests/build/try.made
mkdir -p "${made%/*}"
ninja -C "$build" -t commands "$target" | tr ' ' '\n' >"$made"  # files as words

# Files of the build folder that are installed, except files that the configuration or pip writes.
in_quotes="s|.*\"$build/\([^\";]*\)\".*|\1|p"
installed=$(find "$build" -name cmake_install.cmake -not -path '*/tests/*' -exec sed -n "$in_quotes" {} +)
missing=0 count=0
for file in $installed ports/libfovea_port.so runtime/libfovea.so; do
  case $file in *.cmake | *.pc | *'$'* | */) continue ;; esac
  [ ! -d "$build/$file" ] || continue
  count=$((count + 1))
  grep -qx "$file" "$made" || { echo "$file is installed, and not made by target $target"; missing=1; }
done
[ "$count" -gt 4 ] || { echo "only $count files are installed"; exit 1; }
exit $missing
