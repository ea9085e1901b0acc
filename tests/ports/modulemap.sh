#!/bin/sh
# The module map of ports/apple makes a module of the headers, and what it names can be used.   modulemap.sh BUILD_DIR
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
clang=$(command -v clang-19 || command -v clang) || {
  echo "SKIPPED: no clang, so the module map of ports/apple is not tested (tools/setup.sh --test installs it)"
  exit 77
}
work=$1/tests/ports/modulemap
rm -rf "$work"
mkdir -p "$work/headers/ports"
cp -r "$root/include/fovea" "$work/headers/fovea"
cp "$root/ports/port.h" "$work/headers/ports"
cp "$root/ports/apple/module.modulemap" "$work/headers"
# Includes nothing: all of it comes out of the module.
cat >"$work/program.c" <<'END'
#pragma clang module import CFovea
fovea_status use(fovea_attention_options* attention, fovea_generate_options* generate, fovea_cache_info* cache) {
  uint64_t (*clock)(void) = fovea_port_ticks;
  fovea_runner runner = fovea_port_run;
  fovea_stopped stopped = FOVEA_STOPPED_INIT;
  return attention && generate && cache && clock && runner && stopped.struct_size ? FOVEA_OK : FOVEA_E_STATE;
}
END
"$clang" -std=c99 -Wall -Wextra -Werror -fmodules -fmodules-cache-path="$work/cache" \
  -I "$work/headers" -fmodule-map-file="$work/headers/module.modulemap" -fsyntax-only "$work/program.c"
for header in "$work"/headers/fovea/*.h; do
  name=fovea/$(basename "$header")
  [ "$name" = fovea/fovea.h ] || grep -q "\"$name\"" "$work/headers/fovea/fovea.h" ||
    { echo "$name is not in fovea/fovea.h, and so not in the module" >&2; exit 1; }
done
echo "module CFovea: as expected"
