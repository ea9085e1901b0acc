// Tasks by their names, with the results and options of transformers.js' pipeline().
import { constants as C } from "./declarations.mjs";
import { refuse } from "./errors.mjs";
import { Model } from "./model.mjs";
import { meant, optionsOf } from "./options.mjs";
import { computed } from "./predict.mjs";
import { activated, classesIn, classesInfo } from "./results.mjs";
import { counted, shownAs } from "./shown.mjs";
import { recognise } from "./speech.mjs";
import { extract } from "./features.mjs";
import { TextStreamer, continued, streamed } from "./writing.mjs";

export { TextStreamer };

const isTexts = (texts) => typeof texts === "string" || (Array.isArray(texts) && texts.length > 0 &&
  texts.every((text) => typeof text === "string"));

export function textsOf(task, texts) {
  if (!isTexts(texts)) refuse(`${task}: a text or a list of texts is needed`);
  return Array.isArray(texts) ? texts : [texts];
}

/** For each text, or pair of texts, its classes. */
function classesOf(model, texts, options = {}) {
  const program = model.program(), info = classesInfo(model, program);
  return computed(model, program, texts, options, (session) => classesIn(session, info));
}

/** [{ label, score }]: for a list of texts one for each, and with top_k other than 1 a list for each. */
function classify(model, texts, { top_k: top = 1 }) {
  if (top !== null && !(Number.isInteger(top) && top > 0)) {
    refuse(`top_k is ${top}: a whole number above 0, or null for all`, C.FOVEA_E_OPTION);
  }
  const list = textsOf("text-classification", texts);
  const all = classesOf(model, list).map((classes) => classes.map(({ label, score }) => ({ label, score }))
    .sort((a, b) => b.score - a.score).slice(0, top ?? undefined));
  return top === 1 ? all.flat() : Array.isArray(texts) ? all : all[0];
}

/** The classes that decide; a model that names none is reported as the command reports it. */
function inferenceClasses(model, width) {
  const find = (pattern) => model.labels.findIndex((label) => pattern.test(label));
  let entailment = find(/^entail/i);
  if (entailment < 0) {
    entailment = width - 1;
    console.warn(`fovea: no class is named entailment, so the last one, ${model.label(entailment)}, is taken for it`);
  }
  const contradiction = find(/^(contradiction|not_entailment)/i);
  return { entailment, contradiction: contradiction >= 0 ? contradiction : entailment === 0 ? width - 1 : 0 };
}

/** { sequence, labels, scores }, the best label first. */
function zeroShot(model, texts, { hypothesis_template: template = "This example is {}.", multi_label: many = false },
  candidates) {
  const list = textsOf("zero-shot-classification", texts);
  const labels = textsOf("zero-shot-classification's labels", candidates), parts = String(template).split("{}");
  if (parts.length !== 2) {
    refuse(`hypothesis_template '${template}': exactly one {} must mark the place of the label`, C.FOVEA_E_OPTION);
  }
  const all = list.map((sequence) => {
    const pairs = labels.map((label) => parts.join(label));  // which stay whole
    const logits = classesOf(model, labels.map(() => sequence), { pairs, truncation: "first" }).map((classes) =>
      [...classes].sort((a, b) => a.index - b.index).map(({ logit }) => logit));
    if (logits[0].length < 2) refuse("the model has no classes for entailment and another one", C.FOVEA_E_NAME);
    const { entailment, contradiction } = inferenceClasses(model, logits[0].length);
    const alone = many || labels.length === 1;
    const scores = activated(model.library, alone ? C.FOVEA_ACTIVATION_SIGMOID : C.FOVEA_ACTIVATION_SOFTMAX,
      logits.map((row) => row[entailment] - (alone ? row[contradiction] : 0)));
    const order = labels.map((_, i) => i).sort((a, b) => scores[b] - scores[a]);
    return { sequence, labels: order.map((i) => labels[i]), scores: order.map((i) => scores[i]) };
  });
  return Array.isArray(texts) ? all : all[0];
}

const TASKS = {
  "feature-extraction": extract,
  "text-classification": classify,
  "zero-shot-classification": zeroShot,
  "text-generation": continued,
  "automatic-speech-recognition": recognise,
};
const SAME = { "sentiment-analysis": "text-classification", embeddings: "feature-extraction", asr:
  "automatic-speech-recognition" };

/** transformers.js' progress: { status, name, file, progress, loaded, total }. */
function progressOf(callback, name) {
  if (callback === undefined || callback === null) return undefined;
  if (typeof callback !== "function") refuse("progress_callback is no function", C.FOVEA_E_OPTION);
  return ({ loaded, total, done }) => callback(done ? { status: "done", name, file: name } :
    { status: "progress", name, file: name, progress: total ? (100 * loaded) / total : 0, loaded, total: total ?? 0 });
}

/**
 * A function for a task: `await pipe(input, ...)`. It has `model`, `tokenizer`, `task`, `dispose()`, and for
 * text-generation `stream(text, options)`.
 */
export async function pipeline(task, source, options) {
  const known = Object.keys(TASKS), name = SAME[task] ?? task;
  if (!known.includes(name)) {
    refuse(`no task '${task}'${meant(String(task), known) || ";"} there are: ${known.join(", ")}`, C.FOVEA_E_NAME);
  }
  const { progress_callback: callback, ...opening } = optionsOf("pipeline", options);
  const given = source instanceof Model;
  if (source === undefined || source === null) {
    refuse("pipeline: a model's address, path or bytes, or a Model is needed");
  }
  if (given && Object.keys(opening).length) {
    refuse(`pipeline: ${Object.keys(opening).join(", ")} of a Model is given when it is opened`, C.FOVEA_E_OPTION);
  }
  const shown = typeof source === "string" || source instanceof URL ? String(source) : "model";
  if (!given) callback?.({ status: "initiate", name: shown, file: shown });
  const model = given ? source : await Model.open(source, { ...opening, progress: progressOf(callback, shown) });
  callback?.({ status: "ready", task: name, model: shown });

  // For zero-shot classification the second argument is the labels.
  const split = (more) => (name === "zero-shot-classification" ? [more[1], more[0], more.length > 2] :
    [more[0], undefined, more.length > 1]);
  const pipe = async (input, ...more) => {
    const [given, candidates, excess] = split(more);
    if (excess) refuse(`${name}: too many arguments`);
    return TASKS[name](model, input, optionsOf(name, given), candidates);
  };
  pipe.task = name;
  pipe.model = model;
  pipe.tokenizer = model.tokenizer;
  pipe.dispose = async () => model.close();
  if (name === "text-generation") pipe.stream = (text, given) => streamed(model, text, optionsOf(name, given));
  const line = () => `pipeline(${name}, ${model})`;
  pipe.toString = line;
  pipe[Symbol.for("nodejs.util.inspect.custom")] = line;
  return pipe;
}
