#!/bin/sh
# Every public header compiles alone, with the warnings that hosts turn into errors: as C99 to C23 and C++11 to C++23,
# and the .hpp ones as C++17 to C++23 without exceptions and RTTI. Every struct that begins with struct_size has an
# initial value (FOVEA_<NAME>_INIT) in both languages.
#   headers.sh INCLUDE_DIR CC CXX
set -eu
include=$1 cc=$2 cxx=$3
strict="-pedantic -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wundef -Wcast-qual -Werror -fsyntax-only"
c="$cc $strict -Wstrict-prototypes -Wmissing-prototypes -I $include -x c"
cpp="$cxx $strict -Wold-style-cast -Wnon-virtual-dtor -I $include -x c++"
for header in "$include"/fovea/*.h; do
  name=fovea/$(basename "$header")
  echo "$name"
  for standard in c99 c11 c17 c2x; do
    printf '#include "%s"\ntypedef int not_empty;\n' "$name" | $c -std=$standard -
  done
  for standard in c++11 c++14 c++17 c++20 c++2b; do
    printf '#include "%s"\n' "$name" | $cpp -std=$standard -
  done
done
for header in "$include"/fovea/*.hpp; do
  name=fovea/$(basename "$header")
  for standard in c++17 c++20 c++2b; do
    echo "$name, $standard"
    printf '#include "%s"\n' "$name" | $cpp -std=$standard -fno-exceptions -fno-rtti -
  done
done

# C++11 is the oldest that the C headers support.
structs=$(grep -h -A1 '^typedef struct fovea_[a-z_]* {$' "$include"/fovea/*.h |
  awk '/^typedef struct/ {name = $3} /size_t struct_size;/ {print name}')
initial() {
  printf '#include "fovea/fovea.h"\n'
  for struct in $structs; do
    macro=$(echo "$struct" | tr a-z A-Z)_INIT
    printf 'int use_%s(void) { %s made = %s; return made.struct_size == sizeof(made); }\n' "$struct" "$struct" "$macro"
  done
}
[ "$(echo "$structs" | wc -l)" -ge 30 ] || { echo "structs with a struct_size were not found" >&2; exit 1; }
initial | sed 's/^int use_\([a-z_]*\)/int use_\1(void);\n&/' | $c -std=c99 -
initial | $cpp -std=c++11 -
initial | $cpp -std=c++17 -
echo "$(echo "$structs" | wc -l) structs have initial values"
