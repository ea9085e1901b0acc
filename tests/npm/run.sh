#!/bin/sh
# Runs a comparison with npm's packages of Hugging Face, where these are installed.
#   run.sh jinja|classes|files FOVEA SOURCE_DIR
# $FOVEA_NPM: a directory with node_modules; otherwise build/npm in the source tree (tools/setup.sh --npm build/npm).
set -eu
test=$1 command=$2 source=$3
npm=${FOVEA_NPM:-$source/build/npm}
here=$(cd "$(dirname "$0")" && pwd)
for package in @huggingface/jinja @anush008/tokenizers; do
  if ! command -v node >/dev/null || [ ! -d "$npm/node_modules/$package" ]; then
    echo "NOT TESTED: npm.$test, for want of $npm/node_modules/$package (tools/setup.sh --npm build/npm)"
    exit 77
  fi
done
case $test in
  jinja) exec python3 "$here/jinja.py" "$command" "$npm" ;;
  classes) exec python3 "$here/classes.py" "$command" --npm "$npm" ;;
  files) exec python3 "$here/files.py" "$command" "$npm" "$source" ;;
esac
