#!/bin/sh
# The library refers to nothing that allocates, prints, throws or ends the process.   references.sh NM STATIC
# The static library is one object with everything in it, Highway and XNNPACK included, so this sees all of it.
set -eu
names=$("$1" -u "$2" 2>/dev/null | awk 'NF == 2 {print $2}' | sort -u)
echo "refers to:" $names
if echo "$names" | grep -E \
  '^(malloc|calloc|realloc|reallocarray|free|posix_memalign|aligned_alloc|memalign|strdup|mmap|munmap|_Zn[wa].*|_Zd[la].*|abort|exit|_exit|__assert_fail|raise|signal|__cxa_.*|_Unwind_.*|_ZSt.*|(__)?v?[fs]?n?printf(_chk)?|puts|putchar|fputs|fwrite|fputc|write|fopen|open|read|std(out|err)|pthread_create|getenv)$'
then
  echo "must not be referred to (above)" >&2
  exit 1
fi
