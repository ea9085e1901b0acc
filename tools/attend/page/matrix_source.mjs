// The matrix of a head: the kept rows of a segment down, its keys across.

/** The limits of matrixSource by the choice. */
export const limitsOf = (selection) => ({ threshold: selection.least,
  shows: selection.plain && selection.uses("special") ? (space, row) => !space.special(row) : null });

const alike = new WeakMap();

/** Whether all heads of a step keep the same keys in every row. */
function keepsAlike(step) {
  if (!alike.has(step)) alike.set(step, step.form !== "dense" && everyLineAlike(step));
  return alike.get(step);
}

function everyLineAlike(step) {
  for (let index = 0; index < step.rows.length; ++index) {
    const first = step.line(index, 0), numbers = first.ranges ?? first.keys;
    for (let head = 1; head < step.lineHeads; ++head) {
      const line = step.line(index, head), others = line.ranges ?? line.keys;
      if (others.length !== numbers.length || others.some((number, i) => number !== numbers[i])) return false;
    }
  }
  return true;
}

/**
 * { id, rows, keys (how many), rowName, keyName, rowNumber, keyNumber, line, least, most, weightless, rowOf, keyOf }:
 * line(i) is { first, values } with keys counted from the segment's first, { keys, weights, shift } or { ranges, shift
 * } with keys counted from -shift. `shows(space, row)`: whether a row is shown; `threshold`: the least weight shown.
 */
export function matrixSource(step, row, head, { weightless = false, threshold = 0, shows = null } = {}) {
  const [begin, end] = step.keptBetween(...step.rowsBeside(row)), [first, last] = step.keysOf(row);
  let chosen = step.headIndexes(head);
  if (weightless && chosen.length > 1 && keepsAlike(step)) chosen = [0];
  const whole = (i) => {
    if (chosen.length > 1) {
      const sums = new Float32Array(last - first);
      for (const each of chosen) step.addLine(begin + i, each, sums, first, 1 / chosen.length);
      if (weightless) for (let key = 0; key < sums.length; ++key) sums[key] = sums[key] > 0 ? 1 : NaN;
      return { first: 0, values: sums };
    }
    const { weights, keys, ranges } = step.line(begin + i, chosen[0]);
    return keys || ranges ? { keys, ranges, weights, shift: first } : { first: 0, values: weights };
  };
  const line = threshold > 0 || shows ? (i) => limited(whole(i), i) : whole;
  const limited = (given, i) => {
    if (given.ranges) return given;
    const hidden = shows && !shows(step.queries, step.rows[begin + i]), from = given.keys ? 0 : first + given.first;
    const numbers = (given.values ?? given.weights).map((value, j) => (hidden || value < threshold ||
      (shows && !shows(step.keys, given.keys ? given.keys[j] : from + j)) ? NaN : value));
    return given.keys ? { ...given, weights: numbers } : { ...given, values: numbers };
  };
  const source = {
    id: `${step.index} ${begin} ${first} ${weightless}`, rows: end - begin, keys: last - first, line, weightless,
      least: 0, most: 1,
    rowNumber: (i) => step.rows[begin + i], keyNumber: (i) => first + i,
    rowName: (i) => step.queries.rowName(step.rows[begin + i]), keyName: (i) => step.keys.rowName(first + i),
    rowTitle: `query: ${step.queries.name}`, keyTitle: `key: ${step.keys.name}`,
    rowTime: (i) => step.queries.time(step.rows[begin + i]), keyTime: (i) => step.keys.time(first + i),
    rowIndex: (of) => (step.indexOf(of) >= begin && step.indexOf(of) < end ? step.indexOf(of) - begin : null),
    keyIndex: (of) => (of >= first && of < last ? of - first : null),
  };
  if (!weightless) Object.assign(source, ends(source, step.scores));
  return source;
}

const OUTLYING = 2;  // the greatest weight, compared with that of three rows of four

/**
 * The ends of the scale for the numbers of some lines. If a few rows have far greater weights than the rest, as the
 * first rows of a causal model, which have few keys, the scale ends where three of four rows do;
 * `greatest` is the greatest of all.
 */
export function ends({ rows, line }, scores) {
  let least = scores ? Infinity : 0, most = scores ? -Infinity : 0;
  const tops = new Float32Array(rows);
  for (let i = 0; i < rows; ++i) {
    const { values, weights } = line(i), numbers = values ?? weights;
    for (let j = 0; j < numbers.length; ++j) {
      if (numbers[j] > most) most = numbers[j];
      if (numbers[j] > tops[i]) tops[i] = numbers[j];
      if (scores && numbers[j] < least && numbers[j] > -Infinity) least = numbers[j];
    }
  }
  if (!(most > least)) return { least: 0, most: 1 };
  const usual = tops.sort()[Math.floor(0.75 * (rows - 1))];
  if (!scores && usual > 0 && most > OUTLYING * usual) return { least, most: usual, greatest: most };
  return { least, most };
}
