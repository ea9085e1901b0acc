#!/bin/sh
# Every public header compiles alone, as strict C99 and as C++17.   headers.sh INCLUDE_DIR CC CXX
set -eu
include=$1 cc=$2 cxx=$3
for header in "$include"/fovea/*.h; do
  name=fovea/$(basename "$header")
  echo "$name"
  printf '#include "%s"\ntypedef int not_empty;\n' "$name" |
    "$cc" -std=c99 -pedantic -Wall -Wextra -Wstrict-prototypes -Werror -fsyntax-only -I "$include" -x c -
  printf '#include "%s"\n' "$name" |
    "$cxx" -std=c++17 -pedantic -Wall -Wextra -Werror -fsyntax-only -I "$include" -x c++ -
done
