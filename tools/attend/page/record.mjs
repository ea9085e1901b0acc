// The record that `fovea attend` writes: texts, images, row spaces, and attention operations (steps) with their maps.
import { numbersOf } from "./arrays.mjs";
import { keySegment, spacesOf } from "./spaces.mjs";

const FORMS = ["dense", "sparse", "pattern"];

/** The keys of pairs of a first key and a count. */
function keysOfRanges(ranges) {
  let count = 0;
  for (let i = 1; i < ranges.length; i += 2) count += ranges[i];
  const keys = new Uint32Array(count);
  for (let i = 0, at = 0; i < ranges.length; i += 2) {
    for (let key = ranges[i]; key < ranges[i] + ranges[i + 1]; ++key) keys[at++] = key;
  }
  return keys;
}

/** One attention step. Weights are decoded when they are first asked for. */
export class Step {
  #lines = null;
  #starts = null;

  constructor(json, index, spaces) {
    this.index = index;
    this.json = json;
    this.name = String(json.name ?? `step ${index}`);
    this.layer = json.layer ?? index;
    this.part = String(json.part ?? "encoder");
    this.queries = spaces[json.query_space];
    this.keys = spaces[json.key_space];
    if (!this.queries || !this.keys) throw new Error(`step "${this.name}": there is no such space`);
    this.heads = json.heads ?? [];
    this.reduced = this.heads.length === 0 ? String(json.reduced ?? "mean") : null;
    this.lineHeads = Math.max(1, this.heads.length);
    this.rows = json.rows;
    if (!Array.isArray(this.rows)) throw new Error(`step "${this.name}": rows are missing`);
    if (this.rows.some((row, i) => !(row >= 0 && row < this.queries.rows) || row <= (this.rows[i - 1] ?? -1))) {
      throw new Error(`step "${this.name}": rows are not ascending rows of "${this.queries.name}"`);
    }
    this.form = json.form;
    if (!FORMS.includes(this.form)) throw new Error(`step "${this.name}": form "${this.form}" is unknown`);
    this.hasWeights = this.form !== "pattern";
    this.type = this.hasWeights ? json.type : "pattern";
    this.causal = Boolean(json.causal);
    this.scores = Boolean(json.scores);
    this.note = String(json.note ?? "");
    this.self = this.queries === this.keys;
    this.pools = this.keys.parent === this.queries;
    this.vectors = json.vectors ?? null;
  }

  /** The query of a row and the key of another for a head: { width, query, key }. Several heads may share a key. */
  vectorsOf(row, key, head) {
    const { width, heads } = this.vectors;
    this.decoded ??= { queries: numbersOf(this.vectors.queries, "f16", `step "${this.name}": queries`),
      keys: numbersOf(this.vectors.keys, "f16", `step "${this.name}": keys`) };
    const { queries, keys } = this.decoded, keyHeads = keys.length / width / this.keys.rows;
    if (queries.length !== this.queries.rows * heads * width || heads % keyHeads !== 0 || !(head < heads)) {
      throw new Error(`step "${this.name}": vectors are not of its rows and heads`);
    }
    const from = (row * heads + head) * width, to = (key * keyHeads + Math.floor((head * keyHeads) / heads)) * width;
    return { width, query: queries.subarray(from, from + width), key: keys.subarray(to, to + width) };
  }

