// Writes the files that a directory of a small CTC model lacks, and sounds to recognise.
//   speech_files.mjs MODEL_FOLDER SOUND_FOLDER
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [model, sounds] = process.argv.slice(2), RATE = 16000;
const { vocab_size: size } = JSON.parse(readFileSync(join(model, "config.json")));
const letters = ["<pad>", "<s>", "</s>", "<unk>", "|", ..."ETAONIHSRDLUMWCFGYPBVKXJ"].slice(0, size);
const write = (name, value) => writeFileSync(join(model, name), JSON.stringify(value));
write("vocab.json", Object.fromEntries(letters.map((letter, i) => [letter, i])));
write("tokenizer_config.json", { tokenizer_class: "Wav2Vec2CTCTokenizer", pad_token: "<pad>", unk_token: "<unk>",
  bos_token: "<s>", eos_token: "</s>", word_delimiter_token: "|", clean_up_tokenization_spaces: false });
write("preprocessor_config.json", { feature_extractor_type: "Wav2Vec2FeatureExtractor", feature_size: 1,
  sampling_rate: RATE, do_normalize: true, padding_value: 0, return_attention_mask: false });

/** Tones that change, and noise: RIFF WAVE, one channel of 16-bit numbers. */
function sound(seconds, seed) {
  const count = Math.round(seconds * RATE), file = Buffer.alloc(44 + 2 * count);
  file.write("RIFF", 0), file.writeUInt32LE(36 + 2 * count, 4), file.write("WAVEfmt ", 8), file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20), file.writeUInt16LE(1, 22), file.writeUInt32LE(RATE, 24), file.writeUInt32LE(2 * RATE, 28);
  file.writeUInt16LE(2, 32), file.writeUInt16LE(16, 34), file.write("data", 36), file.writeUInt32LE(2 * count, 40);
  let state = seed, phase = 0;
  for (let i = 0; i < count; ++i) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    phase += (2 * Math.PI * (150 + 90 * seed * (1 + Math.floor(i / 900) % 7))) / RATE;
    file.writeInt16LE(Math.round(9000 * Math.sin(phase) + 3000 * (state / 2 ** 31 - 1)), 44 + 2 * i);
  }
  return file;
}

writeFileSync(join(sounds, "sound-1.wav"), sound(0.6, 1));
writeFileSync(join(sounds, "sound-2.wav"), sound(1.1, 3));
