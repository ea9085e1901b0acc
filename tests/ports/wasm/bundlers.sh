#!/bin/sh
# The package of ports/wasm through bundlers from npm, of pinned versions, installed into the build folder: pages in
# Chromium and programs in Node.
#   bundlers.sh BUILD_DIR NODE COMMAND BLOB
# COMMAND is this machine's fovea command, which is compared with.
set -eu
build=$1 node=$2 command=$3 blob=$4
here=$(cd "$(dirname "$0")" && pwd)
work=$build/tests/ports/wasm-bundlers
skip() { echo "SKIPPED: $1, so bundlers of JavaScript are not tested"; exit 77; }
if [ ! -x "$command" ]; then echo "$command is missing: build the preset host-release" >&2; exit 1; fi
command -v npm >/dev/null || skip "no npm (it comes with Node)"
command -v chromium >/dev/null || skip "no chromium (tools/setup.sh --cross installs it)"

packages="webpack@5.113.0 webpack-cli@7.3.1 esbuild@0.28.2 rollup@4.68.8 @rollup/plugin-node-resolve@16.0.3 vite@8.3.8
  typescript@7.0.2"
mkdir -p "$work"
cd "$work"
if [ "$(cat installed 2>/dev/null)" != "$packages" ]; then
  rm -rf node_modules package.json package-lock.json
  echo '{ "private": true, "type": "module", "workspaces": [] }' >package.json
  # shellcheck disable=SC2086
  npm install --silent --no-audit --no-fund $packages >npm.log 2>&1 ||
    skip "npm cannot install them ($(tail -n 1 npm.log))"
  echo "$packages" >installed
fi
rm -rf node_modules/fovea fovea-*.tgz
npm pack --silent --offline "$build/ports/wasm/package" >/dev/null
mkdir node_modules/fovea
tar -xzf fovea-*.tgz -C node_modules/fovea --strip-components 1  # what npm would install, and without its lock file
exec "$node" "$here/bundlers_test.mjs" "$work" "$command" "$blob"
