// The matrix of a head: the kept rows of a segment down, its keys across.

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
 * } with keys counted from -shift.
 */
export function matrixSource(step, row, head, weightless = false) {
  const [begin, end] = step.keptBetween(...step.rowsBeside(row)), [first, last] = step.keysOf(row);
  let chosen = step.headIndexes(head);
  if (weightless && chosen.length > 1 && keepsAlike(step)) chosen = [0];
  const line = (i) => {
    if (chosen.length > 1) {
      const sums = new Float32Array(last - first);
      for (const each of chosen) step.addLine(begin + i, each, sums, first, 1 / chosen.length);
      if (weightless) for (let key = 0; key < sums.length; ++key) sums[key] = sums[key] > 0 ? 1 : NaN;
      return { first: 0, values: sums };
    }
    const { weights, keys, ranges } = step.line(begin + i, chosen[0]);
    return keys || ranges ? { keys, ranges, weights, shift: first } : { first: 0, values: weights };
  };
  const source = {
    id: `${step.index} ${begin} ${first} ${weightless}`, rows: end - begin, keys: last - first, line, weightless,
      least: 0, most: 1,
    rowNumber: (i) => step.rows[begin + i], keyNumber: (i) => first + i,
    rowName: (i) => step.queries.rowName(step.rows[begin + i]), keyName: (i) => step.keys.rowName(first + i),
    rowIndex: (of) => (step.indexOf(of) >= begin && step.indexOf(of) < end ? step.indexOf(of) - begin : null),
    keyIndex: (of) => (of >= first && of < last ? of - first : null),
  };
  if (!weightless) Object.assign(source, ends(source, step.scores));
  return source;
}

/** The ends of the scale for the numbers of some lines. */
export function ends({ rows, line }, scores) {
  let least = scores ? Infinity : 0, most = scores ? -Infinity : 0;
  for (let i = 0; i < rows; ++i) {
    const { values, weights } = line(i), numbers = values ?? weights;
    for (let j = 0; j < numbers.length; ++j) {
      if (numbers[j] > most) most = numbers[j];
      if (scores && numbers[j] < least && numbers[j] > -Infinity) least = numbers[j];
    }
  }
  return most > least ? { least, most } : { least: 0, most: 1 };
}
