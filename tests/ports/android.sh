#!/bin/sh
# The Java package of ports/android on this machine's JVM: misuse, threads and memory with -Xcheck:jni, the README's
# example, Kotlin, and the jobs compared with the command; then the AAR's structure.
#   android.sh CMAKE BUILD_DIR CC
set -eu
cmake=$1 build=$2 cc=$3
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
port=$root/ports/android
work=$build/tests/ports/android
if ! command -v javac >/dev/null || ! command -v java >/dev/null; then
  echo "SKIPPED: no JDK, so ports/android is not tested (tools/setup.sh --test installs default-jdk-headless)"
  exit 77
fi
home=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")
rm -rf "$work"
mkdir -p "$work/blobs" "$work/example"
"$cmake" --install "$build" --prefix "$work/prefix" >/dev/null
sh "$here/job_blobs.sh" "$build/fovea" "$work/blobs"
JAVA_HOME=$home "$cmake" -S "$port" -B "$work/native" -G Ninja -DCMAKE_C_COMPILER="$cc" \
  -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Release >/dev/null
"$cmake" --build "$work/native" --target fovea_jni >"$work/log" || { cat "$work/log"; exit 1; }
# The project that Gradle configures: fovea itself below this one.
JAVA_HOME=$home "$cmake" -S "$port" -B "$work/whole" -G Ninja -DCMAKE_C_COMPILER="$cc" \
  -DCMAKE_DISABLE_FIND_PACKAGE_fovea=ON -DFOVEA_CACHE_DIR="$root/build/deps" -DCMAKE_BUILD_TYPE=Release >/dev/null
ninja -C "$work/whole" -t query libfovea_jni.so >/dev/null
exported=$(nm -D --defined-only "$work/native/libfovea_jni.so" | sed 's/.* //')
[ "$exported" = JNI_OnLoad ] || { echo "libfovea_jni.so exports: $exported"; exit 1; }

# Android's class of an asset, with a file of this machine; and whether Java 8 suffices.
compile() { # FOLDER CLASSPATH SOURCE...
  folder=$1 path=$2
  shift 2
  mkdir -p "$folder"
  "$home/bin/javac" -Xlint:all,-try,-options -Werror --release 8 -encoding UTF-8 -cp "$path" -d "$folder" "$@"
}
compile "$work/stubs" "$work" "$port"/stubs/android/content/res/*.java "$port"/stubs/android/os/*.java
compile "$work/classes" "$work/stubs" "$port"/java/fovea/*.java "$port"/java/fovea/android/*.java
compile "$work/tests" "$work/classes:$work/stubs" "$here"/android/*.java
# Anything that -Xcheck:jni reports is on standard output, and fails the test. The heap has its size from the beginning,
# so that growing memory is the native half's.
export LC_ALL=C.UTF-8
run() { # CLASS ARGUMENT...
  "$home/bin/java" -Xcheck:jni -Xms256m -Xmx256m -XX:+AlwaysPreTouch --add-opens java.base/java.io=ALL-UNNAMED \
    -Dfovea.library="$work/native/libfovea_jni.so" -cp "$work/tests:$work/classes:$work/stubs" "$@" >"$work/said"
  if grep -q "WARNING\|FATAL" "$work/said"; then cat "$work/said"; exit 1; fi
  cat "$work/said"
}
run Misuse "$work/blobs"
run Threads "$work/blobs"
java="$home/bin/java -Djava.library.path=$work/native -cp $work/tests:$work/classes"
# shellcheck disable=SC2086
python3 "$here/jobs.py" "$build/fovea" "$work/blobs" $java Jobs
# shellcheck disable=SC2086
python3 "$here/android/explained.py" "$build/fovea" "$work/blobs/package-section-hierarchical.fovea" $java Explain

# The README's example.
sed -n '/^```java$/,/^```$/p' "$port/README.md" | sed '/^```/d' >"$work/example/Example.java"
"$home/bin/javac" --release 8 -Xlint:-options -cp "$work/classes" -d "$work/example" "$work/example/Example.java"
cd "$work/example"
cp "$work/blobs/package-section-hierarchical.fovea" model.fovea
cp "$work/blobs/package-section-encoder.fovea" embedder.fovea
cp "$work/blobs/package-writer.fovea" writer.fovea
"$home/bin/java" -Djava.library.path="$work/native" -cp "$work/classes:." Example >"$work/said"
grep -q "^editors 0\." "$work/said"
# A missing library is an error that states what to do, each time.
if "$home/bin/java" -cp "$work/classes:." Example 2>"$work/said"; then exit 1; fi
grep -q "libfovea_jni cannot be loaded .*java.library.path" "$work/said"

case $(uname -m) in x86_64) ;; *) exit 0 ;; esac
python3 "$port/aar.py" -o "$work/fovea.aar" --without-ndk "x86_64=$work/prefix:$cc"
python3 "$here/android/package.py" "$work/fovea.aar" "$cc" "$home/bin/java" "$work/package" "$work/tests" "$work/blobs"
