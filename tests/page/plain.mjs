// The record by plain loops in double precision: what the page's numbers are compared with.

const decoded = (base64, Type) => {
  const bytes = Uint8Array.from(Buffer.from(base64, "base64"));
  return new Type(bytes.buffer);
};

function half(bits) {
  const exponent = (bits & 0x7c00) >> 10, fraction = bits & 0x3ff;
  const size = exponent === 0 ? (fraction / 1024) * 2 ** -14 : (1 + fraction / 1024) * 2 ** (exponent - 15);
  return bits & 0x8000 ? -size : size;
}

/** The segment that a row is in. */
const segmentOf = (space, row) => space.offsets.findLastIndex((offset) => offset <= row && offset < space.rows);
export const segment = (space, row) => space.offsets.slice(segmentOf(space, row)).slice(0, 2);

/** The keys of a row, for the fixtures' spaces. */
export function keysOf(record, step, row) {
  const queries = record.spaces[step.query_space], keys = record.spaces[step.key_space];
  if (step.query_space === step.key_space) return segment(keys, row);
  if (keys.parent === step.query_space) return [keys.offsets[row], keys.offsets[row + 1]];
  const number = segmentOf(queries, row);
  return keys.offsets.length === 2 ? [0, keys.rows] : [keys.offsets[number], keys.offsets[number + 1]];
}

const expanded = (ranges) => Array.from(ranges).flatMap((first,
  i) => (i % 2 ? [] : Array.from({ length: ranges[i + 1] }, (_, k) => first + k)));

/** All weights of a step: weights[row][head] is a Map of keys. Rows that are not kept are not there. */
export function weightsOf(record, step) {
  const heads = Math.max(1, step.heads.length), lines = {};
  const numbers = step.form === "pattern" ? null : step.type === "f16" ? Array.from(decoded(step.weights, Uint16Array),
    half)
    : Array.from(decoded(step.weights, Float32Array));
  const offsets = step.line_offsets && decoded(step.line_offsets, Uint32Array),
    ranges = step.ranges && decoded(step.ranges, Uint32Array);
  const keys = step.keys ? decoded(step.keys, Uint32Array) : step.form === "sparse" ? expanded(ranges) : null;
  let at = 0;
  step.rows.forEach((row, r) => {
    lines[row] = [];
    for (let head = 0; head < heads; ++head) {
      const line = new Map(), number = r * heads + head;
      if (step.form === "dense") {
        const [begin, end] = keysOf(record, step, row);
        for (let key = begin; key < end; ++key) line.set(key, numbers[at++]);
      } else if (step.form === "sparse") {
        for (let i = offsets[number]; i < offsets[number + 1]; ++i) line.set(keys[i], numbers[i]);
      } else {
        for (let i = offsets[number]; i < offsets[number + 1]; ++i) {
          for (let key = ranges[2 * i]; key < ranges[2 * i] + ranges[2 * i + 1]; ++key) line.set(key, 1);
        }
      }
      lines[row].push(line);
    }
  });
  return lines;
}

/** A row's weights, of a head's place or the mean of all: a Map of keys. */
export function lineOf(weights, row, head = "mean") {
  const lines = head === "mean" ? weights[row] : [weights[row][head]], sums = new Map();
  for (const line of lines) for (const [key, weight] of line) sums.set(key,
      (sums.get(key) ?? 0) + weight / lines.length);
  return sums;
}

/** The mean weight that each key of [begin, end) gets from the rows given. */
export function receivedOf(weights, rows, [begin, end], head = "mean") {
  const lines = rows.map((row) => lineOf(weights, row, head));
  return Array.from({ length: end - begin },
    (_, i) => lines.reduce((sum, line) => sum + (line.get(begin + i) ?? 0), 0) / rows.length);
}

/** Rollout as it is defined: the product of (A + I) / 2, the rows of A summing to one; matrices of rows and keys. */
export function rolloutOf(record, steps, [begin, end]) {
  const n = end - begin;
  let product = Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => Number(i === j)));
  for (const step of steps) {
    const weights = weightsOf(record, step);
    const layer = Array.from({ length: n }, (_, i) => {
      const line = lineOf(weights, begin + i), sum = [...line.values()].reduce((a, b) => a + b, 0);
      return Array.from({ length: n }, (_, j) => ((line.get(begin + j) ?? 0) / sum + Number(i === j)) / 2);
    });
    product = layer.map((line) => Array.from({ length: n },
      (_, j) => line.reduce((sum, weight, k) => sum + weight * product[k][j], 0)));
  }
  return product;
}
