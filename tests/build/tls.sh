#!/bin/sh
# Neither library has a thread-local variable: no segment, section, symbol, relocation or flag of one.
#   tls.sh READELF LIBRARY...
# A library with one cannot be loaded at run time (dlopen) by musl's or Android's loader, or by glibc once its reserved
# space is used up.
set -eu
readelf=$1
shift
found=0
for library; do
  for what in \
      '-lW|^ *TLS ' \
      '-SW|\.(tdata|tbss)' \
      '-sW| TLS |__tls_get_addr|__emutls' \
      '-rW|TPOFF|DTPMOD|DTPREL|TPREL|TLS' \
      '-dW|STATIC_TLS'; do
    if "$readelf" "${what%%|*}" "$library" | grep -E "${what#*|}"; then
      echo "$library: thread-local (above, readelf ${what%%|*}); hand the value over as an argument" >&2
      found=1
    fi
  done
done
exit $found
