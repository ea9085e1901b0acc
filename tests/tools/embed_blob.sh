#!/bin/sh
# Programs that contain a blob in each form that `fovea embed-blob` writes, as C99 and C++17: README's example with the
# embedded bytes in place of a file finds the class that it finds with the file. Objects of other machines are read by
# their linkers.   embed_blob.sh COMMAND README_EXAMPLE SOURCE_DIR LIBRARY WORK_DIR CC CXX
set -eu
command=$1 example=$2 source=$3 library=$4 work=$5 cc=$6 cxx=$7
include=$source/include
rm -rf "$work"
mkdir -p "$work"
cd "$work"
"$command" convert "$source/tools/train/package-section" -o model.fovea --weights int8 --compare none >convert.txt
text="A library to read compressed audio files. It supports FLAC and Ogg Vorbis."
expected=$("$example" model.fovea "$text")

sed 's|^#include <fovea/fovea.h>|&\n#include "model.h"|
  s|blob = read_file(argv\[1\], &blocks, &size);|(void)read_file, size = MODEL_BLOB_SIZE, blob = (void*)model_blob;|' \
  "$source/tests/tools/readme_example.c" >embedded.c
[ "$(grep -c 'model_blob' embedded.c)" = 1 ] && grep -q 'include "model.h"' embedded.c
warnings="-Wall -Wextra -pedantic -Werror -Wno-unused-function"

check() { # FORM SECTION [OBJECTS...]
  form=$1 section=$2
  shift 2
  for language in "$cc -x c -std=c99" "$cxx -x c++ -std=c++17"; do
    case $section$language in .flash*c++*) continue ;; esac  # compilers need a second for the bytes
    # shellcheck disable=SC2086
    $language $warnings -I. -I"$include" -c -o program.o embedded.c
    "$cc" -o program program.o "$@" "$library" -lm -Wl,--fatal-warnings
    found=$(./program nothing "$text")
    echo "$form, $language: $found"
    [ "$found" = "$expected" ]
    readelf -SW program | grep -q "$section"
  done
}
for form in h S c o; do
  for section in "" .flash_model; do
    rm -f model.h "model.$form"
    "$command" embed-blob model.fovea -o "model.$form" ${section:+--section "$section"} >written.txt
    grep -q '^model[.]h: ' written.txt
    objects=
    case $form in
      S) "$cc" -c -o embedded.o model.S && objects=embedded.o ;;
      c)
        # shellcheck disable=SC2086
        "$cc" -std=c99 $warnings -c -o embedded.o model.c && objects=embedded.o
        # shellcheck disable=SC2086
        [ -n "$section" ] || "$cxx" -x c++ -std=c++17 $warnings -c -o embedded_cpp.o model.c
        ;;
      o) objects=model.o ;;
    esac
    # shellcheck disable=SC2086
    check "$form" "${section:-.rodata}" $objects
  done
done
nm embedded_cpp.o | grep -q ' R model_blob$'  # the name has no C++ decoration

"$command" embed-blob model.fovea -o weights.o --symbol weights --like program.o >/dev/null
nm weights.o | grep -q ' R weights$'
grep -q '^extern const unsigned char weights\[' weights.h
for machine in arm:arm-none-eabi- aarch64:aarch64-linux-gnu- riscv64:riscv64-linux-gnu- riscv32:riscv64-unknown-elf-; do
  "$command" embed-blob model.fovea -o other.o --machine "${machine%%:*}" >/dev/null
  ld=${machine#*:}ld
  [ -n "$(command -v "$ld")" ] || { echo "${machine%%:*}: NOT LINKED, no $ld"; continue; }
  case $machine in riscv32*) ld="$ld -melf32lriscv" ;; esac
  $ld -Ttext-segment=0x40000000 -e 0 --fatal-warnings --no-warn-rwx-segments -o other other.o 2>/dev/null ||
    $ld -e 0 --fatal-warnings -o other other.o
  "${machine#*:}objcopy" -O binary -j .rodata other other.bin
  cmp other.bin model.fovea
  echo "${machine%%:*}: linked by ${machine#*:}ld, the same bytes"
done

refused() { # WORDS ARGUMENTS...
  words=$1
  shift
  if "$command" embed-blob "$@" >refused.txt 2>&1; then
    echo "not refused: $*" >&2
    exit 1
  fi
  grep -q -- "$words" refused.txt || { cat refused.txt >&2; exit 1; }
}
refused 'must end in .o, .h, .S or .c' model.fovea -o model.obj
refused 'not a name in C' model.fovea -o model.o --symbol 1st
refused 'are for .o' model.fovea -o model.c --machine arm
refused 'not an object' model.fovea -o model.o --like model.fovea
echo 'int mine;' >mine.h
refused 'mine.h: not written by embed-blob' model.fovea -o mine.c
grep -qx 'int mine;' mine.h
printf 'damaged' | dd of=model.fovea bs=1 seek=70 conv=notrunc 2>/dev/null
refused 'model.fovea' model.fovea -o model.o
