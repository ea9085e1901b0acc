// The current choice: view, step, head, row. All views share it; it is also stored in the address.
import { matchingRow } from "./spaces.mjs";

// pair: a key whose product with the chosen row's query is shown.
// side: of a chosen row, what it gives or what it receives; overview: the same of all rows, while none is chosen.
const DEFAULTS = { head: "mean", chosen: false, side: "gives", overview: "receives", rollout: false, order: "layer",
  several: [], theme: "auto", threshold: 0, plain: false, pair: null };

/** Weights that can be chosen as the least that is shown. */
export const THRESHOLDS = [0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5];

/** The last step; of several of its layer over the same keys the one with most rows: not that of a few global rows. */
export function mostRows(steps) {
  const last = steps.at(-1), beside = steps.filter(({ layer, keys }) => layer === last.layer && keys === last.keys);
  return beside.reduce((best, step) => (step.queries.rows >= best.queries.rows ? step : best), last);
}

export class Selection {
  #listeners = [];
  #steps;

  /** `views`: views with something to show, each { id, uses, steps(record) }. */
  constructor(record, views) {
    Object.assign(this, { record, views, ...DEFAULTS, view: views[0], row: 0 });
    this.#steps = new Map(views.map((view) => [view, view.steps(record)]));
    this.step = this.#start(this.steps);
    this.space = this.step.queries;
    this.#settle();
  }

  /** The steps that the view can show. */
  get steps() {
    return this.#steps.get(this.view);
  }

  // The last layer, whose weights are nearest to the answer; in a document the outermost level.
  #start(steps) {
    return this.view.starts?.(steps) ?? mostRows(steps);
  }

  /** Whether a row is hidden because only words of the texts are wanted. */
  hides(space, row) {
    return this.plain && this.uses("special") && space.special(row);
  }

  uses(what) {
    return Boolean(this.view.uses?.includes(what));
  }

  /** The head whose numbers are read; an array if the view of lines draws several. */
  get headsRead() {
    return this.view.id === "lines" && this.several.length > 1 ? this.several : this.head;
  }

  /** The least weight that is shown. */
  get least() {
    return this.uses("threshold") && !this.step.scores ? this.threshold : 0;
  }

  /** Whether layers are rolled out in the view. */
  get rolls() {
    return this.rollout && Boolean(this.view.uses?.includes("rollout"));
  }

  listen(listener) {
    this.#listeners.push(listener);
  }

  change(changes) {
    const before = this.view;
    Object.assign(this, changes);
    this.#settle();
    for (const listener of this.#listeners) listener(this, before !== this.view);
  }

  /** Chooses a row that was clicked; a second click clears the choice. */
  choose(space, row, changes = {}) {
    const again = this.chosen && this.space === space && this.row === row && Object.keys(changes).length === 0;
    this.change({ space, row, chosen: !again, ...changes });
  }

  /** Makes the choice one that the view can show: a step of its, a row of the step's, a head that it has. */
  #settle() {
    const shown = this.steps;
    if (!shown.includes(this.step)) {
      const near = shown.filter(({ layer }) => layer === this.step.layer);
      this.step = near.find(({ part }) => part === this.step.part) ?? near[0] ?? this.#start(shown);
    }
    const { queries, keys, heads } = this.step;
    if (this.space !== queries && this.space !== keys) {
      this.row = matchingRow(this.space, this.row, queries);
      this.space = queries;
    }
    this.row = Math.max(0, Math.min(this.row, this.space.rows - 1));
    if (this.head !== "mean" && !heads.includes(this.head)) this.head = "mean";
    if (this.pair !== null && !(this.step.vectors && this.pair < keys.rows)) this.pair = null;
    this.several = this.several.filter((head) => heads.includes(head));
    Object.assign(this, this.view.settle?.(this));
  }

  /** The row of queries that the choice is about: the chosen one, or the first that looks at the chosen key. */
  get query() {
    const { step, space, row } = this;
    return space === step.queries ? row : step.queriesOf(row)[0];
  }

  /** "gives": where a row looks; "receives": what looks at it. Rows that only are looked at have one side. */
  get sideShown() {
    if (this.space !== this.step.queries) return "receives";
    return this.space !== this.step.keys ? "gives" : this.side;
  }

  toHash() {
    const parts = [["view", this.view.id], ["step", this.step.index], ["head", this.head],
      [this.chosen ? "row" : "near", `${this.space.index}.${this.row}`]];
    for (const key of ["side", "overview", "order", "theme"]) if (this[key] !== DEFAULTS[key]) parts.push([key,
        this[key]]);
    if (this.rollout) parts.push(["rollout", 1]);
    if (this.plain) parts.push(["plain", 1]);
    if (this.pair !== null) parts.push(["pair", this.pair]);
    if (this.threshold > 0) parts.push(["threshold", this.threshold]);
    if (this.several.length > 0) parts.push(["heads", this.several.join(".")]);
    return `#${parts.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&")}`;
  }

  /** Reads the choice from the address, which is untrusted; ignores invalid parts. */
  fromHash(hash) {
    const given = new URLSearchParams(hash.replace(/^#/, "")), changes = { ...DEFAULTS };
    const oneOf = (key, values) => {
      if (values.includes(given.get(key))) changes[key] = given.get(key);
    };
    changes.view = this.views.find(({ id }) => id === given.get("view")) ?? this.view;
    oneOf("side", ["gives", "receives"]);
    oneOf("overview", ["gives", "receives"]);
    oneOf("order", ["layer", "kind"]);
    oneOf("theme", ["auto", "light", "dark"]);
    changes.step = this.record.steps[Number(given.get("step") ?? NaN)] ?? this.step;
    const head = given.get("head");
    if (head !== null && /^\d+$/.test(head)) changes.head = Number(head);
    const place = /^(\d+)\.(\d+)$/.exec(given.get("row") ?? given.get("near") ?? "");
    const space = place && this.record.spaces[Number(place[1])];
    if (space && Number(place[2]) < space.rows) {
      Object.assign(changes, { space, row: Number(place[2]), chosen: given.has("row") });
    }
    changes.rollout = given.get("rollout") === "1";
    changes.plain = given.get("plain") === "1";
    if (/^\d+$/.test(given.get("pair") ?? "")) changes.pair = Number(given.get("pair"));
    const threshold = Number(given.get("threshold") ?? 0);
    if (THRESHOLDS.includes(threshold)) changes.threshold = threshold;
    changes.several = (given.get("heads") ?? "").split(".").filter((part) => /^\d+$/.test(part)).map(Number);
    this.change(changes);
  }
}
