// The numbers of the choice as a table, for every view: what a picture shows in colours.
import { headName, stepName } from "./controls.mjs";
import { made, plural, visible, weightText } from "./elements.mjs";
import { PairPanel } from "./pair_panel.mjs";
import { readingOf } from "./reading.mjs";
import { entropy } from "./statistics.mjs";

const FEW = 24;

export class LinePanel {
  constructor(selection) {
    this.selection = selection;
    this.title = made("h2", { id: "line-title" });
    this.place = made("p", { className: "soft" });
    this.note = made("p", { className: "note", role: "status" });
    this.head = made("thead");
    this.body = made("tbody", { onclick: ({ target }) => {
      const line = target.closest("tr"), { step, space, chosen, sideShown } = selection;
      if (line && step.vectors && chosen && space === step.queries && sideShown === "gives") {
        selection.change({ pair: Number(line.dataset.row) });
      }
    } });
    this.table = made("table", { "aria-labelledby": "line-title" }, this.head, this.body);
    this.more = made("button", { type: "button", onclick: () => this.#showAll() });
    this.back = made("button", { type: "button", onclick: () => selection.change({ chosen: false }) }, "Clear");
    this.element = made("aside", { className: "panel", "aria-label": "Numbers of the choice" }, this.title, this.place,
      this.note, (this.pair = new PairPanel(selection)).element, this.table,
      made("p", { className: "buttons" }, this.more, this.back));
  }

  #showAll() {
    this.all = true;
    this.update();
  }

  update(fresh = false) {
    if (fresh) this.all = false;
    const { selection } = this, { step, space, row, chosen, rolls } = selection, side = selection.sideShown;
    const reading = readingOf(selection), { values } = reading;
    const name = visible(space.rowName(row));
    this.title.textContent = !chosen ? "All rows" : side === "gives" ? `Where “${name}” looks` :
      `What looks at “${name}”`;
    this.place.textContent = [stepName(step), rolls ? null : headName(selection.headsRead, step),
      chosen ? `row ${row} of ${space.name}` : null].filter(Boolean).join(" · ");
    const known = values ? [...values.keys()].filter((i) => Number.isFinite(values[i])) : [];
    const whole = selection.least === 0 && !selection.plain;
    const bits = chosen && whole && side === "gives" && values && step.hasWeights && !step.scores
      ? ` Entropy ${entropy(values).toFixed(2)} bits.` : "";
    const kept = step.hasWeights ? "" :
      ` ${plural(known.filter((i) => values[i] > 0).length, "key")} kept, without weights.`;
    const before = reading.note ? `${reading.note} ` : "", numbers = values ? `Numbers: ${reading.what}.` : "";
    const after = step.note ? ` ${step.note[0].toUpperCase()}${step.note.slice(1)}.` : "";
    this.note.textContent = `${before}${numbers}${bits}${kept}${after}`;
    this.#fill(reading, known);
    this.pair.update();
    this.back.hidden = !chosen;
  }

  // The weights of each of several heads that are chosen in the view of lines.
  #heads() {
    const { selection } = this, { several, step } = selection;
    if (selection.view.id !== "lines" || several.length < 2) return [];
    return several.map((head) => [headName(head, step),
      readingOf(Object.assign(Object.create(selection), { head, several: [] }))]);
  }

  /** The table as cells, with its heading. */
  lines() {
    const reading = readingOf(this.selection), heads = this.#heads();
    const rows = reading.values ? [...reading.values.keys()].filter((i) => Number.isFinite(reading.values[i])) : [];
    return [["row", reading.space.name, reading.what, ...heads.map(([name]) => name)],
      ...rows.map((i) => [reading.first + i, reading.space.rowName(reading.first + i), reading.values[i],
        ...heads.map(([, { first, values }]) => values?.[reading.first + i - first] ?? "")])];
  }

  #fill({ space, first, values }, known) {
    const heads = this.#heads(), { step } = this.selection;
    known.sort((a, b) => values[b] - values[a] || a - b);
    const shown = this.all ? known : known.slice(0, FEW);
    const most = Math.max(...shown.map((i) => Math.abs(values[i])), 1e-30);
    this.table.hidden = known.length === 0;
    const unit = this.selection.rolls ? "Share" : step.scores ? "Score" : step.hasWeights ? "Weight" : "Kept";
    this.head.replaceChildren(made("tr", {}, made("th", { scope: "col", className: "number" }, "Position"),
      made("th", { scope: "col" }, space.name), made("th", { className: "bar", "aria-hidden": "true" }),
      heads.map(([name]) => made("th", { scope: "col", className: "number" }, name)),
      made("th", { scope: "col", className: "number" }, heads.length > 0 ? "Mean" : unit)));
    this.body.replaceChildren(...shown.map((i) => {
      const bar = made("td", { className: "bar", "aria-hidden": "true" });
      bar.style.setProperty("--share", Math.max(0, values[i] / most).toFixed(4));
      return made("tr", { "data-row": first + i, "data-value": values[i] },
        made("td", { className: "number soft" }, String(first + i)),
        made("th", { scope: "row" }, made("span", { className: "row-name" }, visible(space.rowName(first + i)))), bar,
        heads.map(([, reading]) => made("td", { className: "number" },
          weightText(reading.values?.[first + i - reading.first] ?? NaN))),
        made("td", { className: "number" }, weightText(values[i])));
    }));
    this.more.hidden = shown.length === known.length;
    this.more.textContent = `All ${known.length} rows`;
  }
}
