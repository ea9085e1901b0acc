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

# Reads the build's lines and shows how far it is: one line that changes on a terminal, else a line for each tenth.
show_progress() {
  started=$(date +%s) shown=0 drawn=
  while read -r line; do
    case $line in '['*/*']'*) ;; *) continue ;; esac
    done=${line%%/*} done=${done#'['} total=${line#*/} total=${total%%']'*}
    case $done$total in *[!0-9]*) continue ;; esac
    if [ "$total" -lt 10 ] || [ "$done" -eq 0 ]; then continue; fi
    left=$((($(date +%s) - started) * (total - done) / done))
    text="$done of $total steps, about $((left / 60)):$(printf %02d $((left % 60))) left"
    if [ -t 2 ]; then
      printf '\r%-60s' "$text" >&2
      drawn=yes
    elif [ $((done * 10 / total)) -gt "$shown" ]; then
      shown=$((done * 10 / total))
      echo "$text" >&2
    fi
  done
  [ -z "$drawn" ] || printf '\r%-60s\r' "" >&2
}

tools/setup.sh
mkdir -p build
echo "Building; the first time takes a few minutes (the log is build/try.log) ..." >&2
rm -f build/try.failed
export NINJA_STATUS='[%f/%t] '
{ { cmake --preset host-release && cmake --build --preset host-release --target installed; } 2>&1 ||
  touch build/try.failed; } | tee build/try.log | show_progress
if [ -e build/try.failed ]; then
  tail -n 40 build/try.log >&2
  exit 1
fi
build/host-release/fovea run "$model" --text "$*"
cat >&2 <<END

The command is build/host-release/fovea. Its folder in the path, and some things to try:
  export PATH="$PWD/build/host-release:\$PATH"
  fovea run $model --text "An editor for programmers."
  fovea attend $model --text "An editor for programmers." -o page.html
  fovea inspect $model --rows 64
  fovea convert DIRECTORY -o model.fovea      # a model that you have downloaded
tools/COMMAND.md shows every command with its output, ports/PROGRAMS.md a program in C.
END
