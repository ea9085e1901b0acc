// Patches over their image, with the windows within which they attend to each other.
import { made, moved, visible, weightText } from "./elements.mjs";
import { Legend, rangeOf } from "./legend.mjs";
import { readingOf } from "./reading.mjs";
import { Tokens } from "./tokens.mjs";

const hasCells = (space) => Boolean(space.cells?.some(Boolean));

export const pictureView = {
  id: "picture",
  name: "Picture",
  uses: ["head", "segment", "side", "rollout", "threshold"],
  steps: ({ steps }) => steps.filter(({ hasWeights, queries, keys }) => hasWeights &&
    (hasCells(queries) || hasCells(keys))),
  make: (context) => new PictureView(context),
};

class PictureView {
  constructor({ record, selection, tooltip }) {
    Object.assign(this, { record, selection, tooltip, shown: "" });
    this.legend = new Legend();
    this.picture = made("img", { alt: "" });
    this.canvas = made("canvas", { tabIndex: 0, role: "application", "aria-roledescription": "grid of patches",
      "aria-label": "Patches: arrow keys go from patch to patch, Escape clears the choice." });
    this.frame = made("div", { className: "picture" }, this.picture, this.canvas);
    this.said = made("p", { className: "said", role: "status" });
    this.others = made("div");
    this.opacity = made("input", { type: "range", min: 0, max: 100, value: 62,
      "aria-label": "How strong the shades are",
      oninput: () => this.#draw() });
    this.windows = made("p", { className: "hint" });
    this.element = made("div", {}, this.legend.element, this.frame, this.said,
      made("label", { className: "control" }, made("span", {}, "Shades over the picture"), this.opacity), this.others,
        this.windows);
    const cell = (event) => {
      const { rows, columns } = this.image, box = this.canvas.getBoundingClientRect();
      const column = Math.floor(((event.clientX - box.left) / box.width) * columns),
        row = Math.floor(((event.clientY - box.top) / box.height) * rows);
      return this.rowOf.get(row * columns + column) ?? null;
    };
    this.canvas.addEventListener("click", (event) => cell(event) !== null && selection.choose(this.space, cell(event)));
    this.canvas.addEventListener("pointermove", (event) =>
      tooltip.show(cell(event) === null ? null : { x: event.clientX, y: event.clientY },
        cell(event) === null ? "" : this.#textOf(cell(event))));
    this.canvas.addEventListener("pointerleave", () => tooltip.hide());
    this.canvas.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.colours && this.#draw()).observe(this.frame);
  }

  #number(row) {
    const { space, first, values } = this.reading;
    return space === this.space ? values?.[row - first] ?? NaN : NaN;
  }

  #textOf(row) {
    const value = this.#number(row);
    return `${visible(this.space.rowName(row))}${Number.isFinite(value) ? `: ${weightText(value)}` : ""}`;
  }

  #key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const { selection } = this, { rows, columns } = this.image;
    if (event.key === "Escape") return selection.change({ chosen: false });
    const at = selection.chosen && selection.space === this.space ? this.space.cell(selection.row)?.[1] ?? -1 : -1;
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key];
    let next = by === undefined ? { Home: 0, End: rows * columns - 1, Enter: at < 0 ? 0 : at,
      " ": at < 0 ? 0 : at }[event.key] : at < 0 ? 0 : at + by;
    if (next === undefined) return;
    event.preventDefault();
    if (Math.abs(by) === 1 && at >= 0 && Math.floor(next / columns) !== Math.floor(at / columns)) return;
    const row = this.rowOf.get(next);
    if (row !== undefined && (row !== selection.row || !selection.chosen)) selection.change({ space: this.space, row,
        chosen: true });
  }

