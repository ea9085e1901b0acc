#!/bin/sh
# Checks for MSVC that need none of its headers: clang for MSVC's interface parses the public headers as C and C++
# with cl's options and, with MinGW-w64's headers of Windows and of C++, the C++ headers, the port and the library's
# sources. Nothing is linked or run, and cl itself is not at hand.
#   msvc.sh SOURCE_DIR CLANG HIGHWAY_DIR [SOURCE...]      sources: of the library; all if none is named
set -eu
source=$1 clang=$2 highway=$3
shift 3
windows=/usr/x86_64-w64-mingw32/include
cpp=$(ls -d /usr/lib/gcc/x86_64-w64-mingw32/*-posix/include/c++ 2>/dev/null | tail -n 1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
msvc="$clang --target=x86_64-pc-windows-msvc -fms-compatibility-version=19.40"

for header in "$source"/include/fovea/*.h; do
  printf '#include "fovea/%s"\ntypedef int not_empty;\n' "$(basename "$header")" >"$work/in.c"
  cp "$work/in.c" "$work/in.cpp"
  for file in in.c in.cpp; do
    $msvc --driver-mode=cl -nologo -W4 -WX -Zs "-I$source/include" "$work/$file"
    $msvc --driver-mode=cl -nologo -W4 -WX -Zs -DFOVEA_SHARED "-I$source/include" "$work/$file"
  done
done
echo "public C headers: as C and C++, for the static library and the DLL"
# The check notices what MSVC refuses.
echo '__attribute__((visibility("default"))) int f(void' >"$work/in.c"
if $msvc --driver-mode=cl -nologo -Zs "$work/in.c" 2>/dev/null; then echo "broken C was accepted" >&2; exit 1; fi

if [ ! -e "$windows/windows.h" ] || [ -z "$cpp" ]; then
  echo "NOT TESTED: msvc, for want of $windows/windows.h (tools/setup.sh --cross)"
  exit 77
fi
common="-fsyntax-only -Wall -Wextra -Werror -Wno-#warnings -Wno-unused-command-line-argument
  -D_WIN32_WINNT=0x0601 -DWIN32_LEAN_AND_MEAN -DNOMINMAX -include $source/tests/build/msvc.h
  -I$source -I$source/include"
c="$msvc $common -std=c11 -isystem $windows"
cxx="$msvc $common -x c++ -fno-exceptions -fno-rtti -isystem $cpp -isystem $cpp/x86_64-w64-mingw32 -isystem $windows
  -isystem $highway -DHWY_STATIC_DEFINE -Wno-pragma-clang-attribute"
for header in "$source"/include/fovea/*.hpp; do
  printf '#include "fovea/%s"\n' "$(basename "$header")" >"$work/in.cc"
  for standard in c++17 gnu++20; do $cxx -std=$standard "$work/in.cc"; done
done
echo "public C++ headers: as C++17 and C++20"
for file in "$source"/ports/windows/*.c; do $c "$file"; done
echo "ports/windows"

cd "$source"
if [ $# = 0 ]; then set -- $(find runtime -name '*.cc' | grep -v xnnpack); fi
for file; do $cxx -std=c++17 "$file"; done
echo "library: $# files"
