// Classifies typed text, and marks the words that decided.
import { Model } from "./fovea/fovea.mjs";

const CLASSES = 5, REASONS = 3;
const element = (id) => document.getElementById(id);
const field = element("text"), status = element("status"), result = element("result");

function made(name, content, share) {
  const node = document.createElement(name);
  node.append(...[content].flat());
  if (share !== undefined) node.style.setProperty("--share", share.toFixed(4));
  return node;
}

function number(value, digits) {
  const node = made("span", value.toFixed(digits));
  node.className = "number";
  return node;
}

const most = (list, key) => [...list].sort((a, b) => b[key] - a[key]).slice(0, REASONS);

function showClasses(classes) {
  element("classes").replaceChildren(...classes.map(({ label, probability }) => {
    const bar = made("span", [], probability), name = made("span", label);
    bar.className = "bar";
    name.className = "label";
    return made("li", [name, number(probability, 4), bar]);
  }));
}

/** The text with its words marked, the most decisive word of the text strongest. */
function showText(text, sentences) {
  const words = sentences.flatMap((sentence) => sentence.words);
  const top = words.reduce((share, word) => Math.max(share, word.share), 1e-9);
  const nodes = [];
  let at = 0;
  for (const word of words) {
    nodes.push(text.slice(at, word.begin), made("mark", word.text, word.share / top));
    at = word.end;
  }
  element("shown").replaceChildren(...nodes, text.slice(at));
}

function showReasons(sentences) {
  element("reasons").replaceChildren(...most(sentences, "share").map(({ share, text, words }) => {
    const sentence = made("span", text);
    sentence.className = "sentence";
    const list = made("ul", most(words, "weight").map((word) => made("li", [number(word.weight, 2), " ", word.text])));
    return made("li", [number(share, 4), " ", sentence, list]);
  }));
}

function show(model) {
  const text = field.value;
  result.hidden = text.trim() === "";
  if (result.hidden) {
    status.textContent = "Type a description, or take an example.";
    return;
  }
  const began = performance.now();
  const { classes, sentences, droppedSentences } = model.explain(text, { top: CLASSES });
  const time = performance.now() - began;
  showClasses(classes);
  showText(text, sentences);
  showReasons(sentences);
  const cut = droppedSentences > 0 ? ` The last ${droppedSentences} sentences were left out.` : "";
  status.textContent = `${classes[0].label}, computed in ${time.toFixed(1)} ms.${cut}`;
}

function fail(error) {
  status.className = "failed";
  status.textContent = String(error.message ?? error);
  result.hidden = true;
}

function attempt(work) {
  try {
    work();
    status.className = "";
  } catch (error) {
    fail(error);
  }
}

try {
  const workers = Math.min(4, navigator.hardwareConcurrency);  // if the server isolates the page; else one
  const model = await Model.open("model.fovea", { workers });
  status.dataset.workers = model.workers;
  let waiting = false;
  const changed = () => {  // once for all typing until the page is drawn
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      attempt(() => show(model));
    });
  };
  field.addEventListener("input", changed);
  element("examples").addEventListener("click", ({ target }) => {
    if (!(target instanceof HTMLButtonElement)) return;
    field.value = target.textContent;
    changed();
  });
  field.disabled = false;
  field.focus();
  attempt(() => show(model));
} catch (error) {
  fail(error);
}
