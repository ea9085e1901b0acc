// Words in their text, shaded by the numbers of the choice.
import { made, plural } from "./elements.mjs";
import { Legend, rangeOf } from "./legend.mjs";
import { readingOf } from "./reading.mjs";
import { Tokens } from "./tokens.mjs";

/**
 * The rows of the current choice: [space, begin, end, title] for the queries and, if they are different rows, for the
 * keys.
 */
export function segmentsShown({ step, query }) {
  const keys = [step.keys, ...step.keysOf(query)], queries = [step.queries, ...step.rowsBeside(query)];
  if (step.self) return [[...queries, "Text"]];
  if (step.pools) return [[...keys, `${step.keys.name} of ${step.queries.rowName(query)}`]];
  return [[...keys, `${step.keys.name}: looked at`], [...queries, `${step.queries.name}: looking`]];
}

export const textView = {
  id: "text",
  name: "Text",
  uses: ["head", "segment", "side", "rollout", "threshold", "special"],
  steps: ({ steps }) => steps.filter(({ queries, keys, hasWeights }) =>
    hasWeights && keys.hasWords && (queries.hasWords || keys.parent === queries)),
  make: (context) => new TextView(context),
};

class TextView {
  constructor({ selection, tooltip }) {
    Object.assign(this, { selection, tooltip, flows: [], shown: "" });
    this.legend = new Legend();
    this.hint = made("p", { className: "hint" },
      "Choose a word to see where it looks; arrow keys go from word to word, " +
      "Escape clears the choice.");
    this.box = made("div", { className: "flows" });
    this.element = made("div", {}, this.legend.element, this.box, this.hint);
  }

  #build() {
    const segments = segmentsShown(this.selection),
      shown = JSON.stringify(segments.map(([space, ...rest]) => [space.index, rest]));
    if (shown === this.shown) return;
    this.shown = shown;
    this.flows = segments.filter(([space]) => space.hasWords).map(([space, begin, end, title]) => new Tokens({ space,
      begin, end,
      label: `${title}, ${plural(end - begin, "row")}`, tooltip: this.tooltip,
      onchoose: (row) => this.selection.choose(space, row), onleave: () => this.selection.change({ chosen: false }) }));
    this.box.replaceChildren(...this.flows.map((flow, i) => made("section", {},
      this.flows.length > 1 || segments[i][3] !== "Text" ? made("h3", {}, segments[i][3]) : null, flow.element)));
  }

  update({ colours }) {
    this.#build();
    const { selection } = this, { space, first, values, what } = readingOf(selection);
    const range = rangeOf(values ?? [], selection.step.scores && !selection.rolls);
    this.legend.update(colours, range.least, range.most, what);
    for (const flow of this.flows) {
      flow.shade(colours, (row) => (flow.space === space ? values?.[row - first] ?? NaN : NaN), range);
      flow.hide((row) => selection.hides(flow.space, row));
      flow.mark(selection.chosen && selection.space === flow.space ? selection.row : null);
    }
  }
}