  // The space whose cells are shown, its cells of the picture that the choice is about, and rows that have no cell.
  #build() {
    const { step, query, space, row } = this.selection;
    this.space = hasCells(step.keys) ? step.keys : step.queries;
    const begin = this.space === step.queries ? query : step.keysOf(query)[0];
    const own = (this.space === space && this.space.cell(row)) || this.#near(begin);
    const image = own ? own[0] : 0, shown = `${step.index} ${this.space.index} ${image} ${this.space.segmentOf(begin)}`;
    if (shown === this.shown) return;
    this.shown = shown;
    this.image = this.record.images[image];
    this.rowOf = new Map();
    for (let each = 0; each < this.space.rows; ++each) {
      const cell = this.space.cell(each);
      if (cell && cell[0] === image) this.rowOf.set(cell[1], each);
    }
    if (/^[A-Za-z0-9+/=]+$/.test(this.image.png)) this.picture.src = `data:image/png;base64,${this.image.png}`;
    else this.picture.removeAttribute("src");
    this.frame.style.aspectRatio = `${this.image.width} / ${this.image.height}`;
    const [from, to] = this.space.segment(this.space.segmentOf(begin)), bare = [];
    for (let each = from; each < to && bare.length < 600; ++each) if (!this.space.cell(each)) bare.push(each);
    this.flow = null;
    if (bare.length > 0 && bare.at(-1) - bare[0] === bare.length - 1) {
      this.flow = new Tokens({ space: this.space, begin: bare[0], end: bare.at(-1) + 1, label: "Rows without a patch",
        tooltip: this.tooltip,
        plain: true, onchoose: (each) => this.selection.choose(this.space, each),
          onleave: () => this.selection.change({ chosen: false }) });
    }
    this.others.replaceChildren(...(this.flow ? [made("h3", {}, "Rows without a patch"), this.flow.element] : []));
    // Windows are segments that share a picture.
    const segments = new Set([...this.rowOf.values()].map((each) => this.space.segmentOf(each)));
    this.windowed = segments.size > 1;
    this.windows.textContent = this.windowed ?
      `${segments.size} windows: patches look at one another within the lines.` : "";
  }

  #near(row) {
    for (let each = row; each < this.space.rows; ++each) if (this.space.cell(each)) return this.space.cell(each);
    return null;
  }

  update({ colours }) {
    this.#build();
    this.colours = colours;
    this.reading = readingOf(this.selection);
    const { selection, reading } = this;
    // Scale by patches alone: a class token often has such a large weight that all patches would look the same.
    this.range = rangeOf([...this.rowOf.values()].map((row) => this.#number(row)),
      selection.step.scores && !selection.rolls);
    this.legend.update(colours, this.range.least, this.range.most, reading.what);
    this.flow?.shade(colours, (row) => this.#number(row), this.range);
    const chosen = selection.chosen && selection.space === this.space ? selection.row : null;
    this.flow?.mark(chosen);
    this.said.textContent = chosen === null ? "Choose a patch to see where it looks." :
      `Chosen: ${this.#textOf(chosen)}`;
    this.#draw();
  }

  #draw() {
    const { canvas, colours, selection, range } = this, width = this.frame.clientWidth,
      height = this.frame.clientHeight;
    const ratio = devicePixelRatio || 1, context = canvas.getContext("2d"), style = getComputedStyle(canvas);
    Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    context.scale(ratio, ratio);
    const { rows, columns } = this.image, [w, h] = [width / columns, height / rows];
    const at = (cell) => [(cell % columns) * w, Math.floor(cell / columns) * h];
    context.globalAlpha = Number(this.opacity.value) / 100;
    for (const [cell, row] of this.rowOf) {
      const value = this.#number(row);
      if (!Number.isFinite(value)) continue;
      context.fillStyle = colours.css[colours.step((value - range.least) / (range.most - range.least || 1))];
      context.fillRect(...at(cell), w + 0.5, h + 0.5);
    }
    context.globalAlpha = 1;
    if (this.windowed) this.#drawWindows(context, w, h);
    const chosen = selection.chosen && selection.space === this.space ? this.space.cell(selection.row) : null;
    if (!chosen || this.rowOf.get(chosen[1]) !== selection.row) return;
    const [x, y] = at(chosen[1]);
    for (const [colour, thick] of [["#fff", 5], [style.getPropertyValue("--accent"), 2.5]]) {
      context.strokeStyle = colour;
      context.lineWidth = thick;
      context.strokeRect(x + 1, y + 1, w - 2, h - 2);
    }
  }

  // A line between neighbours of different windows.
  #drawWindows(context, w, h) {
    const { rows, columns } = this.image, window = (cell) => {
      const row = this.rowOf.get(cell);
      return row === undefined ? -1 : this.space.segmentOf(row);
    };
    const path = new Path2D();
    this.edges = 0;
    for (let cell = 0; cell < columns * rows; ++cell) {
      const [x, y] = [(cell % columns) * w, Math.floor(cell / columns) * h],
        right = cell % columns + 1 < columns && window(cell) !== window(cell + 1);
      const lower = cell + columns < columns * rows && window(cell) !== window(cell + columns);
      if (right) path.rect(x + w, y, 0, h);
      if (lower) path.rect(x, y + h, w, 0);
      this.edges += right + lower;
    }
    for (const [colour, thick] of [["#000", 3.5], ["#fff", 1.5]]) {
      context.strokeStyle = colour;
      context.lineWidth = thick;
      context.stroke(path);
    }
    this.canvas.dataset.edges = this.edges;
  }
}
