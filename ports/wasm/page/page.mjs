// Runs a model on typed text: classes with the words that decided, a text that continues it, or the nearest line.
import { Model } from "./fovea/fovea.mjs";

const CLASSES = 5, REASONS = 3, WRITTEN = 60;
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
  element("classes").replaceChildren(...classes.map(({ label, score }) => {
    const bar = made("span", [], Math.min(1, Math.max(0, score))), name = made("span", label);
    bar.className = "bar";
    name.className = "label";
    return made("li", [name, number(score, 4), bar]);
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

// The ways to run a model on a text: the title of the list, and the work, which returns a summary and a note.
const TASKS = {
  classes: { title: "Classes", run(model, text) {
    const { classes, sentences, words, droppedSentences } = model.explain(text, { top: CLASSES });
    showClasses(classes);
    const parts = sentences ?? [{ share: 1, text, words: words ?? [] }];
    showText(text, parts.map((part) => ({ ...part, words: part.words ?? [] })));
    showReasons(sentences || words ? parts.map((part) => ({ share: 1, ...part, words: part.words ?? [] })) : []);
    element("shown-part").hidden = !sentences && !words;
    const cut = droppedSentences > 0 ? ` The last ${droppedSentences} sentences were left out.` : "";
    return [classes[0].label, cut];
  } },
  writes: { title: "", run(model, text) {
    const generation = model.generate(text, { maxTokens: WRITTEN });
    try {
      for (const token of generation) void token;
      element("written").textContent = generation.text;
    } finally {
      generation.close();
    }
    return [`${generation.tokens.length} tokens`, ""];
  } },
  embeds: { title: "Most similar lines", run(model, text) {
    const [first, ...lines] = text.split("\n").map((line) => line.trim()).filter(Boolean);
    const [of, ...others] = model.embed([first, ...lines]);
    const [scores] = others.length > 0 ? model.similarity([of], others, { measure: "cosine" }) : [[]];
    const found = lines.map((label, i) => ({ label, score: scores[i] }));
    showClasses(found.sort((a, b) => b.score - a.score).slice(0, CLASSES));
    return [`${of.length} numbers`, lines.length > 0 ? ` The first line is compared with ${lines.length} below it.` :
      " Type further lines to compare the first one with."];
  } },
};

function taskOf(model) {
  if (model.generatePrograms) return TASKS.writes;
  const { values } = model.program();
  return values.some(({ name, role }) => name === "logits" && role === "output") ||
    model.metadata["alias.logits"] ? TASKS.classes : TASKS.embeds;
}

function show(model) {
  const text = field.value, task = taskOf(model);
  result.hidden = text.trim() === "";
  if (result.hidden) {
    status.textContent = element("examples").hidden ? "Type a text." : "Type a description, or take an example.";
    return;
  }
  element("classes-part").hidden = task === TASKS.writes;
  element("written-part").hidden = task !== TASKS.writes;
  element("shown-part").hidden = task !== TASKS.classes;
  const began = performance.now();
  const [said, note] = task.run(model, text);
  const time = performance.now() - began;
  status.textContent = `${said}, computed in ${time.toFixed(1)} ms.${note}`;
}

/** Texts around the field, for a blob that is not the one of the page. */
function introduce(model, name) {
  const task = taskOf(model);
  element("title").textContent = model.metadata.name ?? name;
  element("intro").textContent = `The model ${name} runs in this page. Nothing leaves it.`;
  element("label").textContent = task === TASKS.embeds ? "Text, and further lines to compare it with" : "Text";
  element("classes-title").textContent = task.title;
  element("examples").hidden = true;
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
  let model = await Model.open("model.fovea", { workers });
  // The page's own texts are for the model of sections of packages; any other blob introduces itself.
  const own = model.programs.length > 0 && model.metadata["explain.sentences"] !== undefined;
  if (!own) introduce(model, "model.fovea");
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
  element("blob").addEventListener("change", async ({ target }) => {
    const [file] = target.files;
    if (!file) return;
    try {
      const other = await Model.open(file, { workers });
      model.close();
      model = other;
      introduce(model, file.name);
      attempt(() => show(model));
    } catch (error) {
      fail(error);  // the former model stays
    }
  });
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
