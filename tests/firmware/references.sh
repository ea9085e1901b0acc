#!/bin/sh
# A firmware image has no heap, no files and nothing of C++ that runs by itself.   references.sh NM IMAGE
set -eu
forbidden='_?(malloc|free|calloc|realloc|sbrk|memalign)(_r)?|_Zn[wa].*|_Zd[la].*'
forbidden="$forbidden|.*printf.*|f?(puts?|putc|open|write|read)"
forbidden="$forbidden|__cxa_.*|_GLOBAL__sub_.*|_Unwind_.*|abort|atexit"
names=$("$1" "$2" | awk '{print $NF}' | sort -u)
[ -n "$names" ]
if echo "$names" | grep -xE "$forbidden"; then
  echo "must not be in the image (above)" >&2
  exit 1
fi
