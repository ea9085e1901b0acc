#!/bin/sh
# Kotlin's functions of ports/android, after ports.android has run.   kotlin.sh BUILD_DIR
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
port=$(cd "$here/../../ports/android" && pwd)
work=$build/tests/ports/android
if ! command -v kotlinc >/dev/null; then
  echo "SKIPPED: no kotlinc, so ports/android/kotlin is not tested (tools/setup.sh --cross installs kotlin)"
  exit 77
fi
if [ ! -e "$work/classes/fovea/Model.class" ]; then echo "SKIPPED: ports.android has not built its classes"; exit 77; fi
rm -rf "$work/kotlin"
kotlinc -cp "$work/classes" -d "$work/kotlin" "$port/kotlin/fovea/Fovea.kt" "$here/android/check.kt"
kotlin -Djava.library.path="$work/native" -cp "$work/classes:$work/kotlin" CheckKt "$work/blobs"
