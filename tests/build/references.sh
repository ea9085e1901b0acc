#!/bin/sh
# The library refers only to the external functions below: none allocates, prints, throws or ends the process.
#   references.sh NM STATIC
# The static library is one object that includes Highway and XNNPACK, so this check covers them.
set -eu
memory='mem(chr|cmp|cpy|move|set)|str(len|n?cmp|chr)|bcmp'  # bcmp: clang's memcmp() == 0, where a C library has it
maths='(exp|exp2|expm1|log|log2|log1p|pow|sqrt|sin|cos|sincos|tanh?|erfc?|floor|ceil|round|rint|lrint|fma|fmin|fmax)f?'
system='pthread_once|getauxval'
compiler='_GLOBAL_OFFSET_TABLE_|__stack_chk_(fail|guard)|__aarch64_[a-z0-9_]+|__aeabi_unwind_cpp_pr0'
numbers='__u?(div|mod)ti3|__(popcount|clz)[ds]i2|__(extend|trunc)[hs]f[hs]f2'  # also the compiler's
numbers="$numbers|__aeabi_(d2u?lz|u?l2[df]|u?ldivmod|u?idiv(mod)?)"
names=$("$1" -u "$2" | awk 'NF == 2 {print $2}' | sort -u)
echo "refers to:" $names
if echo "$names" | grep -vxE "$memory|$maths|$system|$compiler|$numbers"; then
  echo "must not be referred to (above)" >&2
  exit 1
fi
