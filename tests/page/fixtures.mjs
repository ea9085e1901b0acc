// Attention records of the shapes that models have, with numbers from a seed: what the page is tested with where there
// is no `fovea attend`, and where every number must be known.   fixtures.mjs FOLDER writes them as files
import { writeFileSync } from "node:fs";
import { deflateSync } from "node:zlib";

/** A stream of numbers between 0 and 1, the same in every run. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function halfBits(value) {
  const f = Math.abs(value), sign = value < 0 ? 0x8000 : 0;
  if (f === 0) return sign;
  let exponent = Math.max(-14, Math.floor(Math.log2(f)));
  let fraction = Math.round(f / 2 ** (exponent - 10));
  if (fraction === 2048) [fraction, exponent] = [1024, exponent + 1];
  return sign | (fraction < 1024 ? fraction : ((exponent + 15) << 10) | (fraction - 1024));
}

export const base64 = (numbers) => Buffer.from(numbers.buffer, numbers.byteOffset,
  numbers.byteLength).toString("base64");
const floats = (numbers) => base64(Float32Array.from(numbers));
export const halves = (numbers) => base64(Uint16Array.from(numbers, halfBits));
const counts = (numbers) => base64(Uint32Array.from(numbers));

const softmax = (scores) => {
  const most = Math.max(...scores), exps = scores.map((score) => Math.exp(score - most)),
    sum = exps.reduce((a, b) => a + b, 0);
  return exps.map((value) => value / sum);
};

/** Kinds of heads: each a score for the row and the key at these places. */
const HABITS = [(q, k) => (k === q - 1 ? 6 : 0), (q, k) => (k === q ? 6 : 0), (q, k) => (k === 0 ? 5 : 0), () => 0,
  (q, k) => (k === q + 1 ? 6 : 0), (q, k, n) => ((k * 7 + 3) % n === (q * 5) % n ? 6 : 0),
    (q, k) => -Math.abs(q - k) / 2];

/** A dense step: `keysOf(row)` is [begin, end) of its keys. */
function denseStep(step, rows, heads, keysOf, seed, { type = "f32", causal = false } = {}) {
  const next = random(seed), weights = [];
  for (const row of rows) {
    const [begin, end] = keysOf(row);
    for (let head = 0; head < Math.max(1, heads.length); ++head) {
      const habit = HABITS[(head + step.layer * 3) % HABITS.length];
      weights.push(...softmax(Array.from({ length: end - begin }, (_, k) =>
        (causal && begin + k > row ? -Infinity : habit(row - begin, k, end - begin) + next()))));
    }
  }
  return { ...step, heads, rows, causal, scores: false, form: "dense", type,
    weights: (type === "f16" ? halves : floats)(weights) };
}

const range = (begin, end) => Array.from({ length: end - begin }, (_, i) => begin + i);

/** Words of a text with their places, between two tokens that have none. */
function tokensOf(texts, number, frame = ["[CLS]", "[SEP]"]) {
  const found = [...texts[number].matchAll(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu)];
  const words = found.map((match) => [match[0].toLowerCase(), [number, match.index, match.index + match[0].length]]);
  return [[frame[0], null], ...words, [frame[1], null]];
}

function tokenSpace(texts, parent, groups) {
  const all = groups.flat(), offsets = [0];
  for (const group of groups) offsets.push(offsets.at(-1) + group.length);
  return { name: "tokens", parent, rows: all.length, offsets, labels: all.map(([label]) => label),
    places: all.map(([, place]) => place) };
}

function record(title, architecture, task, rest) {
  return { fovea_attention: 1, title, model: { name: `${architecture}.fovea`, architecture, task }, texts: [],
    images: [], ...rest };
}

/** Two layers of four heads on two texts, one of which is as hostile as a text can be. */
export function bert() {
  const texts = ["The cat sat on the mat because it was warm there.",
    'Ça <b>marche</b>? "漢字" 🎮 </script><script>alert(1)</script>'];
  const tokens = tokenSpace(texts, 1, [tokensOf(texts, 0), tokensOf(texts, 1)]);
  const spaces = [tokens, { name: "texts", parent: null, rows: 2, offsets: [0, 2], labels: texts,
    places: texts.map((t, i) => [i, 0, t.length]) }];
  const keysOf = (row) => (row < tokens.offsets[1] ? [0, tokens.offsets[1]] : [tokens.offsets[1], tokens.rows]);
  const steps = [0, 1].map((layer) => denseStep({ name: `attentions.${layer}`, layer, part: "encoder", query_space: 0,
    key_space: 0 },
    range(0, tokens.rows), [0, 1, 2, 3], keysOf, 10 + layer));
  return record("Two texts in a small encoder", "bert", "masked-lm", { texts, spaces, steps,
    memory: { tap_bytes: 12345, session_bytes: 67890 } });
}

