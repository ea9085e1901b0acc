#!/bin/sh
# The Java class of ports/android on this machine's JVM gives the results of the command.
#   android.sh CMAKE BUILD_DIR CC
set -eu
cmake=$1 build=$2 cc=$3
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
work=$build/tests/ports/android
if ! command -v javac >/dev/null || ! command -v java >/dev/null; then
  echo "SKIPPED: no JDK, so ports/android is not tested (tools/setup.sh --test installs default-jdk-headless)"
  exit 77
fi
home=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")

rm -rf "$work"
mkdir -p "$work"
"$cmake" --install "$build" --prefix "$work/prefix" >/dev/null
JAVA_HOME=$home "$cmake" -S "$root/ports/android" -B "$work/native" -G Ninja -DCMAKE_C_COMPILER="$cc" \
  -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Release >/dev/null
"$cmake" --build "$work/native" --target fovea_jni >"$work/log" || { cat "$work/log"; exit 1; }
# The project that Gradle configures: fovea itself below this one.
JAVA_HOME=$home "$cmake" -S "$root/ports/android" -B "$work/whole" -G Ninja -DCMAKE_C_COMPILER="$cc" \
  -DCMAKE_DISABLE_FIND_PACKAGE_fovea=ON -DFOVEA_CACHE_DIR="$root/build/deps" -DCMAKE_BUILD_TYPE=Release >/dev/null
ninja -C "$work/whole" -t query libfovea_jni.so >/dev/null
"$home/bin/javac" -Xlint:all,-try,-options -Werror --release 8 -d "$work/classes" \
  "$root"/ports/android/java/fovea/*.java "$here/android/Check.java"

text="a text editor" prompt="Package: vim"
for model in package-section package-writer; do
  "$build/fovea" convert "$root/tools/train/$model" -o "$work/$model.fovea" --compare none >/dev/null
done
{
  "$build/fovea" run "$work/package-section.fovea" --text "$text" --top 3 --explain 0
  "$build/fovea" generate "$work/package-writer.fovea" --prompt "$prompt" --max-tokens 16 --no-display-prompt
} >"$work/expected"
# -Xcheck:jni writes what calls of JNI do wrong to the output that is compared.
"$home/bin/java" -Xcheck:jni -Djava.library.path="$work/native" -cp "$work/classes" Check \
  "$work/package-section.fovea" "$text" "$work/package-writer.fovea" "$prompt" >"$work/said"
diff "$work/expected" "$work/said"
cat "$work/said"
