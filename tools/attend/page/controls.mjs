// The choices of every view: step, head, segment, side.
import { made, shortText } from "./elements.mjs";
import { THRESHOLDS } from "./selection.mjs";

function select(label, onchange) {
  const list = made("select", { onchange: () => onchange(list.value) });
  const element = made("label", { className: "control" }, made("span", {}, label), list);
  return { element, list, options: "" };
}

/** Fills a list if its entries changed: [value, text]. One entry is no choice, so the list goes. */
function fill(control, entries, value, least = 2) {
  const options = JSON.stringify(entries);
  if (control.options !== options) {
    control.options = options;
    control.list.replaceChildren(...entries.map(([key, text]) => made("option", { value: key }, text)));
  }
  control.list.value = value;
  control.element.hidden = entries.length < least;
}

export function headName(head, step) {
  if (step.reduced) return `${step.reduced === "max" ? "greatest" : step.reduced} of all heads`;
  if (Array.isArray(head)) return `mean of heads ${head.join(", ")}`;
  if (head === "mean") return step.heads.length > 1 ? `mean of ${step.heads.length}` : `head ${step.heads[0]}`;
  return `head ${head}`;
}

export function stepName(step) {
  return `${step.part} ${step.layer}`;
}

export class Controls {
  constructor(selection) {
    this.selection = selection;
    this.step = select("Layer", (index) => selection.change({ step: selection.record.steps[index] }));
    this.head = select("Head", (head) => selection.change({ head: head === "mean" ? head : Number(head) }));
    this.segment = select("Segment",
      (row) => selection.change({ space: selection.step.queries, row: Number(row), chosen: false }));
    this.side = made("fieldset", { className: "control sides" }, made("legend", {}, "Shows"));
    this.radios = ["receives", "gives"].map((side) => {
      const text = made("span");
      const input = made("input", { type: "radio", name: "side", value: side,
        onchange: () => selection.change(selection.chosen ? { side } : { overview: side }) });
      this.side.append(made("label", {}, input, text));
      return { side, input, text };
    });
    this.rollout = made("input", { type: "checkbox", id: "rollout",
      onchange: () => selection.change({ rollout: this.rollout.checked }) });
    this.rolloutLabel = made("label", { className: "control check",
      title: "Attention rollout, Abnar and Zuidema 2020: the layers' mean weights, each with half of its input kept, " +
        "multiplied." },
    this.rollout, made("span", {}, "Rollout over layers (an estimate)"));
    this.threshold = select("Hide below", (least) => selection.change({ threshold: Number(least) }));
    this.plain = made("input", { type: "checkbox", id: "plain",
      onchange: () => selection.change({ plain: this.plain.checked }) });
    this.plainLabel = made("label", { className: "control check",
      title: "Special tokens are added by the tokenizer, such as [CLS], [SEP] and <s>; they are not in the text." },
    this.plain, made("span", {}, "Hide special tokens"));
    this.element = made("div", { className: "controls", role: "group", "aria-label": "Choice" }, this.step.element,
      this.head.element, this.segment.element, this.side, this.rolloutLabel, this.threshold.element, this.plainLabel);
  }

  /** `view.uses`: which of head, segment, side, rollout its view looks at. */
  update(view, steps) {
    const { selection } = this, { step, head, query } = selection;
    const names = steps.map(stepName), alike = new Set(names).size < names.length;
    const entries = steps.map((each, i) => [each.index,
      alike ? `${names[i]} · ${shortText(each.name, 40)}` : names[i]]);
    fill(this.step, view.starts ? entries : entries.reverse(), step.index);
    const heads = step.heads.map((each) => [each, `${each}`]);
    fill(this.head, step.heads.length > 1 ? [["mean", headName("mean", step)], ...heads] : heads, head);
    const uses = view.uses ?? [];
    if (!uses.includes("head") || selection.rolls) this.head.element.hidden = true;
    fill(this.segment, this.#segments(), this.#segmentStart(query));
    if (!uses.includes("segment")) this.segment.element.hidden = true;
    this.side.hidden = !uses.includes("side") || !step.self;
    for (const { side, input, text } of this.radios) {
      input.checked = side === (selection.chosen ? selection.sideShown : selection.overview);
      text.textContent = selection.chosen ? { receives: "what looks at it", gives: "where it looks" }[side]
        : { receives: "weight received", gives: "weight given to other rows" }[side];
    }
    this.rolloutLabel.hidden = !uses.includes("rollout") || !step.self || !step.hasWeights || step.scores;
    this.rollout.checked = selection.rollout;
    fill(this.threshold, THRESHOLDS.map((least) => [least, least === 0 ? "nothing" : `${least}`]), selection.threshold);
    if (!uses.includes("threshold") || step.scores || !step.hasWeights) this.threshold.element.hidden = true;
    this.plainLabel.hidden = !uses.includes("special") || !(step.queries.hasSpecial || step.keys.hasSpecial);
    this.plain.checked = selection.plain;
  }

  #segments() {
    const { queries } = this.selection.step, entries = [];
    for (let i = 0; i < queries.segments; ++i) {
      const [begin, end] = queries.segment(i);
      if (begin === end) continue;
      const name = queries.parent ? queries.parent.rowName(i) : `${i + 1}`;
      entries.push([begin, shortText(name, 48)]);
    }
    return entries;
  }

  #segmentStart(row) {
    const { queries } = this.selection.step;
    return queries.segment(queries.segmentOf(row))[0];
  }
}