/** Many layers of many heads over 24 rows. */
export function manyHeads(layers, heads, rows = 24) {
  const space = { name: "tokens", parent: null, rows, offsets: [0, rows],
    labels: range(0, rows).map((i) => (i ? `word${i}` : "[CLS]")) };
  const steps = range(0, layers).map((layer) => denseStep({ name: `attentions.${layer}`, layer, part: "encoder",
    query_space: 0, key_space: 0 }, range(0, rows), range(0, heads), () => [0, rows], 100 + layer));
  return record(`${layers * heads} heads`, "bert", "masked-lm", { spaces: [space], steps });
}

/** Some rows and some heads of a decoder, in half precision. */
export function decoder() {
  const texts = ["Once upon a time there was"], tokens = tokenSpace(texts, null, [tokensOf(texts, 0, ["<s>", "a"])]);
  const rows = [0, 2, 3, 5, 7].filter((row) => row < tokens.rows);
  const steps = [0, 1, 2].map((layer) => denseStep({ name: `attentions.${layer}`, layer, part: "decoder",
    query_space: 0, key_space: 0 },
    rows, [1, 5], () => [0, tokens.rows], 30 + layer, { type: "f16", causal: true }));
  return record("Some rows of a decoder", "llama", "causal-lm", { texts, spaces: [tokens], steps,
    generation: { source_space: null, target_space: 0, first: 3, shift: 1 } });
}

/** Documents of paragraphs of sentences of words; two hops over sentences, of which some were dropped. */
export function hierarchy() {
  const paragraphs = [["A library to read compressed audio files.", "It supports FLAC and Ogg Vorbis.",
    "Nothing is ever decoded twice."],
    ["The package has documentation.", "Bugs are mended quickly, most of the time."], ["See the manual."]];
  const texts = [paragraphs.map((sentences) => sentences.join(" ")).join("\n")];
  const place = (sentence) => [0, texts[0].indexOf(sentence), texts[0].indexOf(sentence) + sentence.length];
  const sentences = paragraphs.flat(), words = sentences.map((sentence) => {
    const begin = place(sentence)[1];
    return [...sentence.matchAll(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu)].map((m) => [m[0],
      [0, begin + m.index, begin + m.index + m[0].length]]);
  });
  const offsetsOf = (groups) => groups.reduce((all, group) => [...all, all.at(-1) + group.length], [0]);
  const cut = (text) => (text.length > 20 ? `${text.slice(0, 19)}…` : text);
  const spaces = [
    { name: "documents", parent: null, rows: 1, offsets: [0, 1], labels: ["document 1"] },
    { name: "paragraphs", parent: 0, rows: paragraphs.length, offsets: [0, paragraphs.length],
      labels: paragraphs.map((p) => cut(p[0])),
      places: paragraphs.map((p) => [0, place(p[0])[1], place(p.at(-1))[2]]) },
    { name: "sentences", parent: 1, rows: sentences.length, offsets: offsetsOf(paragraphs), labels: sentences.map(cut),
      places: sentences.map(place),
      chosen: sentences.map((_, i) => (i === 2 || i === 3 ? 0 : 1)) },
    { name: "words", parent: 2, rows: words.flat().length, offsets: offsetsOf(words),
      labels: words.flat().map(([w]) => w),
      places: words.flat().map(([, p]) => p) },
  ];
  const pool = (name, layer, query, part, heads,
    seed) => denseStep({ name, layer, part, query_space: query, key_space: query + 1 },
    range(0, spaces[query].rows), heads, (row) => [spaces[query + 1].offsets[row], spaces[query + 1].offsets[row + 1]],
      seed);
  const inner = denseStep({ name: "words.attentions.0", layer: 0, part: "encoder", query_space: 3, key_space: 3 },
    range(0, spaces[3].rows), [0, 1],
    (row) => { const s = spaces[3].offsets.findLastIndex((o) => o <= row); return [spaces[3].offsets[s],
      spaces[3].offsets[s + 1]]; }, 44);
  const steps = [inner, pool("pool words", 0, 2, "pool", [0], 41), pool("hop 1", 0, 1, "hop", [], 42),
    pool("hop 2", 1, 1, "hop", [], 45),
    pool("pool paragraphs", 0, 0, "pool", [0], 43)];
  for (const step of steps) if (step.heads.length === 0) step.reduced = "mean";
  return record("A document of three levels", "hierarchical", "sequence-classification", { texts, spaces, steps,
    explain: ["pool paragraphs", "hop 2", "pool words"] });
}

