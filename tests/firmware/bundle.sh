#!/bin/sh
# The bundle of the classifier's profile, compiled by the firmware's compiler with the flags that its README names and
# linked with the sample, does what the sample does.
#   bundle.sh SOURCE_DIR HIGHWAY_DIR WORK_DIR PROFILE MODEL_DIR DEFINES BOARD_SCRIPT STARTUP CC CXX FLAGS LINK_FLAGS
#     LIBRARIES EXPECTED_IMAGE MACHINE...
set -eu
source=$1 highway=$2 work=$3 profile=$4 model=$5 defines=$6 script=$7 startup=$8
shift 8
cc=$1 cxx=$2 flags=$3 link=$4 libraries=$5 expected=$6
shift 6
rm -rf "$work"
mkdir -p "$work/objects"
python3 "$source/cmake/bundle.py" "$source" "$highway" "$work/bundle" "$profile"
[ -n "$(ls "$work/bundle/LICENSES")" ]

named=$(sed -n 's/^    c++ \(.*\) -c sources.*/\1/p' "$work/bundle/README.md" |
  sed "s|-O2|-Os|; s|-I\([^ ]*\)|-I$work/bundle/\1|g")
case $flags in
  *cortex-m*) named=$(echo "$named" | sed 's/HWY_COMPILE_ONLY_STATIC/HWY_COMPILE_ONLY_SCALAR/') ;;
esac
cd "$work/objects"
# shellcheck disable=SC2086
find ../bundle/sources -name '*.cc' -print0 |
  xargs -0 -n 8 -P "$(nproc)" "$cxx" $flags $named -Wall -Wextra -Wno-psabi -Wno-maybe-uninitialized -Werror -c
board=$source/ports/baremetal
# shellcheck disable=SC2086
"$cc" $flags -std=c99 -Os -ffunction-sections -fno-tree-loop-distribute-patterns \
  -I"$work/bundle/include" -I"$source" -I"$model" $defines \
  $link -nostartfiles -L"$board" -T"$script" -Wl,--gc-sections -Wl,-z,noexecstack -o ../classify.elf \
  "$board/classify.c" "$board/sample.c" "$board/console.c" "$board/memory.c" "$board/semihosting.c" "$startup" \
  "$model/model.S" ./*.o -lm $libraries
cd ..

text="A library to read compressed audio files. It supports FLAC and Ogg Vorbis."
say() {  # semihosting writes to the standard error
  image=$1
  shift
  "$@" -display none -monitor none -serial none -semihosting-config "enable=on,target=native,arg=$text" \
    -kernel "$image" 2>&1
}
say "$expected" "$@" >whole.txt
say classify.elf "$@" >bundled.txt
class=$(grep '^class ' whole.txt)
echo "sample: $class; bundle: $(grep '^class ' bundled.txt)"
[ "$class" = "$(grep '^class ' bundled.txt)" ]
