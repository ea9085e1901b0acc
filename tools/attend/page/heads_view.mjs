// All heads of all layers as small maps, one of them large.
import { headName } from "./controls.mjs";
import { made, setRoving } from "./elements.mjs";
import { Legend } from "./legend.mjs";
import { MatrixMap } from "./matrix_map.mjs";
import { limitsOf, matrixSource } from "./matrix_source.mjs";
import { matchingRow } from "./spaces.mjs";
import { KINDS, KIND_RULES, headStatistics } from "./statistics.mjs";

const THUMB = 64;
const MANY = 36;  // heads above which all are shown as small maps

export const headsView = {
  id: "heads",
  name: "Heads",
  uses: ["head", "segment", "threshold", "special"],
  steps: ({ steps }) => steps.filter(({ hasWeights, pools }) => hasWeights && !pools),
  make: (context) => new HeadsView(context),
};

class HeadsView {
  constructor({ selection, tooltip }) {
    Object.assign(this, { selection, tooltip, shown: "", cells: [] });
    this.order = made("select", { onchange: () => selection.change({ order: this.order.value }) },
      made("option", { value: "layer" }, "by layer"), made("option", { value: "kind" }, "by kind"));
    this.grid = made("div", { className: "heads", role: "listbox", "aria-label": "Heads" });
    this.grid.addEventListener("keydown", (event) => this.#key(event));
    this.legend = new Legend();
    this.title = made("h3");
    this.map = new MatrixMap({ label:
      "Map of the chosen head: rows look, columns are looked at. Plus and minus zoom, arrow keys pan or " +
      "choose, with Shift they always choose.", tooltip, height: 0.75,
      onchoose: (row, key) => this.#choose(row, key) });
    this.numbers = made("p", { className: "soft numbers" });
    this.element = made("div", { className: "heads-view" },
      made("section", {}, made("label", { className: "control" }, made("span", {}, "Order"), this.order), this.grid,
        made("details", { className: "hint" }, made("summary", {}, "How kinds are found"), made("p", {}, KIND_RULES))),
      made("section", {}, this.title, this.numbers, this.legend.element, this.map.element));
  }

  #choose(row, key) {
    const { step, query } = this.selection, begin = step.keptBetween(...step.rowsBeside(query))[0];
    this.selection.change({ space: step.queries, row: step.rows[begin + row], chosen: true, side: "gives",
      pair: step.vectors ? step.keysOf(query)[0] + key : null });
  }

  #build(colours) {
    const { selection } = this, { step, query, order } = selection;
    const row = step.rowsBeside(query)[0],
      shown = `${step.part} ${step.queries.index} ${step.keys.index} ${row} ${order} ${colours.dark}`;
    if (shown === this.shown) return;
    this.shown = shown;
    const steps = selection.steps.filter(({ part }) => part === step.part).reverse();  // the last layer first
    const cells = steps.flatMap((each) => {
      const own = matchingRow(step.queries, row, each.queries);  // the same place, where layers have other rows
      return (each.reduced ? ["mean"] : each.heads).map((head, i) =>
        ({ step: each, head, row: own, numbers: each.scores ? null : headStatistics(each, i, own) }));
    });
    for (const cell of cells) this.#cell(cell, colours);
    const group = order === "kind" ? ({ numbers }) => numbers?.kind ?? "scores" : ({ step: { layer } }) =>
      `Layer ${layer}`;
    const names = [...new Set(order === "kind" ? [...KINDS,
      "scores"].filter((kind) => cells.some((cell) => group(cell) === kind)) : cells.map(group))];
    const groups = names.map((name) => [name, cells.filter((cell) => group(cell) === name)]);
    this.cells = groups.flatMap(([, of]) => of);
    this.grid.classList.toggle("by-layer", order === "layer");
    this.grid.classList.toggle("many", this.cells.length > MANY);
    this.grid.replaceChildren(...groups.map(([name, of], i) => made("div", { className: "head-group", role: "group",
      "aria-labelledby": `head-group-${i}` }, made("h4", { id: `head-group-${i}`,
      "data-short": name.replace(/^Layer /, "") }, name),
    made("div", { className: "head-row" }, of.map(({ node }) => node)))));
    for (const row of this.grid.querySelectorAll(".head-row")) row.style.setProperty("--across", row.children.length);
  }

  #cell(cell, colours) {
    const { step, head, numbers, row } = cell,
      canvas = made("canvas", { width: THUMB, height: THUMB, "aria-hidden": "true" });
    drawThumb(canvas, matrixSource(step, row, head), colours);
    const name = step.reduced ? headName(head, step) : `head ${head}`;
    const facts = numbers ? [`${numbers.entropy.toFixed(2)} bits`] : [];
    if (numbers && numbers.distance !== null) facts.push(`${numbers.distance.toFixed(1)} rows`);
    cell.text = numbers ? `${numbers.kind} · entropy ${facts.join(" · mean distance ")}` :
      "scores before the weighting";
    cell.node = made("div", { className: "head", role: "option", "aria-selected": "false", "data-step": step.index,
      "data-head": head,
      "aria-label": `Layer ${step.layer}, ${name}: ${cell.text}`,
      title: `Layer ${step.layer}, ${name}: ${cell.text}`,
      onclick: () => this.selection.change({ step, head }) },
    canvas, made("span", { className: "head-name" },
      this.selection.order === "kind" ? `${step.layer}·${head}` : `${head}`),
    made("span", { className: "kind" }, numbers?.kind ?? "scores"),
      facts.map((fact) => made("span", { className: "soft" }, fact)));
  }