/** A date and what a translator with cross attention wrote of it, character by character. */
export function date() {
  const texts = ["Thursday, 3 March 2011", "2011-03-03"],
    letters = (number) => [...texts[number]].map((c, i) => [c, [number, i, i + 1]]);
  const source = { ...tokenSpace(texts, null, [letters(0)]), name: "source" };
  const target = { ...tokenSpace(texts, null, [[["<s>", null], ...letters(1)]]), name: "written" };
  target.writes = [...texts[1], ""];
  const steps = [
    denseStep({ name: "encoder.0", layer: 0, part: "encoder", query_space: 0, key_space: 0 }, range(0, source.rows),
      [0, 1], () => [0, source.rows], 51),
    denseStep({ name: "decoder.0", layer: 0, part: "decoder", query_space: 1, key_space: 1 }, range(0, target.rows),
      [0, 1], () => [0, target.rows],
      52, { causal: true }),
    denseStep({ name: "cross.0", layer: 0, part: "cross", query_space: 1, key_space: 0 }, range(0, target.rows),
      [0, 1], () => [0, source.rows], 53)];
  return record("A date, normalised", "seq2seq", "translation", { texts, spaces: [source, target], steps,
    generation: { source_space: 0, target_space: 1, first: 1, shift: 1 } });
}

/** Long input, a window and some keys that every row sees. Form "sparse" or "pattern". */
export function long(form, rows = 4096, window = 256, heads = 2) {
  const next = random(60), lineOffsets = [0], keys = [], weights = [], ranges = [];
  for (let row = 0; row < rows; ++row) {
    const begin = Math.max(0, row - window / 2), end = Math.min(rows, row + window / 2 + 1);
    for (let head = 0; head < heads; ++head) {
      if (form === "pattern") {
        if (begin > 0) ranges.push(0, 1);
        ranges.push(begin, end - begin);
        lineOffsets.push(ranges.length / 2);
        continue;
      }
      const line = [...(begin > 0 ? [0] : []), ...range(begin, end)], numbers = line.map(() => next() ** 4 + 1e-3);
      const sum = numbers.reduce((a, b) => a + b, 0);
      for (let i = 0; i < line.length; ++i) {
        keys.push(line[i]);
        weights.push(numbers[i] / sum);
      }
      lineOffsets.push(keys.length);
    }
  }
  const space = { name: "tokens", parent: null, rows, offsets: [0, rows],
    labels: range(0, rows).map((i) => (i ? `word${i}` : "[CLS]")) };
  const step = { name: "attentions.0", layer: 0, part: "encoder", query_space: 0, key_space: 0, heads: range(0, heads),
    rows: range(0, rows),
    causal: false, scores: false, form, line_offsets: counts(lineOffsets) };
  if (form === "pattern") step.ranges = counts(ranges);
  else Object.assign(step, { keys: counts(keys), type: "f16", weights: halves(weights) });
  return record(`A window of ${window} over ${rows} rows`, "longformer", "masked-lm",
    { spaces: [space], steps: [step] });
}

function png(width, height, colourAt) {
  const crcTable = Array.from({ length: 256 },
    (_, n) => { for (let k = 0; k < 8; ++k) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1; return n >>> 0; });
  const crc = (bytes) => (bytes.reduce((c, byte) => crcTable[(c ^ byte) & 255] ^ (c >>> 8),
    0xffffffff) ^ 0xffffffff) >>> 0;
  const chunk = (name, data) => {
    const body = Buffer.concat([Buffer.from(name), data]), frame = Buffer.alloc(8);
    frame.writeUInt32BE(data.length, 0);
    frame.writeUInt32BE(crc(body), 4);
    return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  const lines = Buffer.concat(range(0,
    height).map((y) => Buffer.from([0, ...range(0, width).flatMap((x) => colourAt(x, y))])));
  return Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), chunk("IHDR", header),
    chunk("IDAT", deflateSync(lines)), chunk("IEND", Buffer.alloc(0))]);
}

/** A PNG of a sun over a meadow, `size` pixels wide and high. */
export function imageOf(size) {
  return png(size, size, (x, y) => {
    const [u, v] = [(x * 64) / size, (y * 64) / size], shade = Math.round(v);
    return Math.hypot(u - 40, v - 24) < 14 ? [240, 190, 60] : v > 44 ? [60, 130, 70] : [110 + shade, 160 + shade, 230];
  });
}

