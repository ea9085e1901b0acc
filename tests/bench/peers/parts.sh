#!/bin/sh
# What of peers.py needs no network.   parts.sh BUILD_DIR
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
python=
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c "import numpy" 2>/dev/null; then python=$candidate; break; fi
done
if [ -z "$python" ]; then echo "SKIPPED: no python3 with numpy (tools/setup.sh --test installs it)"; exit 77; fi
export FOVEA_COMMAND="$build/fovea" PYTHONDONTWRITEBYTECODE=1
cd "$here"
"$python" -W error -m unittest parts
