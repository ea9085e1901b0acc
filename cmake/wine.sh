#!/bin/sh
# Runs a Windows program under Wine.   wine.sh PROGRAM.exe [ARGUMENT...]
# Wine's configuration is a separate folder ($WINEPREFIX, or build/wine), so that the user's is not touched.
set -eu
folder=$(cd "$(dirname "$0")/.." && pwd)/build/wine
export WINEPREFIX="${WINEPREFIX:-$folder}" WINEDEBUG="${WINEDEBUG:--all}" WINEDLLOVERRIDES="mscoree,mshtml="
if [ ! -e "$WINEPREFIX/system.reg" ]; then  # made by the first program of several that start at once
  mkdir -p "$WINEPREFIX"
  flock "$WINEPREFIX/.made" sh -c '[ -e "$WINEPREFIX/system.reg" ] || { wineboot -i; wineserver -w; }' >/dev/null 2>&1
fi
exec wine "$@"
