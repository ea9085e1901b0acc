// The page: the record's views as tabs, what can be chosen in all of them, and the numbers of the choice.
import { answerPanel } from "./answer.mjs";
import { alignmentView } from "./alignment_view.mjs";
import { Colours } from "./colour.mjs";
import { Controls } from "./controls.mjs";
import { documentView } from "./document_view.mjs";
import { countText, made, plural, roving, setRoving } from "./elements.mjs";
import { exportButtons } from "./export.mjs";
import { headsView } from "./heads_view.mjs";
import { helpPanel } from "./help.mjs";
import { LinePanel } from "./line_panel.mjs";
import { linesView } from "./lines_view.mjs";
import { patternView } from "./pattern_view.mjs";
import { pictureView } from "./picture_view.mjs";
import { recordOf } from "./record.mjs";
import { Selection } from "./selection.mjs";
import { soundView } from "./sound_view.mjs";
import { textView } from "./text_view.mjs";
import { Tooltip } from "./tooltip.mjs";

const VIEWS = [documentView, alignmentView, pictureView, soundView, textView, headsView, linesView, patternView];
const LONG = 2048;  // rows from which on the pattern is what a reader sees first
const PRECISIONS = { f32: "32-bit floats", f16: "16-bit floats (about 3 digits)",
  pattern: "which keys are kept, without weights" };
const THEMES = { auto: "Colours: as the system", light: "Colours: light", dark: "Colours: dark" };

function viewsOf(record) {
  const views = VIEWS.filter((view) => view.steps(record).length > 0);
  const long = views.includes(patternView) && record.steps.some(({ queries }) => queries.rows >= LONG);
  return long ? [patternView, ...views.filter((view) => view !== patternView)] : views;
}

class AttentionPage {
  constructor(record, main) {
    this.record = record;
    this.views = viewsOf(record);
    this.selection = new Selection(record, this.views);
    this.tooltip = new Tooltip();
    this.controls = new Controls(this.selection);
    this.panel = new LinePanel(this.selection);
    this.made = new Map();
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.theme = made("button", { type: "button", className: "theme", onclick: () => {
      const names = Object.keys(THEMES);
      this.selection.change({ theme: names[(names.indexOf(this.selection.theme) + 1) % names.length] });
    } });
    this.tabs = this.views.map((view) => made("button",
      { type: "button", role: "tab", id: `tab-${view.id}`, "aria-controls": "view",
      onclick: () => this.selection.change({ view }) }, view.name));
    const list = made("div", { className: "tabs", role: "tablist", "aria-label": "Views" }, this.tabs);
    roving(list, () => this.tabs, (tab) => tab.click());
    this.view = made("div", { id: "view", className: "view", role: "tabpanel" });
    this.help = helpPanel();
    const exports = exportButtons(() => this.view, () => this.panel.lines(), () => this.#fileName());
    this.controls.element.append(exports);
    main.append(this.#header(), ...[answerPanel(record)].filter(Boolean), list, this.controls.element, this.help.dialog,
      made("div", { className: "body" }, this.view, this.panel.element),
      this.tooltip.element);
    this.selection.listen((_, fresh) => this.update(fresh));
    addEventListener("hashchange",
      () => location.hash !== this.selection.toHash() && this.selection.fromHash(location.hash));
    this.dark.addEventListener("change", () => this.update());
    if (location.hash.length > 1) this.selection.fromHash(location.hash);
    else this.update();
  }

  #fileName() {
    const { view, step, head } = this.selection;
    return [this.record.model.name.replace(/\.fovea$/, "") || "attention", view.id, `${step.part}${step.layer}`, head]
      .join("-").replace(/[^\w.-]+/g, "_");
  }

  #header() {
    const { title, model, steps, memory, notes } = this.record,
      layers = new Set(steps.map(({ part, layer }) => `${part} ${layer}`)).size;
    const types = [...new Set(steps.map(({ type }) => type))],
      spaces = [...new Set(steps.flatMap(({ queries, keys }) => [queries, keys]))];
    const facts = [plural(layers, "layer"), ...spaces.map(({ name, rows }) => `${name}: ${plural(rows, "row")}`),
      `numbers: ${types.map((type) => PRECISIONS[type] ?? type).join(", ")}`];
    if (memory) {
      facts.push(`taps: ${countText(memory.tap_bytes)} bytes, the session without them ` +
        `${countText(memory.session_bytes)}`);
    }
    document.title = title || model.name || "Attention";
    const said = [model.name, model.architecture, model.task].filter(Boolean).join(" · ");
    return made("header", {}, made("div", {}, made("h1", {}, title || model.name || "Attention"),
      made("p", { className: "soft" }, said),
      made("p", { className: "soft facts", id: "facts" }, facts.join(" · ")),
      ...notes.map((note) => made("p", { className: "soft note" }, note))),
      made("div", { className: "head-buttons" }, this.help.button, this.theme));
  }

  #colours() {
    const { theme } = this.selection, dark = theme === "auto" ? this.dark.matches : theme === "dark";
    if (this.colours?.dark !== dark) this.colours = new Colours(dark);
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    this.theme.textContent = THEMES[theme];
    return this.colours;
  }

  update(fresh = true) {
    const { selection } = this, { view } = selection, context = { ...this, colours: this.#colours() };
    setRoving(this.tabs, this.views.indexOf(view));
    this.tabs.forEach((tab, i) => tab.setAttribute("aria-selected", String(this.views[i] === view)));
    this.view.setAttribute("aria-labelledby", `tab-${view.id}`);
    this.controls.update(view, selection.steps);
    const content = this.made.get(view) ?? view.make(context);
    this.made.set(view, content);
    if (this.content !== content) {
      this.content?.leave?.();
      this.view.replaceChildren(content.element);
      this.content = content;
    }
    this.tooltip.hide();
    content.update(context);
    this.panel.update(fresh);
    try {
      history.replaceState(null, "", selection.toHash());
    } catch {
      // A page of a place without an address keeps its choice to itself.
    }
  }
}

function open() {
  const main = document.getElementById("main");
  try {
    const record = recordOf(document.getElementById("record").textContent);
    new AttentionPage(record, main);
    main.dataset.openedAfter = performance.now().toFixed(0);
  } catch (error) {
    main.replaceChildren(made("p", { className: "failed", role: "alert" },
      `This record cannot be shown: ${error.message}`));
  }
}

open();
