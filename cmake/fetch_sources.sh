#!/bin/sh
# Puts pinned upstream sources into a cache folder and prints one line "name=folder" for each.
#   fetch_sources.sh CACHE_DIR NAME...        names: xnnpack highway pthreadpool fxdiv utf8proc zlib
#
# Uses a tarball in CACHE_DIR/tarballs if its SHA-256 matches, so an offline machine only needs the files there.
# Otherwise apt fetches it from the Debian mirror that the machine is configured with, as an ordinary user and without
# touching the system's package lists. Several runs may share one cache folder at the same time.
set -eu

# name, Debian suite and source version, tarball, leading folders to strip, SHA-256
pins='
xnnpack     trixie   0.0~git20241108.4ea82e5-2 xnnpack_0.0~git20241108.4ea82e5.orig.tar.xz     0 90bde2caef0f880f627bab0dc805a86c4b8070cd98e3243db3046ab3f3be1a99
highway     trixie   1.2.0-2                   highway_1.2.0.orig.tar.gz                       1 7e0be78b8318e8bdbf6fa545d2ecb4c90f947df03f7aadc42c1967f019e63343
pthreadpool trixie   0.0~git20240616.560c60d-1 pthreadpool_0.0~git20240616.560c60d.orig.tar.xz 1 4cc3cbd933b28131d2a34edc54f76af9fb41bc490af5eae1a5bd3cd07ea90708
fxdiv       trixie   0.0~git20200417.b408327-4 fxdiv_0.0~git20200417.b408327.orig.tar.xz       1 7953482badaf4cb34026c3487c257b8e4ab2df061c019bd6fabbbc12ad52c44b
utf8proc    bookworm 2.8.0-1                   utf8proc_2.8.0.orig.tar.gz                      1 a0a60a79fe6f6d54e7d411facbfcc867a6e198608f2cd992490e46f04b1bcecc
zlib        bookworm 1:1.2.13.dfsg-1           zlib_1.2.13.dfsg.orig.tar.bz2                   1 71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1
'

mkdir -p "$1/tarballs"
cache=$(cd "$1" && pwd)
shift
exec 9>"$cache/.lock"
if command -v flock >/dev/null; then flock 9; fi
work=$cache/.work
rm -rf "$work"
mkdir "$work"
trap 'rm -rf "$work"' EXIT

fail() { echo "fetch_sources: $*" >&2; exit 1; }

pin() {  # pin NAME: sets suite, version, tarball, strip, sha
  line=$(echo "$pins" | grep "^$1 ") || fail "unknown source $1"
  set -- $line
  suite=$2 version=$3 tarball=$4 strip=$5 sha=$6
}

command -v sha256sum >/dev/null || sha256sum() { shasum -a 256; }  # macOS has shasum
matches() { [ -f "$1" ] && [ "$(sha256sum <"$1" | cut -d' ' -f1)" = "$sha" ]; }

fetch() {  # fetch PACKAGE=VERSION...: downloads the upstream tarballs into $work
  command -v apt-get >/dev/null || fail "no apt-get here: put the tarballs of $* into $cache/tarballs" \
    "or give your own source folders (see cmake/README.md)"
  uri=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
    awk '/^URIs:/ {print $2} /^deb / {for (i = 2; i <= NF; i++) if ($i ~ /^[a-z]+:\//) {print $i; break}}' |
    grep -E '/debian/?$' | head -n 1)
  [ -n "$uri" ] || fail "apt is not set up with a Debian mirror"
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
  for suite in $suites; do
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri $suite main"
  done | sort -u >"$work/sources.list"
  apt() {
    apt-get -qq -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=/dev/null -o Dir::State="$work" \
      -o Dir::State::lists="$work/lists" -o Dir::State::status=/dev/null -o Dir::Cache="$work/cache" \
      -o APT::Architecture=amd64 -o APT::Architectures=amd64 -o Acquire::Languages=none -o Acquire::Retries=3 \
      -o APT::Sandbox::User="$(id -un)" "$@" >&2
  }
  apt update
  (cd "$work" && apt source --download-only --tar-only "$@")
}

missing= suites=
for name; do
  pin "$name"
  if ! matches "$cache/tarballs/$tarball"; then
    missing="$missing $name=$version" suites="$suites $suite"
  fi
done
if [ -n "$missing" ]; then
  # shellcheck disable=SC2086
  fetch $missing
fi

for name; do
  pin "$name"
  if ! matches "$cache/tarballs/$tarball"; then
    matches "$work/$tarball" || fail "$tarball: missing, or its SHA-256 is not $sha"
    mv "$work/$tarball" "$cache/tarballs/$tarball"
  fi
  folder=$cache/$name-$(echo "$sha" | cut -c1-12)
  if [ ! -d "$folder" ]; then
    mkdir "$work/$name"
    tar -xf "$cache/tarballs/$tarball" -C "$work/$name" --strip-components="$strip"
    mv "$work/$name" "$folder"
  fi
  echo "$name=$folder"
done
