#!/bin/sh
# The tests of ports/python on what was built, then on the package as pip installs it.   python.sh BUILD_DIR
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
package=$here/../../ports/python
python=
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c "import numpy" 2>/dev/null; then python=$candidate; break; fi
done
if [ -z "$python" ]; then echo "SKIPPED: no python3 with numpy (tools/setup.sh --test installs it)"; exit 77; fi

export FOVEA_COMMAND="$build/fovea" FOVEA_LIBRARY_DIR="$build" PYTHONDONTWRITEBYTECODE=1
PYTHONPATH=$package "$python" -W error -m unittest discover -s "$here/python" -p "test_*.py"

if ! "$python" -m pip --version >/dev/null 2>&1; then echo "SKIPPED: no pip (python3-pip)"; exit 77; fi
target=$build/tests/ports/pip wheels=$build/tests/ports/wheels
rm -rf "$target" "$wheels"
root=$(cd "$here/../.." && pwd)
FOVEA_LIBRARY_DIR=${build#"$root"/}  # relative to the repository, as its README has it
"$python" -m pip wheel --quiet --no-index --no-deps --no-cache-dir --wheel-dir "$wheels" "$package"
wheel=$(ls "$wheels"/*.whl)
tag=$("$python" "$package/platform_tag.py" "$build/runtime/libfovea.so" "$build/ports/libfovea_port.so" 2>/dev/null)
case $wheel in *-py3-none-"$tag".whl) ;; *) echo "$wheel is not for $tag"; exit 1 ;; esac
"$python" -m pip install --quiet --no-index --no-deps --no-cache-dir --target "$target" "$wheel"  # refuses other tags
unset FOVEA_LIBRARY_DIR
cd "$target"
PYTHONPATH=$target "$python" - "$here/../../tools/train/package-section-hierarchical.fovea" <<'END'
import sys
import fovea
assert fovea.__file__.startswith(sys.path[1]), fovea.__file__
with fovea.Model(sys.argv[1]) as model:
    print("installed by pip:", fovea.VERSION, model.classify("A library.", workers=2)[0][0])
END
rm "$target/fovea/lib/libfovea_port.so"
PYTHONPATH=$target "$python" - "$here/../../tools/train/package-section-hierarchical.fovea" <<'END'
import sys
import fovea
with fovea.Model(sys.argv[1]) as model:
    assert model.classify("A library.")
    try:
        model.classify("A library.", workers=2)
    except fovea.Error as error:
        print("without threads:", error)
    else:
        raise SystemExit("two workers without threads")
END
