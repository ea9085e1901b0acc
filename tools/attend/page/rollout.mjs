// Attention rollout (Abnar and Zuidema, 2020): where the weights of all layers together lead, if half of each layer's
// output is its input. Each layer's matrix A, the mean of its heads, becomes (A + I) / 2; rollout is their product.
// It is an estimate: it ignores the values, projections and feed-forward parts of the layers.

/** The steps up to `step` that can be multiplied for the segment of a row, or null and why not. */
export function rolloutLayers(record, step, row) {
  const no = (why) => ({ layers: null, why });
  if (!step.self) return no("Rollout is only for self-attention layers.");
  const layers = record.partOf(step).filter(({ index }) => index <= step.index);
  for (const layer of layers) {
    if (!layer.hasWeights || layer.scores) return no("Rollout needs weights.");
    const [low, high] = layer.rowsBeside(row), [begin, end] = layer.keptBetween(low, high);
    if (end - begin !== high - low) return no("Rollout needs every row, and the record has only some.");
    const [first, last] = layer.keysOf(row);
    if (first !== low || last !== high) return no("Rollout needs rows and keys that are the same.");
  }
  return { layers, why: "" };
}

// One layer: with `forward` numbers pass from rows to their keys, else from keys to the rows that attend to them.
function through(step, row, numbers, forward) {
  const [low, high] = step.rowsBeside(row), begin = step.keptBetween(low, high)[0];
  const result = Float64Array.from(numbers, (number) => number / 2);
  const mean = new Float64Array(high - low);
  for (let i = 0; i < high - low; ++i) {
    if (forward && numbers[i] === 0) continue;
    mean.fill(0);
    for (let head = 0; head < step.lineHeads; ++head) step.addLine(begin + i, head, mean, low, 1 / step.lineHeads);
    const sum = mean.reduce((all, weight) => all + weight, 0);
    if (sum <= 0) continue;
    if (forward) {
      for (let key = 0; key < mean.length; ++key) result[key] += (numbers[i] * mean[key]) / sum / 2;
    } else {
      let looked = 0;
      for (let key = 0; key < mean.length; ++key) looked += numbers[key] * mean[key];
      result[i] += looked / sum / 2;
    }
  }
  return result;
}

/**
 * The contribution of each row of the segment to the rows weighted by `start`, layer by layer backwards.
 */
function rolled(layers, row, start, forward) {
  const order = forward ? [...layers].reverse() : layers;
  return Float32Array.from(order.reduce((numbers, step) => through(step, row, numbers, forward), start));
}

function oneAt(layers, row) {
  const [low, high] = layers[0].rowsBeside(row), start = new Float64Array(high - low);
  start[row - low] = 1;
  return start;
}

/** The shares of all rows of the segment in what `row` is after the layers. */
export function rolloutFrom(layers, row) {
  return { first: layers[0].rowsBeside(row)[0], values: rolled(layers, row, oneAt(layers, row), true) };
}

/** The share of `row` in what each row of the segment is after the layers. */
export function rolloutTo(layers, row) {
  return { first: layers[0].rowsBeside(row)[0], values: rolled(layers, row, oneAt(layers, row), false) };
}

/** The mean share of each row of the segment. */
export function rolloutReceived(layers, row) {
  const [low, high] = layers[0].rowsBeside(row), start = new Float64Array(high - low).fill(1 / (high - low));
  return { first: low, values: rolled(layers, row, start, true) };
}