/** A picture of 4 x 4 patches: a class token and patches that all see each other, and windows of 2 x 2. */
export function picture() {
  const image = imageOf(64);
  const images = [{ width: 64, height: 64, png: image.toString("base64"), rows: 4, columns: 4 },
    { width: 64, height: 64, png: "", of: 0, rows: 2, columns: 2 }];
  const windows = [0, 2, 8, 10].flatMap((corner) => [0, 1, 4, 5].map((at) => corner + at));
  const spaces = [
    { name: "patches", parent: null, rows: 17, offsets: [0, 17], labels: ["[CLS]", ...Array(16).fill("")],
      cells: [null, ...range(0, 16).map((i) => [0, i])] },
    { name: "windows", parent: null, rows: 4, offsets: [0, 4],
      labels: ["window 1", "window 2", "window 3", "window 4"] },
    { name: "patches in windows", parent: 1, rows: 16, offsets: [0, 4, 8, 12, 16], labels: Array(16).fill(""),
      cells: windows.map((cell) => [0, cell]) },
    { name: "merged patches", parent: null, rows: 4, offsets: [0, 4], labels: Array(4).fill(""),
      cells: range(0, 4).map((i) => [1, i]) }];
  const steps = [0, 1].map((layer) => denseStep({ name: `attentions.${layer}`, layer, part: "encoder", query_space: 0,
    key_space: 0 }, range(0, 17),
    [0, 1, 2], () => [0, 17], 70 + layer));
  steps.push(denseStep({ name: "windows.0", layer: 2, part: "encoder", query_space: 2, key_space: 2 }, range(0, 16),
    [0, 1],
    (row) => [row - (row % 4), row - (row % 4) + 4], 75));
  steps.push(denseStep({ name: "merged.0", layer: 3, part: "encoder", query_space: 3, key_space: 3 }, range(0, 4),
    [0, 1], () => [0, 4], 76));
  return record("A picture of 4 x 4 patches", "vit", "image-classification", { images, spaces, steps });
}

/** A transcription: frames with times, cross attention, words. */
export function sound() {
  const frames = 40, words = ["<s>", "two", "small", "steps"], next = random(80);
  const peaks = range(0, 400).flatMap((i) => { const a = Math.abs(Math.sin(i / 30)) * (0.3 + next()); return [-a,
    a]; });
  const spaces = [
    { name: "frames", parent: null, rows: frames, offsets: [0, frames], labels: Array(frames).fill(""),
      times: range(0, frames).map((i) => [0, i / 20, (i + 1) / 20]) },
    { name: "words", parent: null, rows: 4, offsets: [0, 4], labels: words, writes: [...words.slice(1), "."] }];
  const steps = [denseStep({ name: "cross.0", layer: 0, part: "cross", query_space: 1, key_space: 0 }, range(0, 4),
    [0, 1], () => [0, frames], 81)];
  return record("A transcription", "whisper", "transcription",
    { sounds: [{ seconds: 2, rate: 16000, peaks: floats(peaks) }], spaces, steps,
    generation: { source_space: 0, target_space: 1, first: 1, shift: 1 } });
}

/** Scores before the weighting, hidden keys, and a pair of texts in one segment. */
export function scores() {
  const texts = ["Is it warm?", "It is warm."], pair = [...tokensOf(texts, 0), ...tokensOf(texts, 1).slice(1)],
    tokens = tokenSpace(texts, null, [pair]);
  const next = random(90), numbers = [];
  for (let i = 0; i < tokens.rows ** 2; ++i) numbers.push(i % tokens.rows > i / tokens.rows ? -Infinity :
      next() * 8 - 4);
  return record("Scores of a pair", "bert", "",
    { texts, spaces: [tokens], steps: [{ name: "attentions.0", layer: 0, part: "encoder",
    query_space: 0, key_space: 0, heads: [3], rows: range(0, tokens.rows), causal: true, scores: true, form: "dense",
      type: "f32", weights: floats(numbers) }] });
}

export const FIXTURES = { bert, decoder, hierarchy, date, sparse: () => long("sparse"), pattern: () => long("pattern"),
  picture, sound, scores };

/** The page of a record, as `fovea attend` makes it. */
export const pageOf = (template, given) => template.replace("@RECORD@",
  () => JSON.stringify(given).replaceAll("<", "\\u003c"));

if (process.argv[1]?.endsWith("fixtures.mjs")) {
  for (const [name, make] of Object.entries(FIXTURES)) writeFileSync(`${process.argv[2]}/${name}.json`,
      JSON.stringify(make()));
}
