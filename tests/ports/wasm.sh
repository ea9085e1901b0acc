#!/bin/sh
# The package of ports/wasm, packed and installed by npm without a network, and its tests in Node.
#   wasm.sh BUILD_DIR NODE COMMAND
# COMMAND is this machine's fovea command, which is compared with.
set -eu
build=$1 node=$2 command=$3
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
work=$build/tests/ports/wasm
if [ ! -x "$command" ]; then echo "$command is missing: build the preset host-release" >&2; exit 1; fi
rm -rf "$work"
mkdir -p "$work/blobs" "$work/program"
convert() { # MODEL BLOB [OPTIONS]
  model=$1 blob=$2
  shift 2
  "$command" convert "$source/tools/train/$model" -o "$work/blobs/$blob.fovea" --compare none "$@" >/dev/null
}
convert package-section package-section
"$command" pack "$work/blobs/package-section.fovea" -o "$work/blobs/packed.fovea" --target wasm >/dev/null
convert package-section package-encoder --task encoder
convert package-section-hierarchical/graph.json documents
convert package-writer package-writer
convert package-writer writer-encoder --task encoder
convert date-normaliser/graph.json dates --weights int8
# Models of inference and of speech: names of classes and vocabularies for the weights that are here.
cp -r "$source/tools/train/package-section" "$work/inference"
sed -i 's/"admin"/"contradiction"/; s/"x11"/"entailment"/' "$work/inference/config.json"
cp -r "$source/tests/data/hf/wav2vec2-ctc" "$work/speech"
"$node" "$here/wasm/speech_files.mjs" "$work/speech" "$work/blobs"
python3 "$here/heads.py" "$work"
for name in inference speech question weights; do
  "$command" convert "$work/$name" -o "$work/blobs/$name.fovea" --compare none >/dev/null
done
for type in f32 f16 bf16 int8; do convert date-normaliser/graph.json "dates-$type" --keys "$type"; done

cp "$here"/wasm/*.mjs "$work/program"
if command -v npm >/dev/null; then
  (cd "$work" && npm pack --silent --offline "$build/ports/wasm/package" >/dev/null)
  echo '{ "type": "module" }' >"$work/program/package.json"
  (cd "$work/program" && npm install --silent --offline --no-audit --no-fund --cache "$work/cache" "$work"/fovea-*.tgz)
else
  echo "no npm: the package is taken as it was built"
  mkdir -p "$work/program/node_modules"
  cp -r "$build/ports/wasm/package" "$work/program/node_modules/fovea"
fi
FOVEA_SOURCE=$source FOVEA_BLOBS=$work/blobs FOVEA_COMMAND=$command "$node" --test \
  "$work/program/package_test.mjs" "$work/program/answers_test.mjs" "$work/program/workers_test.mjs" \
  "$work/program/bench_test.mjs" "$work/program/sources_test.mjs" "$work/program/pipeline_test.mjs"
