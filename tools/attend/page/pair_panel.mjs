// The query, the key and their product for one pair of rows, number by number.
import { drawn, made, visible, weightText } from "./elements.mjs";

const BARS_HIGH = 46, BARS_WIDE = 300;

/** Bars up and down from a middle line, one for each number. */
function numberBars(numbers, name, scale) {
  const wide = BARS_WIDE / numbers.length, most = scale || 1;
  const bar = (value, i) => {
    const height = (Math.abs(value) / most) * (BARS_HIGH / 2 - 1);
    return drawn("rect", { x: i * wide, y: value < 0 ? BARS_HIGH / 2 : BARS_HIGH / 2 - height,
      width: Math.max(0.5, wide - 0.5), height, class: value < 0 ? "minus" : "plus" });
  };
  return made("figure", {}, made("figcaption", {}, name),
    drawn("svg", { viewBox: `0 0 ${BARS_WIDE} ${BARS_HIGH}`, role: "img", preserveAspectRatio: "none",
      "aria-label": `${name}: ${numbers.length} numbers, from ${weightText(Math.min(...numbers))} to ` +
        `${weightText(Math.max(...numbers))}` },
    Array.from(numbers, bar),
      drawn("line", { x1: 0, x2: BARS_WIDE, y1: BARS_HIGH / 2, y2: BARS_HIGH / 2, class: "zero" })));
}

const greatest = (numbers) => numbers.reduce((most, value) => Math.max(most, Math.abs(value)), 0);

export class PairPanel {
  constructor(selection) {
    this.selection = selection;
    this.element = made("section", { className: "pair", "aria-label": "Query, key and product" });
  }

  update() {
    const { step, query, pair, head, space, chosen } = this.selection;
    this.element.hidden = !step.vectors || !chosen || space !== step.queries || this.selection.rolls;
    if (this.element.hidden) return;
    const title = made("h3", {}, "Query \u00d7 key");
    const hint = (text) => this.element.replaceChildren(title, made("p", { className: "soft" }, text));
    if (pair === null) return hint("Choose a row of the table or a cell of a map to see why it has its weight.");
    if (head === "mean" && step.heads.length > 1) return hint("Choose one head: each has its own queries and keys.");
    const [first, end] = step.keysOf(query);
    if (pair < first || pair >= end) return hint("This row does not look at the chosen key.");
    const number = step.heads.length > 0 ? step.heads[step.headIndexes(head)[0]] : 0;
    const { width, query: from, key } = step.vectorsOf(query, pair, number);
    const products = from.map((value, i) => value * key[i]), dot = products.reduce((sum, value) => sum + value, 0);
    const index = step.indexOf(query), weight = index < 0 || !step.hasWeights ? NaN :
      step.weightOf(index, step.headIndexes(head)[0], pair), scale = Math.max(greatest(from), greatest(key));
    const names = [step.queries.rowName(query), step.keys.rowName(pair)].map(visible);
    this.element.replaceChildren(title,
      numberBars(from, `Query of \u201c${names[0]}\u201d, head ${number}`, scale),
      numberBars(key, `Key of \u201c${names[1]}\u201d`, scale),
      numberBars(products, "Product, number by number", greatest(products)),
      made("p", { className: "numbers" }, `Sum of ${width} products ${weightText(dot)}; divided by \u221a${width}: ` +
        `${weightText(dot / Math.sqrt(width))}; ${step.scores ? "score" : "weight"} ${weightText(weight)}.`),
      made("p", { className: "soft" },
        "Before rotary positions, biases and a scale of the model's own, where it has them."));
  }
}
