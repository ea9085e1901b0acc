// The "?" panel: attention in five sentences, a picture, and the glossary.
import { drawn, made } from "./elements.mjs";

const SENTENCES = ["A model reads a text as tokens: words, parts of words, patches of an image or frames of a sound.",
  "In every layer each token makes a query, which is what it looks for, and a key, which is what it offers.",
  "The products of its query with all keys become weights that add up to 1: where the token looks.",
  "A head is one such set of weights; each layer has several, which look at different things.",
  "Layers follow each other, so the last layer is nearest to the answer, and its tokens already hold the rest."];
const TERMS = [["token", "One entry of the input sequence; also called row or position here."],
  ["special token", "A token that the tokenizer adds and the text does not have, such as [CLS] or <s>."],
  ["weight", "Share of attention, from 0 to 1; the weights of one query add up to 1."],
  ["score", "Product of query and key before the softmax makes weights of it."],
  ["query, key", "Vectors of a token; the token that looks has the query, the one that is looked at the key."],
  ["head", "One of several attention maps of a layer. \u201cMean\u201d is the mean of all heads."],
  ["received", "Mean weight that a token gets from all tokens of its text."],
  ["causal", "Each token looks only at itself and at tokens before it, as in models that generate text."],
  ["cross", "Tokens of one sequence look at another, such as written words at a source text."],
  ["entropy", "How spread out weights are, in bits: 0 is one key, 3 is as spread as 8 equal keys."],
  ["distance", "How many tokens away the keys are, weighted."],
  ["rollout", "Weights of all layers multiplied (Abnar and Zuidema, 2020): an estimate of the whole model."],
  ["pattern", "Which keys a token may look at, without weights."]];

function picture() {
  const words = ["the", "cat", "sat"], weights = [0.15, 0.75, 0.1], at = (i) => 60 + 110 * i;
  const text = (x, y, content, anchor = "middle") => drawn("text", { x, y, "text-anchor": anchor }, content);
  return drawn("svg", { viewBox: "0 0 340 150", role: "img", class: "lesson",
    "aria-label": "The word sat looks at the cat sat with weights 0.15, 0.75 and 0.10" },
  words.map((word, i) => drawn("path", { d: `M${at(2)} 34 C${at(2)} 70 ${at(i)} 60 ${at(i)} 96`, class: "flow",
    "stroke-width": 1 + 10 * weights[i] })),
  text(at(2), 26, "sat"), text(at(2) - 24, 26, "query:", "end"), words.map((word, i) => [text(at(i), 114, word),
    text(at(i), 136, weights[i].toFixed(2))]), text(8, 114, "keys:", "start"));
}

/** { button, dialog }. */
export function helpPanel() {
  const title = made("h2", { id: "help-title", tabIndex: -1 }, "How to read this page");
  const dialog = made("dialog", { className: "help", "aria-labelledby": "help-title" }, title, picture(),
    SENTENCES.map((sentence) => made("p", {}, sentence)), made("h3", {}, "Words on this page"),
    made("dl", {}, TERMS.flatMap(([term, meaning]) => [made("dt", {}, term), made("dd", {}, meaning)])),
    made("form", { method: "dialog" }, made("button", { type: "button", onclick: () => dialog.close() }, "Close")));
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  const button = made("button", { type: "button", className: "theme", "aria-label": "How to read this page",
    onclick: () => (dialog.showModal(), title.focus()) }, "?");
  return { button, dialog };
}
