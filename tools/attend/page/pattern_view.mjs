// Which keys a pattern keeps, for inputs of any length: only what is kept is in the record, and only that is drawn.
import { countText, made, plural } from "./elements.mjs";
import { Legend } from "./legend.mjs";
import { MatrixMap } from "./matrix_map.mjs";
import { matrixSource } from "./matrix_source.mjs";

export const patternView = {
  id: "pattern",
  name: "Pattern",
  uses: ["head", "segment"],
  steps: ({ steps }) => steps.filter(({ form }) => form !== "dense"),
  make: (context) => new PatternView(context),
};

class PatternView {
  constructor({ selection, tooltip }) {
    Object.assign(this, { selection, tooltip });
    this.facts = made("p", { className: "facts", role: "status" });
    this.shade = made("input", { type: "checkbox", onchange: () => this.update(this.context) });
    this.shadeLabel = made("label", { className: "control check" }, this.shade, made("span", {}, "Shade by weight"));
    this.legend = new Legend();
    this.map = new MatrixMap({ label:
      "Map of the keys that each row keeps. Plus and minus zoom, arrow keys pan, with Shift they choose a " +
      "row, 0 shows all.", tooltip, height: 0.8, onchoose: (row) => this.#choose(row) });
    this.hint = made("p", { className: "hint" },
      "Wheel or + and − zoom, drag or arrow keys pan, a click or Shift with arrow keys " +
      "chooses a row, 0 shows all. Where a pixel covers several cells, it is as dark as many of them are kept.");
    this.element = made("div", {}, this.facts, this.shadeLabel, this.legend.element, this.map.element, this.hint);
  }

  #choose(row) {
    const { step, query } = this.selection, begin = step.keptBetween(...step.rowsBeside(query))[0];
    this.selection.change({ space: step.queries, row: step.rows[begin + row], chosen: true, side: "gives" });
  }

  // The numbers of one segment, once for each step, head and segment.
  #count(step, query, head) {
    const [begin, end] = step.keptBetween(...step.rowsBeside(query)), [first, last] = step.keysOf(query);
    let kept = 0, most = 0;
    for (let index = begin; index < end; ++index) {
      for (const each of step.headIndexes(head)) {
        const { keys, ranges } = step.line(index, each);
        const count = keys ? keys.length : ranges.reduce((sum, number, i) => sum + (i % 2 ? number : 0), 0);
        kept += count;
        most = Math.max(most, count);
      }
    }
    return { rows: end - begin, keys: last - first, kept: kept / step.headIndexes(head).length, most };
  }

  update(context) {
    this.context = context;
    const { selection } = this, { step, head, query, row, chosen, space } = selection, { colours } = context;
    const { rows, keys, kept, most } = this.#count(step, query, head), whole = rows * keys;
    this.facts.textContent = `${plural(rows, "row")} × ${plural(keys, "key")}: ${countText(Math.round(kept))} of ` +
      `${countText(whole)} kept for a head, ${((100 * kept) / Math.max(1, whole)).toFixed(2)} %; ` +
      `at most ${plural(most, "key")} a row.` +
      (step.hasWeights ? "" : " The record has the pattern without weights.");
    this.facts.dataset.kept = kept;
    this.shadeLabel.hidden = !step.hasWeights;
    const weightless = !this.shade.checked || !step.hasWeights;
    const source = matrixSource(step, query, head, { weightless });
    this.legend.element.hidden = weightless;
    this.legend.update(colours, source.least, source.most, step.scores ? "score" : "weight", source.greatest);
    this.map.show(source, colours, { row: chosen && space === step.queries ? source.rowIndex(row) : null,
      key: chosen && space !== step.queries ? source.keyIndex(row) : null });
  }
}
