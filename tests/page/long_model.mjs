// Inputs of the command for pages of the golden models: rows for the encoders, which have no tokenizer, a picture, and
// the golden Longformer made for 4,096 rows with windows of 256.   long_model.mjs GOLDEN_FOLDER FOLDER
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readSafetensors } from "../ports/wasm/support.mjs";
import { imageOf, random } from "./fixtures.mjs";

const [golden, folder] = process.argv.slice(2), ROWS = 4096, WINDOW = 256, POSITIONS = ROWS + 2;

function writeSafetensors(path, tensors) {
  const header = {}, parts = [];
  let at = 0;
  for (const [name, { shape, data }] of Object.entries(tensors)) {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    header[name] = { dtype: data instanceof Float32Array ? "F32" : "I64", shape,
      data_offsets: [at, at += bytes.length] };
    parts.push(bytes);
  }
  const text = Buffer.from(JSON.stringify(header)), length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  writeFileSync(path, Buffer.concat([length, text, ...parts]));
}

/** A WAV file of samples at 16 kHz. */
function waveOf(samples) {
  const head = Buffer.alloc(44), data = Buffer.alloc(2 * samples.length);
  samples.forEach((sample, i) => data.writeInt16LE(Math.round(sample * 32767), 2 * i));
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + data.length, 4);
  head.write("WAVEfmt ", 8);
  for (const [at, number] of [[16, 16], [24, 16000], [28, 32000], [40, data.length]]) head.writeUInt32LE(number, at);
  for (const [at, number] of [[20, 1], [22, 1], [32, 2], [34, 16]]) head.writeUInt16LE(number, at);
  head.write("data", 36);
  return Buffer.concat([head, data]);
}

const next = random(5), ids = (count) => BigInt64Array.from({ length: count },
  () => BigInt(4 + Math.floor(next() * 90)));
const ones = (count, from = 0, to = count) => BigInt64Array.from({ length: count },
  (_, i) => BigInt(i >= from && i < to));

const model = join(folder, "longformer-4096");
mkdirSync(model, { recursive: true });
const config = JSON.parse(readFileSync(join(golden, "longformer/config.json")));
Object.assign(config, { max_position_embeddings: POSITIONS,
  attention_window: config.attention_window.map(() => WINDOW) });
writeFileSync(join(model, "config.json"), JSON.stringify(config));
const tensors = readSafetensors(join(golden, "longformer/model.safetensors"));
for (const [name, tensor] of Object.entries(tensors)) {
  if (!name.includes("position_embeddings")) continue;
  const shape = [POSITIONS, tensor.shape[1]];
  tensors[name] = { shape, data: Float32Array.from({ length: shape[0] * shape[1] }, () => (next() - 0.5) * 0.4) };
}
writeSafetensors(join(model, "model.safetensors"), tensors);
writeSafetensors(join(folder, "long.safetensors"), { input_ids: { shape: [1, ROWS], data: ids(ROWS) },
  global_attention_mask: { shape: [1, ROWS], data: ones(ROWS, 0, 1) } });

const mask = BigInt64Array.from([...ones(11), ...ones(11, 0, 7)]);
writeSafetensors(join(folder, "two.safetensors"),
  { input_ids: { shape: [2, 11], data: ids(22) }, attention_mask: { shape: [2, 11], data: mask } });
writeFileSync(join(folder, "picture.png"), imageOf(96));
writeFileSync(join(folder, "tone.wav"), waveOf(Float32Array.from({ length: 1200 * 16 },
  (_, i) => 0.5 * Math.sin(i / 8 + 4 * Math.sin(i / 2000)))));
const pages = ["runtime/attention/README.md", "tests/README.md"];  // a document of some hundred sentences
writeFileSync(join(folder, "document.txt"),
  pages.map(page => readFileSync(join(golden, "../../..", page), "utf8")).join("\n"));