  #key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const at = this.cells.findIndex(({ node }) => node === event.target.closest("[role=option]"));
    if (at < 0) return;
    const rows = [...this.grid.querySelectorAll(".head-row")].map(({ children }) => children.length);
    let next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: this.cells.length - 1 }[event.key];
    if (event.key === "ArrowDown" || event.key === "ArrowUp") next = below(rows, at,
        event.key === "ArrowDown" ? 1 : -1);
    if (event.key === "Enter" || event.key === " ") next = at;
    if (next === undefined) return;
    event.preventDefault();
    if (next < 0 || next >= this.cells.length) return;
    const { step, head, node } = this.cells[next];
    this.selection.change({ step, head });
    node.focus();
  }

  update({ colours }) {
    this.#build(colours);
    const { selection } = this, { step, head, query, row, space, chosen } = selection;
    this.order.value = selection.order;
    const current = this.cells.findIndex((cell) => cell.step === step && (cell.head === head || step.lineHeads === 1));
    this.cells.forEach(({ node }, i) => node.setAttribute("aria-selected", String(i === current)));
    setRoving(this.cells.map(({ node }) => node), Math.max(0, current));
    const source = matrixSource(step, query, head, limitsOf(selection));
    const only = step.lineHeads === 1 ? 0 : step.heads.indexOf(head);
    this.title.textContent = `Layer ${step.layer}, ${headName(head, step)}`;
    const cell = only < 0 ? null : this.cells[current], shares = cell?.numbers?.shares;
    this.numbers.textContent = (cell ? cell.text :
      "Each row of the map is a query: where it looks. Each column is a key.") +
      (shares && step.self
      ? ` · on itself ${shares.self.toFixed(2)}, row before ${shares.previous.toFixed(2)}, ` +
        `first token ${shares.first.toFixed(2)}` : "");
    this.legend.update(colours, source.least, source.most, step.scores ? "score" : "weight", source.greatest);
    this.map.show(source, colours, { row: chosen && space === step.queries ? source.rowIndex(row) : null,
      key: chosen && (space !== step.queries || selection.sideShown === "receives") ? source.keyIndex(row) : null });
  }
}

/** The index above or below in a grid of the given row length, in the same column or the last one that exists. */
function below(rows, at, direction) {
  let row = 0, column = at;
  while (column >= rows[row]) column -= rows[row++];
  const other = row + direction;
  if (other < 0 || other >= rows.length) return at;
  return rows.slice(0, other).reduce((sum, count) => sum + count, 0) + Math.min(column, rows[other] - 1);
}

/** The greatest weight under each pixel. */
export function drawThumb(canvas, source, colours) {
  const { rows, keys } = source, width = Math.max(1, Math.min(THUMB, keys)),
    height = Math.max(1, Math.min(THUMB, rows));
  Object.assign(canvas, { width, height });
  const most = new Float32Array(width * height).fill(-Infinity), image = new ImageData(width, height);
  for (let row = 0; row < rows; ++row) {
    const { first, values, keys: sparse, weights, shift } = source.line(row),
      at = Math.floor((row * height) / rows) * width;
    const numbers = values ?? weights;
    for (let i = 0; i < numbers.length; ++i) {
      const pixel = at + Math.floor(((sparse ? sparse[i] - shift : first + i) * width) / keys);
      if (numbers[i] > most[pixel]) most[pixel] = numbers[i];
    }
  }
  const pixels = new Uint32Array(image.data.buffer), range = source.most - source.least || 1;
  most.forEach((value, i) => {
    if (value > -Infinity) pixels[i] = colours.pixels[colours.step((value - source.least) / range)];
  });
  canvas.getContext("2d").putImageData(image, 0, 0);
}
