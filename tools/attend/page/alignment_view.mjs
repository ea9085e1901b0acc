// Generated tokens, step by step, next to the input tokens that the decoder attended to.
import { made, plural, visible } from "./elements.mjs";
import { Legend, rangeOf } from "./legend.mjs";
import { MatrixMap } from "./matrix_map.mjs";
import { ends, limitsOf, matrixSource } from "./matrix_source.mjs";
import { SoundStrip } from "./sound_strip.mjs";
import { Tokens } from "./tokens.mjs";

const PACE = 900;  // milliseconds

function stepsOf({ steps, spaces, generation }) {
  if (!generation) return steps.filter((step) => step.part === "cross" && step.hasWeights && !step.scores);
  const { source_space: from, target_space: to } = generation, source = spaces[from ?? to];
  return steps.filter((step) => step.queries === spaces[to] && step.keys === source && step.hasWeights && !step.scores);
}

/** The rows whose lines are generation steps: the decoder generated a token there, the row's own or the next one. */
function lineRows({ generation }, { queries, rows }, query) {
  const { first = 0, shift = 0 } = generation ?? {}, segment = queries.segmentOf(query),
    [begin, end] = queries.segment(segment);
  const inside = rows.filter((row) => row >= begin && row < end);
  if (queries.writes) return inside.filter((row) => queries.writes[row]);
  const from = begin + (Array.isArray(first) ? first[segment] : first) - shift;
  return inside.filter((row) => row >= from && row + shift < end);
}

/** There is always a step: the first one, where no row is chosen. */
function settle({ record, step, query, chosen, space, row }) {
  const lines = lineRows(record, step, query);
  if (lines.length === 0 || (chosen && (space !== step.queries || lines.includes(row)))) return {};
  return { space: step.queries, row: lines[0], chosen: true, side: "gives" };
}

export const alignmentView = {
  id: "alignment",
  name: "Alignment",
  uses: ["head", "segment", "threshold", "special"],
  steps: stepsOf,
  settle,
  make: (context) => new AlignmentView(context),
};

