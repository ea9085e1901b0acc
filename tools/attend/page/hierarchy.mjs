// The steps whose weights state how much each row of a level counts in the row above it.

/** The level below each space: [{ space, deciding, hops }], outermost first. */
export function levelsOf(record) {
  const levels = [];
  const told = record.explain.map((name) => record.steps.find((step) => step.name === name)).filter(Boolean);
  const candidates = [...told, ...record.steps].filter((step) => step.hasWeights && !step.self && step.keys.parent &&
    (step.pools || step.part === "pool" || step.part === "hop"));
  for (const step of candidates) {
    if (levels.some(({ space }) => space === step.keys)) continue;
    const hops = record.steps.filter((each) => each.keys === step.keys && each.part === "hop" && each.hasWeights);
    levels.push({ space: step.keys, deciding: step, hops: hops.length > 1 ? hops : [] });
  }
  return levels.sort((a, b) => a.space.chain().length - b.space.chain().length);
}

/** The numbers of the rows of `step.keys` that belong to a row of their parent; null where the record has none. */
export function sharesOf(step, parentRow, head) {
  const [begin, end] = step.keys.segment(parentRow);
  if (begin === end) return { begin, end, values: new Float32Array(0) };
  const [low, high] = step.keptBetween(...step.queriesOf(begin));
  if (low === high) return { begin, end, values: null };
  const values = new Float32Array(end - begin);
  for (let index = low; index < high; ++index) {
    const line = step.values(index, head);
    for (let i = 0; i < values.length; ++i) values[i] += line.values[begin + i - line.first] / (high - low);
  }
  return { begin, end, values };
}
