#!/bin/sh
# fovea-bench measures, needs nothing of the system it runs on, and machines.py makes a table and bars of its output.
#   machines.sh BUILD_DIR BLOB [EMULATOR...]
set -eu
build=$1 blob=$2
shift 2
script=$(cd "$(dirname "$0")/../.." && pwd)/tools/bench/machines.py
work=$build/tests/tools/machines
rm -rf "$work"
mkdir -p "$work/empty"
for workers in 1 2; do
  "$@" "$build/fovea-bench" "$blob" --rows 16 --seconds 0 --workers $workers --json >"$work/$workers.json"
done
if "$@" "$build/fovea-bench" "$work/none" 2>"$work/error"; then echo "no blob, no error" >&2; exit 1; fi
grep -q "^fovea: .*/none: " "$work/error"
if command -v readelf >/dev/null; then
  if readelf -d "$build/fovea-bench" | grep NEEDED; then echo "fovea-bench needs libraries" >&2; exit 1; fi
fi

python3 "$script" --svg "$work/bars.svg" "$work/1.json" "a<b|c=$work/1.json" "two=$work/2.json" >"$work/table.md"
cat "$work/table.md"
grep -q "rows in 1 texts, 1 worker$" "$work/table.md"
grep -q "rows in 1 texts, 2 workers$" "$work/table.md"
grep -qF '| a<b\|c |' "$work/table.md"
[ "$(grep -c '^| ' "$work/table.md")" = 7 ]
[ "$(grep -c '<rect x=' "$work/bars.svg")" = 3 ]
python3 -c "import sys, xml.dom.minidom as m; m.parse(sys.argv[1])" "$work/bars.svg"
sed 's/"latency_ms"/"other"/' "$work/1.json" >"$work/broken.json"
echo '[' >"$work/cut.json"
for broken in broken cut none; do
  if python3 "$script" "$work/$broken.json" 2>"$work/error"; then echo "$broken was taken" >&2; exit 1; fi
  grep -q "$broken.json: " "$work/error"
  if grep -q Traceback "$work/error"; then cat "$work/error" >&2; exit 1; fi
done
