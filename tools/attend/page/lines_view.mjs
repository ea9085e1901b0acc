// Two columns of words, with a line from each row to what it looks at, as wide as its weight.
import { headName } from "./controls.mjs";
import { headStyle } from "./colour.mjs";
import { made, plural, roving, setRoving } from "./elements.mjs";
import { readingOf } from "./reading.mjs";
import { Tokens } from "./tokens.mjs";

const ROW = 24, MOST_ROWS = 160, LEAST = 0.02;

export const linesView = {
  id: "lines",
  name: "Lines",
  uses: ["segment", "side", "threshold", "special"],
  steps: ({ steps }) => steps.filter(({ hasWeights, scores, pools }) => hasWeights && !scores && !pools),
  make: (context) => new LinesView(context),
};

/** A part of [begin, end) of at most MOST_ROWS rows, around one of them. */
function part(begin, end, around) {
  if (end - begin <= MOST_ROWS) return [begin, end];
  const first = Math.max(begin, Math.min(around - MOST_ROWS / 2, end - MOST_ROWS));
  return [first, first + MOST_ROWS];
}

class LinesView {
  constructor({ selection, tooltip }) {
    Object.assign(this, { selection, tooltip, shown: "", chips: [] });
    this.heads = made("div", { className: "chips", role: "toolbar", "aria-label": "Heads whose lines are drawn" });
    roving(this.heads, () => this.chips.map(({ node }) => node));
    this.canvas = made("canvas", { "aria-hidden": "true" });
    this.left = made("div", { className: "column" });
    this.right = made("div", { className: "column" });
    this.note = made("p", { className: "hint" });
    this.box = made("div", { className: "lines" }, this.left, this.canvas, this.right);
    this.titles = made("div", { className: "line-titles" }, made("span", {}, "looks at"),
      made("span", {}, "is looked at"));
    this.element = made("div", {}, this.heads, this.titles, this.box, this.note);
    for (const type of ["pointerover", "pointerout", "focusin"]) {
      this.box.addEventListener(type, ({ target }) => this.#hover(type === "pointerout" ? null : target));
    }
    new ResizeObserver(() => this.context && this.#draw()).observe(this.box);
  }

  // The lines of the row under the pointer are drawn alone.
  #hover(target) {
    const node = target?.closest?.("[role=option]");
    const hovered = node ? { row: Number(node.dataset.row),
      side: this.left.contains(node) ? "gives" : "receives" } : null;
    if (hovered?.row === this.hovered?.row && hovered?.side === this.hovered?.side) return;
    this.hovered = hovered;
    if (this.context) this.#draw();
  }

  // Lines of several heads: those switched on, or the one chosen for all views.
  get #headsDrawn() {
    const { several, head } = this.selection;
    return several.length > 0 ? several : [head];
  }

