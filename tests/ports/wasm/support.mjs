// Shared by the tests of ports/wasm.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const TYPES = { F32: Float32Array, I32: Int32Array, I64: BigInt64Array, U8: Uint8Array };

/** Tensors of a safetensors file: { shape, data } by their names. */
export function readSafetensors(path) {
  const file = readFileSync(path);
  const length = Number(file.readBigUInt64LE(0));
  const header = JSON.parse(file.subarray(8, 8 + length));
  delete header.__metadata__;
  return Object.fromEntries(Object.entries(header).map(([name, { dtype, shape, data_offsets: [from, to] }]) => {
    const bytes = Uint8Array.from(file.subarray(8 + length + from, 8 + length + to));
    return [name, { shape, data: new TYPES[dtype](bytes.buffer) }];
  }));
}

export function assertNear(got, expected, tolerance, what) {
  assert.equal(got.length, expected.length, `${what}: how many`);
  for (let i = 0; i < expected.length; ++i) {
    assert.ok(Math.abs(got[i] - expected[i]) <= tolerance, `${what} ${i}: ${got[i]}, expected ${expected[i]}`);
  }
}

/** The `count` entries with the greatest numbers under `key`, as the command orders them. */
export const most = (list, key, count) => [...list].sort((a, b) => b[key] - a[key]).slice(0, count);

/** The samples of a RIFF WAVE file with one channel of 16-bit numbers, from -1 to 1. */
export function samplesOf(path) {
  const file = readFileSync(path);
  assert.equal(file.toString("latin1", 36, 40), "data");
  return Float32Array.from({ length: (file.length - 44) / 2 }, (_, i) => file.readInt16LE(44 + 2 * i) / 32768);
}
