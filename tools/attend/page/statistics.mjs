// Statistics of a head: entropy, distance, and the kind of head.

/** Bits of a line of weights, taken as shares of their sum. */
export function entropy(weights) {
  let sum = 0, bits = 0;
  for (const weight of weights) if (weight > 0) sum += weight;
  for (const weight of weights) if (weight > 0) bits -= (weight / sum) * Math.log2(weight / sum);
  return bits;
}

/** The distance between a row and the keys that it looks at, in rows, weighted. */
export function meanDistance(line, row) {
  let sum = 0, distance = 0;
  line.weights.forEach((weight, i) => {
    sum += weight;
    distance += weight * Math.abs((line.keys ? line.keys[i] : line.first + i) - row);
  });
  return sum > 0 ? distance / sum : 0;
}

const SHARE = 0.4;  // share of all weight from which on it determines the kind
const BROAD = 0.8;  // fraction of the entropy of uniform weights
export const KINDS = ["diagonal", "previous", "next", "first token", "focused", "broad", "mixed"];
export const KIND_RULES = `A head is named after the place that gets most of its weight on average, if that is ` +
  `${SHARE} or more: the row itself (diagonal), the row before or after it, the first token. Else it is broad ` +
  `(entropy ${BROAD} of the most there can be, or more), focused (the greatest weight of a row is ${SHARE} or more ` +
  `on average) or mixed. The first row of a text does not count.`;

/**
 * The means over the kept rows that look at the same keys as `row`, of one of the step's lines of heads:
 * { rows, entropy, evenness, distance (null unless keys are rows), shares: { self, previous, next, first }, most, kind
 * }.
 */
export function headStatistics(step, headIndex, row) {
  const [low, high] = step.rowsBeside(row);
  let [begin, end] = step.keptBetween(low, high);
  if (end - begin > 1 && step.rows[begin] === low) ++begin;  // it can often look at nothing but itself
  const sums = { entropy: 0, evenness: 0, distance: 0, self: 0, previous: 0, next: 0, first: 0, most: 0 };
  for (let index = begin; index < end; ++index) {
    const line = step.line(index, headIndex), query = step.rows[index], [first, last] = step.keysOf(query);
    const bits = entropy(line.weights);
    let possible = line.weights.length;
    if (step.causal && step.self && !line.keys) possible = Math.min(possible, query - first + 1);
    sums.entropy += bits;
    sums.evenness += possible > 1 ? bits / Math.log2(possible) : 1;
    sums.most += line.weights.reduce((most, weight) => Math.max(most, weight), 0);
    if (first < last) sums.first += step.weightOf(index, headIndex, first);
    if (!step.self) continue;
    sums.distance += meanDistance(line, query);
    sums.self += step.weightOf(index, headIndex, query);
    if (query > first) sums.previous += step.weightOf(index, headIndex, query - 1);
    if (query + 1 < last) sums.next += step.weightOf(index, headIndex, query + 1);
  }
  const rows = end - begin;
  for (const key of Object.keys(sums)) sums[key] /= Math.max(1, rows);
  const { self, previous, next, first, most, evenness } = sums;
  return { rows, entropy: sums.entropy, evenness, most, distance: step.self ? sums.distance : null,
    shares: { self, previous, next, first }, kind: kindOf({ self, previous, next, first }, evenness, most) };
}

export function kindOf({ self, previous, next, first }, evenness, most) {
  const places = [["diagonal", self], ["previous", previous], ["next", next], ["first token", first]];
  const [name, share] = places.reduce((best, place) => (place[1] > best[1] ? place : best));
  if (share >= SHARE) return name;
  if (evenness >= BROAD) return "broad";
  return most >= SHARE ? "focused" : "mixed";
}
