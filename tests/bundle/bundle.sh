#!/bin/sh
# The sources that a profile leaves compile without CMake, run the model that the profile was made for as the whole
# library does, and refuse another one by name.
#   bundle.sh SOURCE_DIR BUILD_DIR HIGHWAY_DIR CC CXX
set -eu
source=$1 build=$2 highway=$3 cc=$4 cxx=$5
work=$build/tests/bundle/work
rm -rf "$work"
mkdir -p "$work/objects"
model=$work/classifier.fovea other=$source/tools/train/package-section-hierarchical.fovea
"$build/fovea" convert "$source/tools/train/package-section" -o "$model" --weights int8 --compare none \
  >"$work/convert.txt"

# Without limits, so that another model is refused for what it asks for and not for its size.
"$build/fovea" inspect "$model" --needs | grep -v '^limit' >"$work/model.profile"
echo "part errors" >>"$work/model.profile"
python3 "$source/cmake/bundle.py" "$source" "$highway" "$work/bundle" "$work/model.profile"

cd "$work/objects"
flags=$(sed -n 's/^    c++ \(.*\) -c sources.*/\1/p' ../bundle/README.md |
  sed 's/-O2/-O1/; s/-I\([^ ]*\)/-I..\/bundle\/\1/g')
[ -n "$flags" ]
# shellcheck disable=SC2086
find ../bundle/sources -name '*.cc' -print0 | xargs -0 -n 8 -P "$(nproc)" "$cxx" $flags -Wall -Wextra -Werror -c
"$cc" -std=c99 -I../bundle/include -o ../classify "$source/tests/tools/readme_example.c" ./*.o -Wl,--gc-sections -lm
cd ..

text="A library to read compressed audio files. It supports FLAC and Ogg Vorbis."
"$build/tests/tools/readme_example" "$model" "$text" >whole.txt
./classify "$model" "$text" >bundled.txt
echo "whole library: $(head -n 1 whole.txt); bundle: $(head -n 1 bundled.txt)"
[ "$(awk 'NR == 1 {print $1}' whole.txt)" = "$(awk 'NR == 1 {print $1}' bundled.txt)" ]

if ./classify "$other" "$text" >refused.txt 2>&1; then
  echo "a model that needs more was not refused" >&2
  exit 1
fi
cat refused.txt
grep -q "this build's profile lacks" refused.txt
