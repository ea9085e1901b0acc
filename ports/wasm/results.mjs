// From a model's numbers to answers: probabilities, classes, pooled and normalised rows.

export const sigmoid = (logit) => 1 / (1 + Math.exp(-logit));

/** Probabilities of a row of logits. */
export function softmax(logits) {
  const most = logits.reduce((a, b) => Math.max(a, b), -Infinity);
  const powers = Float64Array.from(logits, (logit) => Math.exp(logit - most));
  const sum = powers.reduce((all, power) => all + power, 0);
  return powers.map((power) => power / sum);
}

/** Probabilities as the model's kind of problem has them; null for numbers (regression). */
export function probabilitiesOf(logits, kind) {
  if (logits.length === 1 || kind === "regression") return null;
  return kind === "multi_label_classification" ? Float64Array.from(logits, sigmoid) : softmax(logits);
}

/** Classes of a row of logits, the most probable first. */
export function classesOf(model, logits, top) {
  const probabilities = probabilitiesOf(logits, model.metadata.problem_type);
  const list = Array.from(logits, (logit, index) =>
    ({ label: model.label(index), probability: probabilities === null ? null : probabilities[index], logit, index }));
  return probabilities === null ? list : list.sort((a, b) => b.probability - a.probability).slice(0, top);
}

/** The mean of rows [first, end), or with `normalise` their sum with length 1. */
export function meanOf(data, width, first, end, normalise) {
  const sums = new Float64Array(width);
  for (let row = first; row < end; ++row) for (let j = 0; j < width; ++j) sums[j] += data[row * width + j];
  const divisor = normalise ? Math.hypot(...sums) : end - first;
  return Float32Array.from(sums, (sum) => sum / (divisor || 1));
}

/** Position of the greatest number. */
export function argmax(numbers) {
  let best = 0;
  for (let i = 1; i < numbers.length; ++i) if (numbers[i] > numbers[best]) best = i;
  return best;
}