  #toggle(head) {
    const { selection } = this, drawn = this.#headsDrawn.filter((each) => each !== "mean");
    if (head === "mean") return selection.change({ head, several: [] });
    const several = drawn.includes(head) ? drawn.filter((each) => each !== head) : [...drawn,
      head].sort((a, b) => a - b);
    selection.change({ several: several.length > 1 ? several : [],
      head: several.includes(head) ? head : several.at(-1) ?? "mean" });
  }

  #buildChips(dark) {
    const { step } = this.selection, heads = step.heads.length > 1 ? ["mean", ...step.heads] : [];
    const shown = `${heads} ${dark}`;
    if (shown === this.chipsShown) return;
    this.chipsShown = shown;
    this.chips = heads.map((head) => {
      const swatch = made("span", { className: "swatch" }), style = this.#style(head, dark);
      swatch.style.setProperty("--swatch", style.colour);
      if (style.dash.length > 0) swatch.classList.add("dashed");
      return { head, node: made("button",
        { type: "button", className: "chip", "aria-pressed": "false", "data-head": head,
        onclick: () => this.#toggle(head) }, swatch, head === "mean" ? headName(head, step) : `head ${head}`) };
    });
    this.heads.replaceChildren(...this.chips.map(({ node }) => node));
    setRoving(this.chips.map(({ node }) => node), 0);
  }

  #style(head, dark) {
    const { step } = this.selection;
    return head === "mean" ? { colour: dark ? "#c8ccd2" : "#4a5058", dash: [] } : headStyle(step.heads.indexOf(head),
      dark);
  }

  #build() {
    const { step, query, space, row } = this.selection, around = this.selection.space === step.queries ? row : query;
    const [begin, end] = step.rowsBeside(query), [first, last] = step.keysOf(query);
    let shown = this.rows && this.shown.startsWith(`${step.queries.index} ${step.keys.index} ${begin} ${first} `) ?
      this.rows : null;
    if (shown && !(around >= shown[0][0] && around < shown[0][1])) shown = null;
    if (shown && space === step.keys && !(row >= shown[1][0] && row < shown[1][1])) shown = null;
    if (shown) return;
    const key = space === step.keys ? row : strongest(step, around) ?? first;
    this.rows = [part(begin, end, around), part(first, last, step.self ? around : key)];
    this.shown = `${step.queries.index} ${step.keys.index} ${begin} ${first} `;
    const list = (of, [from, to], label, side) => new Tokens({ space: of, begin: from, end: to, label, plain: true,
      tooltip: this.tooltip, onleave: () => this.selection.change({ chosen: false }),
      onchoose: (each) => this.selection.choose(of, each, this.selection.chosen && this.selection.row === each &&
        this.selection.space === of &&
          this.selection.sideShown === side ? { chosen: false } : { side, chosen: true }) });
    this.queries = list(step.queries, this.rows[0], "Rows that look", "gives");
    this.keys = list(step.keys, this.rows[1], "Rows that are looked at", "receives");
    this.left.replaceChildren(this.queries.element);
    this.right.replaceChildren(this.keys.element);
    const cut = [[begin, end, this.rows[0]],
      [first, last, this.rows[1]]].find(([from, to, [a, b]]) => b - a < to - from);
    this.cut = (cut ? ` Of ${plural(cut[1] - cut[0], "row")}, the ` +
      `${MOST_ROWS} around the choice are here.` : "");
  }

  update(context) {
    this.context = context;
    const { selection } = this, { colours } = context, { step, row, chosen } = selection, side = selection.sideShown;
    this.#buildChips(colours.dark);
    this.#build();
    const drawn = this.#headsDrawn;
    for (const { head, node } of this.chips) node.setAttribute("aria-pressed", String(drawn.includes(head)));
    const { space, first, values } = readingOf(selection),
      other = chosen && side === "receives" ? this.queries : this.keys;
    for (const list of [this.queries, this.keys]) {
      const most = values?.reduce((all, value) => Math.max(all, value || 0), 0);
      list.shade(colours, (each) => (chosen && list === other &&
        list.space === space ? values?.[each - first] ?? NaN : NaN), { most });
    }
    this.queries.mark(chosen && side === "gives" ? row : null);
    this.keys.mark(chosen && side === "receives" && selection.space === step.keys ? row : null);
    this.least = Math.max(Math.min(LEAST, this.#greatest() / 2), selection.least);
    this.note.textContent = `Lines of ${Number(this.least.toPrecision(2))} and more are drawn; a word under the ` +
      `pointer shows only its own.${this.cut}`;
    for (const list of [this.queries, this.keys]) {
      list.nodes.forEach((node, i) => node.classList.toggle("aside", selection.hides(list.space, list.begin + i)));
    }
    this.#draw();
  }

  // The greatest weight between the rows that are shown.
  #greatest() {
    const { step } = this.selection, [[begin, end], [from, to]] = this.rows;
    let most = 0;
    for (const head of this.#headsDrawn) {
      for (let query = begin; query < end; ++query) {
        const index = step.indexOf(query);
        if (index < 0) continue;
        const { first, values } = step.values(index, head);
        for (let key = Math.max(from, first); key < Math.min(to, first + values.length); ++key) {
          if (values[key - first] > most) most = values[key - first];
        }
      }
    }
    return most;
  }

  #draw() {
    const { selection, canvas, rows } = this, { step } = selection;
    const chosen = this.hovered || selection.chosen, row = this.hovered?.row ?? selection.row;
    const side = this.hovered?.side ?? selection.sideShown, { least } = this;
    const width = canvas.clientWidth, height = Math.max(...rows.map(([begin, end]) => end - begin)) * ROW;
    const ratio = devicePixelRatio || 1, context = canvas.getContext("2d"), { dark } = this.context.colours;
    Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    canvas.style.height = `${height}px`;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const [[begin, end], [first, last]] = rows, drawn = this.#headsDrawn;
    const curve = (query, key, weight, shift) => {
      const from = (query - begin + 0.5) * ROW + shift, to = (key - first + 0.5) * ROW + shift;
      context.globalAlpha = Math.min(1, 0.1 + weight * 1.1);
      context.lineWidth = 0.5 + 4 * weight;
      context.beginPath();
      context.moveTo(0, from);
      context.bezierCurveTo(width * 0.4, from, width * 0.6, to, width, to);
      context.stroke();
    };
    this.drawn = 0;
    drawn.forEach((head, i) => {
      const { colour, dash } = this.#style(head, dark), shift = (i - (drawn.length - 1) / 2) * 2;
      context.strokeStyle = colour;
      context.setLineDash(dash);
      for (let query = begin; query < end; ++query) {
        const index = step.indexOf(query);
        if (index < 0 || (chosen && side === "gives" && query !== row)) continue;
        const { first: from, values } = step.values(index, head);
        for (let key = first; key < last; ++key) {
          const weight = values[key - from];
          if (selection.hides(step.queries, query) || selection.hides(step.keys, key)) continue;
          if (!(weight >= least) || (chosen && side === "receives" && key !== row)) continue;
          curve(query, key, weight, shift);
          ++this.drawn;
        }
      }
    });
    canvas.dataset.lines = this.drawn;
  }
}

/** The key with most weight of a row. */
function strongest(step, row) {
  const index = step.indexOf(row);
  if (index < 0) return null;
  const { first, values } = step.values(index, "mean");
  return first + values.reduce((best, value, i) => (value > values[best] ? i : best), 0);
}
