#!/bin/sh
# Sets up, builds the fovea command and the libraries, and classifies a text with the model of this repository. The
# build can be installed: `cmake --install build/host-release --prefix DIR`.
#   tools/try.sh "A library to read compressed audio files. It supports FLAC and Ogg Vorbis."
set -eu
cd "$(dirname "$0")/.."
model=tools/train/package-section-hierarchical.fovea
if [ $# = 0 ]; then
  sed -n '2,4s/^# //p' "$0" >&2
  exit 2
fi
tools/setup.sh
mkdir -p build
echo "Building; the first time takes a few minutes ..." >&2
{ cmake --preset host-release && cmake --build --preset host-release --target installed; } >build/try.log 2>&1 ||
  { tail -n 40 build/try.log >&2; exit 1; }
exec build/host-release/fovea run "$model" --text "$*"
