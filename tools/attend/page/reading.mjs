// The numbers for the current choice: their rows and their meaning.
import { plural } from "./elements.mjs";
import { rolloutFrom, rolloutLayers, rolloutReceived, rolloutTo } from "./rollout.mjs";

/**
 * { space, first, values, what, note }: values[i] is the number of row first + i of the space; NaN where the record has
 * none. `values` is null if there is nothing to show; `note` gives the reason.
 */
export function readingOf(selection) {
  const reading = wholeReading(selection);
  return { ...reading, values: reading.values && limited(selection, reading) };
}

/** NaN for what is not shown: keys after the row of a causal step, hidden tokens, weights below the threshold. */
function limited(selection, { space, first, values }) {
  const { step, chosen, row, least } = selection, gives = selection.sideShown === "gives";
  const unseen = chosen && step.causal && step.self && !step.scores
    ? (each) => (gives ? each > row : each < row) : () => false;
  return values.map((value, i) =>
    (unseen(first + i) || selection.hides(space, first + i) || value < least ? NaN : value));
}

function wholeReading(selection) {
  const { record, step, headsRead: head, chosen, row } = selection, side = selection.sideShown;
  let note = "";
  if (selection.rolls) {
    const { layers, why } = rolloutLayers(record, step, selection.query);
    if (layers) return rolledOut(layers, selection);
    note = why;
  }
  const unit = step.scores ? "score" : step.hasWeights ? "weight" : "kept";
  const mean = step.headIndexes(head).length > 1 ? `mean ${unit} of ${step.headIndexes(head).length} heads` : unit;
  if (chosen && side === "gives") {
    const index = step.indexOf(row);
    if (index < 0) {
      return { space: step.keys, first: 0, values: null, what: mean,
        note: "The record does not have this row's weights." };
    }
    return { space: step.keys, ...step.values(index, head), what: mean, note };
  }
  if (chosen) {
    const { begin, values } = step.column(row, head);
    return { space: step.queries, ...spread(step, begin, values), what: mean, note };
  }
  if (step.self && selection.overview === "gives") {
    const [begin, end] = step.keptBetween(...step.rowsBeside(row)), heads = step.headIndexes(head);
    const values = new Float32Array(end - begin);
    for (let index = begin; index < end; ++index) {
      const given = step.values(index, head).values.reduce((sum, weight) => sum + weight, 0);
      const own = heads.reduce((sum, each) => sum + step.weightOf(index, each, step.rows[index]), 0) / heads.length;
      values[index - begin] = given - own;
    }
    return { space: step.queries, ...spread(step, begin, values), what: `${mean} given to other rows`, note };
  }
  const { first, values, rows } = step.received(selection.query, head);
  return { space: step.keys, first, values, what: `${mean} received, on average over ${plural(rows, "row")}`, note };
}

/** Numbers of kept rows on all rows between the first and the last of them. */
function spread(step, begin, values) {
  if (values.length === 0) return { first: 0, values };
  const first = step.rows[begin], last = step.rows[begin + values.length - 1];
  const all = new Float32Array(last - first + 1).fill(NaN);
  values.forEach((value, i) => (all[step.rows[begin + i] - first] = value));
  return { first, values: all };
}

function rolledOut(layers, { chosen, row, sideShown, query, step }) {
  const roll = !chosen ? rolloutReceived : sideShown === "gives" ? rolloutFrom : rolloutTo;
  const what = `rollout over ${plural(layers.length, "layer")}, an estimate`;
  return { space: step.keys, ...roll(layers, chosen ? row : query), what, note: "" };
}
