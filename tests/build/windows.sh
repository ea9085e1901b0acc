#!/bin/sh
# The products of a build for Windows: what they import, export and contain; then the command under Wine.
#   windows.sh SOURCE_DIR BUILD_DIR NM OBJDUMP CC HOST_COMMAND CMAKE EMULATOR...
set -eu
source=$1 build=$2 nm=$3 objdump=$4 cc=$5 host=$6 cmake=$7
shift 7
work=$build/tests/windows
rm -rf "$work"
mkdir -p "$work"
dll=$build/runtime/fovea.dll
fail() { echo "$*" >&2; exit 1; }

# The DLL needs the system's two libraries, and exports the C interface.
"$objdump" -p "$dll" | tr -d '\r' >"$work/headers"
imports=$(awk '/DLL Name:/ {print tolower($3)}' "$work/headers" | sort | tr '\n' ' ')
[ "$imports" = "kernel32.dll msvcrt.dll " ] || fail "fovea.dll needs $imports"
awk '/^\[Ordinal\/Name Pointer\] Table/ {on = 1; next} on && NF == 0 {exit} on {print $NF}' "$work/headers" |
  sort >"$work/exports"
diff "$source/tests/build/symbols.txt" "$work/exports" || fail "the DLL's exports differ from symbols.txt"
echo "fovea.dll needs $imports and exports $(wc -l <"$work/exports") functions"

# gcc cannot align the stack to 32 bytes: no vector of 32 or 64 bytes may be stored or loaded by an instruction that
# needs alignment. (By register numbers such instructions are harmless.)
"$objdump" -d --no-show-raw-insn "$dll" | grep -cE '%[yz]mm' >"$work/wide" || true
[ "$(cat "$work/wide")" -gt 1000 ] || fail "fovea.dll has hardly any AVX code: the check of its stores is idle"
if "$objdump" -d --no-show-raw-insn "$dll" | grep -E 'vmov(aps|apd|dqa|dqa32|dqa64)[[:space:]].*%[yz]mm' |
  grep '(' | head -n 5 | grep .; then
  fail "aligned moves of wide vectors"
fi
echo "$(cat "$work/wide") instructions on wide vectors, no aligned move to or from memory"

# Objects of the static library export nothing by themselves and have no thread-local variables.
if "$nm" "$build/runtime/libfovea.a" 2>/dev/null | grep -E ' _*(emutls|tls)'; then fail "thread-local variables"; fi
if "$objdump" -s -j .drectve "$build/runtime/libfovea.a" 2>/dev/null | grep -i 'export'; then
  fail "objects of the static library name exports"
fi

# Programs that use the installed DLL, its import library and the static library.
"$cmake" --install "$build" --prefix "$work/prefix" >/dev/null
consumer=$source/tests/build/consumer/main.c
"$cc" -std=c99 -DFOVEA_SHARED "-I$work/prefix/include" "$consumer" -o "$work/shared.exe" \
  "$work/prefix/lib/libfovea.dll.a"
cp "$work/prefix/bin/fovea.dll" "$work/"
echo "with the DLL: $("$@" "$work/shared.exe" | tr -d '\r')"
"$cc" -std=c99 "-I$work/prefix/include" "$consumer" -o "$work/static.exe" "$work/prefix/lib/libfovea.a"
echo "with the static library: $("$@" "$work/static.exe" | tr -d '\r')"

# The command: names and texts in UTF-8, in arguments, files and pipes.
model=$source/tools/train/package-section
blob="$work/größe 模型.fovea"
exe=$work/prefix/bin/fovea.exe
"$@" "$exe" convert "$model" -o "$blob" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
[ -s "$blob" ] || fail "no file was written under a name in UTF-8"
"$@" "$exe" tokenize "$blob" --text "größe 中文 😀" >"$work/argument"
printf 'größe 中文 😀\r\n' | "$@" "$exe" tokenize "$blob" --file - >"$work/pipe" 2>"$work/log" ||
  { cat "$work/log"; exit 1; }
if grep -q "$(printf '\r')" "$work/argument" "$work/pipe"; then fail "lines end with CR LF"; fi
cmp "$work/argument" "$work/pipe" || fail "a text in an argument and in a pipe have different tokens"
if "$@" "$exe" verify "$work/fehlt-größe.fovea" 2>"$work/log"; then fail "no file, no error"; fi
grep -q "fehlt-größe.fovea: No such file or directory" "$work/log" || { cat "$work/log"; exit 1; }
if [ -x "$host" ]; then
  "$host" convert "$model" -o "$work/host.fovea" >/dev/null
  cmp "$blob" "$work/host.fovea" || fail "blobs converted on Windows and on this machine differ"
  "$host" tokenize "$blob" --text "größe 中文 😀" | cmp - "$work/argument" || fail "tokens differ"
  echo "the same blob and tokens as on this machine"
else
  echo "NOT COMPARED with this machine: $host is missing"
fi
