// A hierarchy from the document down to its words: the rows of each level by weight or in reading order.
import { headName } from "./controls.mjs";
import { made, plural, shortText, visible, weightText } from "./elements.mjs";
import { levelsOf, sharesOf } from "./hierarchy.mjs";
import { Legend } from "./legend.mjs";
import { Tokens, unread } from "./tokens.mjs";

const OPEN = 3;  // rows of a level that are open at the start

export const documentView = {
  id: "document",
  name: "Document",
  uses: ["head"],
  steps: (record) => levelsOf(record).flatMap(({ deciding, hops }) => [...new Set([deciding, ...hops])]),
  starts: (steps) => steps[0],
  make: (context) => new DocumentView(context),
};

class DocumentView {
  constructor({ record, selection, tooltip }) {
    Object.assign(this, { selection, tooltip, levels: levelsOf(record), opened: new Map(), sorted: true, flows: [],
      rows: [] });
    this.order = made("input", { type: "checkbox", checked: true, onchange: () => {
      this.sorted = this.order.checked;
      this.#build();
    } });
    this.legend = new Legend();
    this.tree = made("div", { className: "document" });
    this.element = made("div", {},
      made("label", { className: "control check" }, this.order, made("span", {}, "Most important first")),
      this.legend.element, this.tree);
  }

  #level(space) {
    return this.levels.find((level) => level.space.parent === space);
  }

  // Outermost rows have no number; the number of each row below is its share of the row above.
  #build() {
    Object.assign(this, { flows: [], rows: [], shown: this.#key() });
    const top = this.levels[0].space.parent;
    const roots = Array.from({ length: top.rows }, (_, row) => row).filter((row) => {
      const [begin, end] = this.levels[0].space.segment(row);
      return begin < end;
    });
    this.tree.replaceChildren(...roots.map((row) => made("section", {},
      made("h3", {}, shortText(visible(top.wholeName(row)), 90)),
      this.#children(top, row, 1), this.#unread(top, row))));
    this.#shade();
  }

  // The text of an outermost row that no row below it has, such as sentences after the most that a model takes.
  #unread(top, row) {
    const place = top.place(row), { space } = this.levels[0];
    if (!place) return null;
    const parts = [];
    let at = place[1];
    for (let [below, end] = space.segment(row); below < end; ++below) {
      const inner = space.place(below);
      if (!inner || inner[0] !== place[0]) continue;
      parts.push(top.texts[place[0]].slice(at, inner[1]));
      at = Math.max(at, inner[2]);
    }
    if (at === place[1]) return null;
    const text = [...parts, top.texts[place[0]].slice(at, place[2])].map((part) => part.trim())
      .filter(Boolean).join(" … ");
    return text ? unread(`Not read by the model: ${text}`, "p") : null;
  }

  #key() {
    return `${this.selection.head} ${this.context.colours.dark}`;
  }

  // A step without the chosen head shows the mean of all its heads.
  #children(space, row, above) {
    const level = this.#level(space), { head } = this.selection,
      { begin, end, values } = sharesOf(level.deciding, row, head);
    if (begin === end) return made("p", { className: "soft" }, `No ${level.space.name} here.`);
    const hops = level.hops.map((step) => ({ step, ...sharesOf(step, row, head) }));
    const title = made("p", { className: "level" }, `${level.space.name} by weight in “${level.deciding.name}”, ` +
      headName(level.deciding.heads.includes(head) ? head : "mean", level.deciding) +
        (values ? "" : ": not in the record"));
    if (!this.#level(level.space)) return made("div", {}, title, this.#words(level, begin, end, values, hops, above));
    const order = Array.from({ length: end - begin }, (_, i) => i);
    if (this.sorted && values) order.sort((a, b) => values[b] - values[a] || a - b);
    const most = values ? values.reduce((all, value) => Math.max(all, value), 0) : 1;
    return made("div", {}, title, made("ol", {}, order.map((i, place) =>
      this.#row(level, begin + i, values?.[i], most, hops.map(({ step, values: each }) => [step, each?.[i]]), above,
        place))));
  }

  #row(level, row, value, most, hops, above, place) {
    const { space } = level, dropped = space.dropped(row), key = `${space.index}.${row}`;
    const open = this.opened.get(key) ?? (place < OPEN && !dropped);
    const bar = made("span", { className: "bar", "aria-hidden": "true" });
    bar.style.setProperty("--share", value === undefined ? 0 : (value / (most || 1)).toFixed(4));
    const body = made("div", { className: "inside" });
    let filled = false;
    const fill = () => {
      if (!filled) body.append(this.#children(space, row, above * (value ?? 0)));
      filled = true;
    };
    const mark = dropped ? "dropped" : space.chosen ? "kept" : "";
    const number = value === undefined ? "–" : weightText(value);
    const details = made("details", { open, ontoggle: () => {
      this.opened.set(key, details.open);
      if (details.open && !filled) {
        fill();
        this.#shade();
      }
    } }, made("summary", { className: dropped ? "dropped" : "", "data-row": row, "data-space": space.index,
      "data-value": value ?? "",
      "aria-label": `${visible(space.rowName(row))}: ${number}${mark && `, ${mark}`}`,
        onclick: () => this.#pick(level.deciding, space, row) },
    made("span", { className: "number" }, number), bar,
      made("span", { className: "name" }, visible(space.wholeName(row))),
    mark ? made("span", { className: "mark" }, mark) : null,
    hops.length > 0 ? made("span", { className: "hops" },
      hops.map(([step, each], i) => made("span", { className: "hop", "data-hop": step.index,
      title: step.name }, `hop ${i + 1} ${each === undefined ? "–" : weightText(each)}`))) : null), body);
    if (open) fill();
    this.rows.push({ space, row, summary: details.firstChild });
    return made("li", {}, details);
  }

  #pick(step, space, row) {
    this.selection.change({ step, space, row, chosen: true });
  }

  #words(level, begin, end, values, hops, above) {
    const { space, deciding } = level;
    const flow = new Tokens({ space, begin, end, label: `${space.name}, ${plural(end - begin, "row")}`,
      tooltip: this.tooltip,
      plain: !space.hasWords, onchoose: (row) => this.#pick(deciding, space, row),
        onleave: () => this.selection.change({ chosen: false }) });
    this.flows.push({ flow, begin, values, above });
    const more = hops.map(({ step, values: each }, i) => {
      const other = new Tokens({ space, begin, end, label: `${space.name} in hop ${i + 1}`, tooltip: this.tooltip,
        plain: !space.hasWords,
        onchoose: (row) => this.#pick(step, space, row) });
      this.flows.push({ flow: other, begin, values: each, above });
      return made("div", {}, made("p", { className: "level" }, `hop ${i + 1}`), other.element);
    });
    return made("div", {}, flow.element, more);
  }

  #shade() {
    const { colours } = this.context;
    for (const { flow, begin, values } of this.flows) {
      const most = values?.reduce((all, value) => Math.max(all, value), 0) || 1;
      flow.shade(colours, (row) => values?.[row - begin] ?? NaN, { most });
    }
    this.legend.update(colours, 0, 1, "words: share of the greatest weight beside them");
    const { selection } = this;
    for (const { flow } of this.flows) flow.mark(selection.chosen &&
        selection.space === flow.space ? selection.row : null);
    for (const { space, row, summary } of this.rows) {
      summary.classList.toggle("chosen", selection.chosen && selection.space === space && selection.row === row);
    }
  }

  update(context) {
    this.context = context;
    if (this.shown !== this.#key()) this.#build();
    else this.#shade();
  }
}