class AlignmentView {
  constructor({ record, selection, tooltip }) {
    Object.assign(this, { record, selection, tooltip, shown: "", timer: null });
    const button = (text, label, work) => made("button", { type: "button", "aria-label": label, onclick: work }, text);
    this.play = button("▶ Play", "Play", () => (this.timer ? this.pause() : this.#start()));
    this.slider = made("input", { type: "range", min: 0, step: 1, "aria-label": "Step",
      oninput: () => this.#go(Number(this.slider.value)) });
    this.count = made("span", { className: "soft", role: "status" });
    this.legend = new Legend();
    this.mapLegend = new Legend();
    this.sourceBox = made("div");
    this.targetBox = made("div");
    this.map = new MatrixMap({ label: "Map of the alignment: what was written down, what was looked at across",
      tooltip, height: 0.6,
      onchoose: (index) => this.#go(index) });
    this.element = made("div", {}, made("div", { className: "player", role: "group", "aria-label": "Steps" },
      button("◀", "Step back", () => this.#go(this.at - 1)), this.play,
        button("▶", "Step on", () => this.#go(this.at + 1)),
      this.slider, this.count),
    made("h3", {}, "Looked at"), this.sourceBox, this.legend.element, made("h3", {}, "Written"), this.targetBox,
    made("h3", {}, "All steps"), this.mapLegend.element, this.map.element);
  }

  get shift() {
    return this.record.generation?.shift ?? 0;
  }

  #written(row) {
    const { queries } = this.selection.step;
    return queries.writes ? String(queries.writes[row] ?? "") : queries.rowName(Math.min(row + this.shift,
      queries.rows - 1));
  }

  #go(index) {
    const next = Math.max(0, Math.min(this.lines.length - 1, index));
    this.selection.change({ space: this.selection.step.queries, row: this.lines[next], chosen: true, side: "gives" });
  }

  #start() {
    if (this.at >= this.lines.length - 1) this.#go(0);
    this.timer = setInterval(() => {
      if (this.at >= this.lines.length - 1 || !this.element.isConnected) return this.pause();
      this.#go(this.at + 1);
    }, matchMedia("(prefers-reduced-motion: reduce)").matches ? 2 * PACE : PACE);
    this.#playing();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.#playing();
  }

  #playing() {
    this.play.textContent = this.timer ? "❚❚ Pause" : "▶ Play";
    this.play.setAttribute("aria-label", this.timer ? "Pause" : "Play");
  }

  #build(step, query) {
    const keys = step.keysOf(query), segment = step.rowsBeside(query),
      shown = `${step.queries.index} ${step.keys.index} ${keys} ${segment}`;
    if (shown === this.shown) return;
    this.shown = shown;
    const choose = (row) => this.selection.choose(step.keys, row, step.self ? { side: "receives", chosen: true } : {});
    const range = { space: step.keys, begin: keys[0], end: keys[1], tooltip: this.tooltip, onchoose: choose };
    const hasTimes = step.keys.times?.some(Boolean);
    this.source = hasTimes ? new SoundStrip({ ...range, sounds: this.record.sounds }) : new Tokens({ ...range,
      label: `Looked at, ${plural(keys[1] - keys[0], "row")}`,
        onleave: () => this.selection.change({ chosen: false }) });
    this.sourceBox.replaceChildren(this.source.element);
    const rows = lineRows(this.record, step, query), begin = rows[0] ?? segment[0],
      end = (rows.at(-1) ?? begin - 1) + 1;
    this.target = new Tokens({ space: step.queries, begin, end, tooltip: this.tooltip,
      label: `Written, ${plural(rows.length, "row")}`,
      plain: true, name: (row) => this.#written(row),
        onchoose: (row) => this.#go(Math.max(0, this.lines.indexOf(row))) });
    this.targetBox.replaceChildren(this.target.element);
  }

  update({ colours }) {
    const { selection } = this, { step, head, query, chosen, space } = selection;
    this.#build(step, query);
    this.lines = lineRows(this.record, step, query);
    const onKey = chosen && space !== step.queries;
    const row = this.lines.includes(query) && !onKey ? query : this.lines[0];
    this.at = this.lines.indexOf(row);
    const index = step.indexOf(row), line = row === undefined ? { first: 0, values: [] } : step.values(index, head);
    const seen = (key) => {
      const value = line.values[key - line.first] ?? NaN;
      return value < selection.least || selection.hides(step.keys, key) ? NaN : value;
    };
    const range = rangeOf(Array.from(line.values, (_, i) => seen(line.first + i)), step.scores);
    this.source.shade(colours, seen, range);
    this.sourceBox.classList.toggle("so-far", step.self);
    this.source.hide?.((key) => selection.hides(step.keys, key) || (step.causal && step.self && key > row));
    this.source.mark?.(onKey ? selection.row : null);
    this.legend.update(colours, range.least, range.most,
      row === undefined ? "" : `weight while “${visible(this.#written(row))}” was written`);
    // Words of later steps are dimmed; if a source row is chosen, shades show the steps that attended to it.
    const column = onKey ? step.column(selection.row, head) : null;
    const most = column ? rangeOf(column.values, false).most : 1;
    this.target.shade(colours, (each) => {
      const at = step.indexOf(each);
      return column && at >= 0 ? column.values[at - column.begin] ?? NaN : NaN;
    }, { most });
    this.target.nodes.forEach((node, i) => node.classList.toggle("later", !onKey && this.target.begin + i > row));
    this.target.mark(row === undefined || onKey ? null : row);
    Object.assign(this.slider, { max: Math.max(0, this.lines.length - 1), value: Math.max(0, this.at) });
    this.slider.setAttribute("aria-valuetext", row === undefined ? "" : visible(this.#written(row)));
    this.count.textContent = `step ${this.at + 1} of ${this.lines.length}`;
    const source = this.#mapSource(step, query, head);
    this.mapLegend.update(colours, source.least, source.most, "weight", source.greatest);
    this.map.show(source, colours, { row: onKey ? null : this.at,
      key: onKey ? selection.row - line.first : null });
  }

  // The map's rows for the steps, named by the generated text.
  #mapSource(step, query, head) {
    const source = matrixSource(step, query, head, limitsOf(this.selection));
    const at = this.lines.map((row) => source.rowIndex(row));
    const shown = { ...source, rowTitle: "written", id: `${source.id} ${at[0]}`,
      rows: this.lines.length, line: (i) => source.line(at[i]),
      rowNumber: (i) => this.lines[i], rowName: (i) => this.#written(this.lines[i]) };
    return { ...shown, ...ends(shown, step.scores) };
  }

  leave() {
    if (this.timer) this.pause();
  }
}
