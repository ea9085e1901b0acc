#!/bin/sh
# The page of attention records.   page.sh BUILD_DIR modules | features | views
# Needs node; features and views also need chromium; views make pages with the build's fovea command, of models in the
# repository.
set -eu
build=$1 what=$2
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
if ! command -v node >/dev/null; then
  echo "SKIPPED: no node, so $what of the page of attention records are not tested (tools/setup.sh --cross installs it)"
  exit 77
fi
if [ "$what" = modules ]; then exec node --test "$here/modules_test.mjs"; fi
if ! command -v chromium >/dev/null; then
  echo "SKIPPED: no chromium, so the page of attention records is not tested (tools/setup.sh --cross installs it)"
  exit 77
fi

if [ "$what" = features ]; then
  node "$here/features_test.mjs" "$build/attention_page.html" "$build/attention_features"
  exec node "$here/demo_test.mjs"
fi

fovea=$build/fovea work=$build/attention_pages
rm -rf "$work"
mkdir -p "$work/made"
node "$here/long_model.mjs" "$source/tests/data/hf" "$work/made"
convert() { # MODEL BLOB
  "$fovea" convert "$1" -o "$work/made/$2.fovea" --compare none >/dev/null
}
attend() { # PAGE BLOB OPTIONS...
  page=$work/made/made-$1.html blob=$2
  shift 2
  "$fovea" attend "$blob" "$@" -o "$page" >/dev/null 2>&1 || "$fovea" attend "$blob" "$@" -o "$page"
}
convert "$source/tests/data/hf/bert" bert
cp -r "$source/tests/data/hf/vit" "$work/made/vit"
cat >"$work/made/vit/preprocessor_config.json" <<END
{"image_processor_type": "ViTImageProcessor", "size": {"height": 24, "width": 24},
 "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}
END
convert "$work/made/vit" vit
cp -r "$source/tests/data/hf/wav2vec2-ctc" "$work/made/wav2vec2"
echo '{"feature_extractor_type": "Wav2Vec2FeatureExtractor", "sampling_rate": 16000, "do_normalize": true}' \
  >"$work/made/wav2vec2/preprocessor_config.json"
cat >"$work/made/wav2vec2/vocab.json" <<END
{"<pad>": 0, "|": 1, "a": 2, "b": 3, "c": 4, "d": 5, "e": 6, "f": 7, "g": 8, "h": 9, "i": 10, "j": 11, "k": 12,
 "l": 13, "m": 14, "n": 15, "o": 16, "p": 17, "q": 18, "r": 19, "s": 20, "t": 21, "u": 22, "v": 23, "w": 24, "x": 25,
 "y": 26, "z": 27, "'": 28}
END
echo '{"tokenizer_class": "Wav2Vec2CTCTokenizer", "pad_token": "<pad>", "word_delimiter_token": "|"}' \
  >"$work/made/wav2vec2/tokenizer_config.json"
convert "$work/made/wav2vec2" sound
convert "$source/tools/train/date-normaliser/graph.json" dates
convert "$source/tools/train/package-writer" writer
convert "$work/made/longformer-4096" long
attend bert "$work/made/bert.fovea" --input "$work/made/two.safetensors"
attend document "$source/tools/train/package-section-hierarchical.fovea" --document "$work/made/document.txt"
attend dates "$work/made/dates.fovea" --source 20JAN19 --source "3 March 2004"
attend writer "$work/made/writer.fovea" --prompt "libs / libpng-tools
" --max-tokens 24
attend vit "$work/made/vit.fovea" --image "$work/made/picture.png"
attend sound "$work/made/sound.fovea" --wav "$work/made/tone.wav"
text=$("$fovea" transcribe "$work/made/sound.fovea" --wav "$work/made/tone.wav")
if ! grep -qF "\"label\":\"$text\"" "$work/made/made-sound.html"; then
  echo "the page of a sound does not have the text of fovea transcribe: $text"
  exit 1
fi
attend long "$work/made/long.fovea" --input "$work/made/long.safetensors"
node "$here/page_test.mjs" "$build/attention_page.html" "$work" "$work"/made/made-*.html