  /** Where a row is among those kept, or -1. */
  indexOf(row) {
    if (this.rows.length === this.queries.rows) return row;
    let low = 0, high = this.rows.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (this.rows[middle] === row) return middle;
      if (this.rows[middle] < row) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  keysOf(row) {
    return keySegment(this.queries, row, this.keys);
  }

  #decode() {
    if (this.#lines) return this.#lines;
    const { json, name } = this, count = this.rows.length * this.lineHeads;
    const numbers = (key, type) => numbersOf(json[key], type, `step "${name}": ${key}`);
    const lines = { weights: this.hasWeights ? numbers("weights", this.type) : null };
    let expected;
    if (this.form === "dense") {
      this.#starts = new Float64Array(this.rows.length + 1);
      this.rows.forEach((row, i) => {
        const [begin, end] = this.keysOf(row);
        this.#starts[i + 1] = this.#starts[i] + (end - begin) * this.lineHeads;
      });
      expected = this.#starts[this.rows.length];
    } else {
      lines.offsets = numbers("line_offsets", "u32");
      if (this.form === "pattern") lines.ranges = numbers("ranges", "u32");
      else lines.keys = json.keys === undefined ? keysOfRanges(numbers("ranges", "u32")) : numbers("keys", "u32");
      if (lines.offsets.length !== count + 1) throw new Error(`step "${name}": ${count + 1} line_offsets are needed`);
      if (lines.offsets.some((offset, i) => i > 0 && offset < lines.offsets[i - 1])) {
        throw new Error(`step "${name}": line_offsets are not ascending`);
      }
      expected = lines.offsets[count];
      const has = lines.keys ? lines.keys.length : lines.ranges.length / 2;
      if (has !== expected) throw new Error(`step "${name}": ${has} keys, ${expected} are needed`);
      const outside = lines.keys ? lines.keys.some((key) => key >= this.keys.rows)
        : lines.ranges.some((first, i) => i % 2 === 0 && first + lines.ranges[i + 1] > this.keys.rows);
      if (outside) throw new Error(`step "${name}": a key is no row of "${this.keys.name}"`);
    }
    if (lines.weights && lines.weights.length !== expected) {
      throw new Error(`step "${name}": ${lines.weights.length} weights, ${expected} are needed`);
    }
    return (this.#lines = lines);
  }

  /** A line as it is stored: { first, weights } of adjacent keys, { keys, weights }, or { ranges }. */
  line(index, head) {
    const lines = this.#decode();
    if (this.form === "dense") {
      const [first, end] = this.keysOf(this.rows[index]);
      const begin = this.#starts[index] + head * (end - first);
      return { first, count: end - first, weights: lines.weights.subarray(begin, begin + end - first) };
    }
    const line = index * this.lineHeads + head, begin = lines.offsets[line], end = lines.offsets[line + 1];
    if (this.form === "pattern") return { ranges: lines.ranges.subarray(2 * begin, 2 * end) };
    return { keys: lines.keys.subarray(begin, end), weights: lines.weights.subarray(begin, end) };
  }

  /** Adds a line to `sums`, whose first number is of key `first`, times `scale`. */
  addLine(index, head, sums, first, scale) {
    const line = this.line(index, head);
    if (line.ranges) {
      for (let i = 0; i < line.ranges.length; i += 2) {
        const begin = line.ranges[i] - first;
        for (let key = begin; key < begin + line.ranges[i + 1]; ++key) sums[key] += scale;
      }
    } else if (line.keys) {
      for (let i = 0; i < line.keys.length; ++i) sums[line.keys[i] - first] += scale * line.weights[i];
    } else {
      const shift = line.first - first;
      for (let i = 0; i < line.count; ++i) sums[i + shift] += scale * line.weights[i];
    }
  }

  /** Which of the lines of a row belong to a choice of head: its number, several, or "mean" of all that are kept. */
  headIndexes(head) {
    if (Array.isArray(head)) return head.map((each) => this.heads.indexOf(each));
    const index = this.heads.indexOf(head);
    return index >= 0 ? [index] : Array.from({ length: this.lineHeads }, (_, i) => i);
  }

  /** The weights that a kept row gives to each of its keys, the mean of several heads. Without weights: 1 if kept. */
  values(index, head) {
    const [first, end] = this.keysOf(this.rows[index]), chosen = this.headIndexes(head);
    if (this.form === "dense" && chosen.length === 1) return { first, values: this.line(index, chosen[0]).weights };
    const sums = new Float64Array(end - first);
    for (const each of chosen) this.addLine(index, each, sums, first, 1 / chosen.length);
    return { first, values: Float32Array.from(sums) };
  }

  /** Indexes [begin, end) of the kept rows among the rows [first, last). */
  keptBetween(first, last) {
    const at = (row) => {
      let low = 0, high = this.rows.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (this.rows[middle] < row) low = middle + 1;
        else high = middle;
      }
      return low;
    };
    return [at(first), at(last)];
  }

  /** The rows [begin, end) of queries that may look at a key. */
  queriesOf(key) {
    if (!this.self && this.keys.chain().includes(this.queries)) {
      const row = this.keys.ancestorRow(key, this.queries);
      return [row, row + 1];
    }
    return keySegment(this.keys, key, this.queries);
  }

  /** The weights that a key gets from each kept row that may look at it, with the rows' indexes. */
  column(key, head) {
    const [begin, end] = this.keptBetween(...this.queriesOf(key)), chosen = this.headIndexes(head);
    const values = new Float32Array(end - begin);
    for (let index = begin; index < end; ++index) {
      const sum = chosen.reduce((all, each) => all + this.weightOf(index, each, key), 0);
      values[index - begin] = sum / chosen.length;
    }
    return { begin, values };
  }

  weightOf(index, head, key) {
    const line = this.line(index, head);
    if (line.ranges) {
      for (let i = 0; i < line.ranges.length; i += 2) {
        if (line.ranges[i] <= key && key < line.ranges[i] + line.ranges[i + 1]) return 1;
      }
      return 0;
    }
    if (line.keys) {
      let low = 0, high = line.keys.length - 1;
      while (low <= high) {
        const middle = (low + high) >> 1;
        if (line.keys[middle] === key) return line.weights[middle];
        if (line.keys[middle] < key) low = middle + 1;
        else high = middle - 1;
      }
      return 0;
    }
    return line.weights[key - line.first] ?? 0;
  }

  /** The mean weight of each key of the segment that `row` is in, over the kept rows of that segment. */
  received(row, head) {
    const [first, end] = this.keysOf(row), [low, high] = this.rowsBeside(row);
    const [begin, stop] = this.keptBetween(low, high), chosen = this.headIndexes(head);
    const sums = new Float64Array(end - first), scale = 1 / Math.max(1, (stop - begin) * chosen.length);
    for (let index = begin; index < stop; ++index) {
      for (const each of chosen) this.addLine(index, each, sums, first, scale);
    }
    return { first, values: Float32Array.from(sums), rows: stop - begin };
  }

  /** The rows [begin, end) that look at the same keys as `row`. */
  rowsBeside(row) {
    const [first, end] = this.keysOf(row);
    return first < end ? this.queriesOf(first) : [row, row + 1];
  }
}

export class Record {
  constructor(json) {
    if (json?.fovea_attention !== 1) throw new Error("this is no attention record of version 1");
    this.title = String(json.title ?? "");
    this.model = Object.fromEntries(["name", "architecture",
      "task"].map((key) => [key, String(json.model?.[key] ?? "")]));
    this.texts = json.texts ?? [];
    this.images = (json.images ?? []).map((image, i,
      all) => ({ ...image, png: image.png || all[image.of]?.png || "" }));
    this.sounds = json.sounds ?? [];
    this.spaces = spacesOf(json.spaces ?? [], this.texts, this.images);
    this.steps = (json.steps ?? []).map((step, index) => new Step(step, index, this.spaces));
    if (this.steps.length === 0) throw new Error("the record has no attention step");
    this.answers = json.answers ?? [];
    this.reads = json.reads ?? [];
    this.generation = json.generation ?? null;
    this.memory = json.memory ?? null;
    this.explain = json.explain ?? [];
    this.notes = json.notes ?? [];
  }

  /** The steps of a part, as the layers are. */
  partOf(step) {
    return this.steps.filter(({ part, queries, keys }) =>
      part === step.part && queries === step.queries && keys === step.keys);
  }
}

/** The record contained in the page. */
export function recordOf(text) {
  let json;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new Error(`the record is no JSON: ${error.message}`);
  }
  return new Record(json);
}
