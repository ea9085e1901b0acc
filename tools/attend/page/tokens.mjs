// Rows as selectable words: within their text if the record has their positions, else one after the other.
import { made, moved, plural, visible, weightText } from "./elements.mjs";

let lists = 0;

/** Text between words. Where it is more than space, no row has it: the model was not given it. */
export function gap(text) {
  return /\S/.test(text) ? unread(text, "span") : text;
}

const LONG_TEXT = 400;  // characters of text that was not read, from which on it is folded

/** Text that the model was not given; folded if it is long. */
export function unread(text, element) {
  if (text.length <= LONG_TEXT) return made(element, { className: "unread", title: "Not read by the model" }, text);
  return made("details", { className: "unread" },
    made("summary", {}, `Not read by the model: ${plural(text.length, "character")}`), made("div", {}, text));
}

/** A list box of the rows [begin, end) of a space. Arrow keys choose, Escape clears the choice. */
export class Tokens {
  constructor({ label, space, begin, end, onchoose, onleave = () => {}, tooltip = null, plain = false, name = null }) {
    Object.assign(this, { space, begin, end, onchoose, tooltip, name: name ?? ((row) => space.rowName(row)),
      id: `tokens-${++lists}` });
    this.nodes = [];
    this.element = made("div", { className: plain ? "tokens plain" : "tokens", role: "listbox", tabIndex: 0,
      "aria-label": label,
      onkeydown: (event) => this.#key(event, onleave) });
    this.element.append(...(plain ? this.#plain() : this.#inText()));
    this.element.addEventListener("click", ({ target }) => {
      const node = target.closest("[role=option]");
      if (node) this.onchoose(Number(node.dataset.row));
    });
    for (const type of ["pointerover", "pointerout"]) {
      this.element.addEventListener(type, ({ target }) => {
        const node = target.closest("[role=option]");
        this.tooltip?.show(type === "pointerover" && node ? node : null, node?.getAttribute("aria-label"));
      });
    }
  }

  #token(row, name, className) {
    const dropped = this.space.dropped(row);
    const node = made("span", { className: `token ${className}${dropped ? " dropped" : ""}`, role: "option",
      "data-row": row,
      "aria-selected": "false", id: `${this.id}-${row}` }, visible(name));
    this.nodes[row - this.begin] = node;
    return node;
  }

  #plain() {
    return Array.from({ length: this.end - this.begin }, (_, i) =>
      this.#token(this.begin + i, this.name(this.begin + i), "apart"));
  }

  // The text continues between the words; a row that is nowhere in it, or where another was, has its label. Text
  // outside the segment of these rows belongs to other segments: a segment ends where the row of the parent does.
  #inText() {
    const { space, begin, end } = this, nodes = [];
    let number = null, at = 0;
    const upTo = (to) => {
      if (number !== null && to > at) nodes.push(gap(space.texts[number].slice(at, to)));
    };
    for (let row = begin; row < end; ++row) {
      const place = space.place(row);
      if (place && place[0] !== number) {
        if (number !== null) {
          upTo(space.texts[number].length);
          nodes.push(made("br"));
        }
        number = place[0];
        at = Math.min(place[1], this.#edges(row, number)?.[1] ??
          (this.#standsIn(number, begin - 1, -1) ? place[1] : 0));  // other segments show what is before this one
      }
      if (!place || place[1] < at || place[2] <= place[1]) {
        nodes.push(" ", this.#token(row, space.rowName(row), place ? "inside" : "apart"), " ");
        continue;
      }
      upTo(place[1]);
      nodes.push(this.#token(row, space.texts[number].slice(place[1], place[2]), "word"));
      at = place[2];
    }
    if (number !== null) {
      upTo(this.#edges(end - 1, number)?.[2] ??
        (this.#standsIn(number, end, 1) ? at : space.texts[number].length));
    }
    return nodes;
  }

  // Where the row's segment is in the text, if the record knows.
  #edges(row, text) {
    const place = this.space.parent?.place(this.space.segmentOf(row));
    return place?.[0] === text ? place : null;
  }

  #standsIn(text, row, direction) {
    for (let i = 0; i < 8; ++i, row += direction) {
      const place = this.space.place(row);
      if (place) return place[0] === text;
    }
    return false;
  }

  #key(event, onleave) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape") return onleave();
    const count = this.end - this.begin, at = this.chosen === undefined ? -1 : this.chosen - this.begin;
    let next = event.key === "Enter" || event.key === " " ? at : moved(event.key, at, count);
    if (next < 0 && at < 0 && event.key.startsWith("Arrow")) next = 0;
    if (next < 0 || next >= count) return;
    event.preventDefault();
    const back = next < at ? -1 : 1;
    while (this.nodes[next]?.hidden) next += back;
    if (!this.nodes[next]) return;
    if (next !== at || event.key === "Enter" || event.key === " ") this.onchoose(this.begin + next);
    this.nodes[next]?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** Shades the rows: `number(row)` is NaN where there is none; `most` is the number of the last colour. */
  shade(colours, number, { least = 0, most }) {
    const range = most - least || 1;
    this.nodes.forEach((node, i) => {
      const row = this.begin + i, value = number(row), name = this.name(row);
      const known = Number.isFinite(value), step = known ? colours.step((value - least) / range) : 0;
      node.style.setProperty("--shade", known ? colours.css[step] : "transparent");
      node.style.setProperty("--ink", known ? colours.ink[step] : "inherit");
      node.dataset.value = known ? value : "";
      const state = this.space.dropped(row) ? ", dropped" : "";
      node.setAttribute("aria-label", `${visible(name)}${known ? `, ${weightText(value)}` : ""}${state}`);
    });
  }

  /** Hides the rows for which `hidden(row)` is true. */
  hide(hidden) {
    this.nodes.forEach((node, i) => (node.hidden = hidden(this.begin + i)));
  }

  mark(row) {
    const inside = row !== null && row >= this.begin && row < this.end;
    this.nodes[this.chosen - this.begin]?.setAttribute("aria-selected", "false");
    this.chosen = inside ? row : undefined;
    if (!inside) return this.element.removeAttribute("aria-activedescendant");
    this.nodes[row - this.begin].setAttribute("aria-selected", "true");
    this.element.setAttribute("aria-activedescendant", `${this.id}-${row}`);
  }
}
