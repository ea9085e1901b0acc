// Predictions for texts: outputs, embeddings, classes.
import { constants as C } from "./declarations.mjs";
import { explanationOf, levelsOf } from "./explain.mjs";
import { refuse } from "./errors.mjs";
import { meant, optionsOf } from "./options.mjs";
import { classesIn, classesInfo, compared, measureOf, readResults, resultInfo } from "./results.mjs";
import { Session } from "./session.mjs";

/** The input of token ids. */
export function idInput(program) {
  const inputs = program.values.filter((value) => value.role === "input");
  return inputs.find((value) => value.name === "input_ids") ?? inputs.find((value) => value.type === "i32") ??
    refuse(`program '${program.name}' does not take token ids`, C.FOVEA_E_NAME);
}

/** The space whose rows are the sentences of documents, if tokens nest in one; else null. */
export function sentenceSpace(model, space) {
  const parent = space.parent === null ? null : model.spaces[space.parent];
  return parent !== null && parent.isInput && parent.parent !== null ? parent : null;
}

export const tokenizerOf = (model) => model.tokenizer ?? refuse("the model has no tokenizer", C.FOVEA_E_SECTION);

/** Encodings of texts in the form that a program reads: at once, or sentence by sentence. */
export function encodingsOf(model, program, texts, given = {}) {
  const { maxLength = 0, wrapped = false, literal = false, pairs, truncation } = given;
  const tokenizer = tokenizerOf(model), space = idInput(program).space;
  const bounds = [maxLength, space.maxSegmentRows ?? 0, tokenizer.maxLength].filter((bound) => bound !== 0);
  const options = { maxLength: bounds.length ? Math.min(...bounds) : 0, literal };
  if (sentenceSpace(model, space)) Object.assign(options, { document: true, wrapped });
  if (pairs === undefined) return texts.map((text) => tokenizer.encode(text, options));
  if (Array.isArray(pairs) && pairs.length !== texts.length) {
    refuse(`${texts.length} texts and ${pairs.length} pairs: give one second text for each`, C.FOVEA_E_OPTION);
  }
  return texts.map((text, i) => tokenizer.encode(text,
    { ...options, truncation, pair: Array.isArray(pairs) ? pairs[i] : pairs }));
}

/** Concatenates tokens; pads if all texts have one length. */
function joined(arrays, length, filler) {
  const lengths = arrays.map((array) => length ?? array.length);
  const all = new Int32Array(lengths.reduce((sum, n) => sum + n, 0)).fill(filler);
  let at = 0;
  arrays.forEach((array, i) => {
    all.set(array, at);
    at += lengths[i];
  });
  return all;
}

/** The lengths of segments in each input space. */
function segmentsOf(model, space, encodings) {
  const segments = new Map();
  const sentences = sentenceSpace(model, space);
  if (sentences !== null) {
    segments.set(sentences, encodings.map((encoding) => encoding.sentences.length));
    segments.set(space, encodings.flatMap((encoding) => [...encoding.sentences]));
  } else if (space.isInput) {
    segments.set(space, encodings.map((encoding) => encoding.length));
  } else {  // the model knows the lengths, and needs the number of texts
    const parent = model.spaces[space.parent];
    if (!parent?.isInput || parent.parent !== null) refuse(`space '${space.name}' takes no texts`, C.FOVEA_E_NAME);
    segments.set(parent, [encodings.length]);
  }
  return segments;
}

/** Limits that fit exactly these segments. */
function limitsOf(model, segments) {
  const limits = new Map();
  for (const [space, lengths] of segments) {
    const sum = lengths.reduce((all, n) => all + n, 0);
    const longest = lengths.reduce((most, n) => Math.max(most, n), 1);
    limits.set(space.name, [Math.max(1, sum), space.parent === null ? 0 : longest]);
  }
  for (const [space, lengths] of segments) {
    const parent = space.parent === null ? null : model.spaces[space.parent].name;
    if (parent !== null && !limits.has(parent)) limits.set(parent, [Math.max(1, lengths.length), 0]);
  }
  const kept = [0, 1].map((i) => [...limits.values()].reduce((most, bound) => Math.max(most, bound[i]), 1));
  for (const space of model.spaces) if (space.isCached) limits.set(space.name, kept);
  return Object.fromEntries(limits);
}

/** A session that has run over encodings, with its limits. */
export function ran(model, program, encodings, options = {}) {
  const ids = idInput(program), space = ids.space;
  const fixed = space.isInput ? null : space.maxSegmentRows;
  for (const { length } of encodings) {
    if (fixed !== null && length < fixed && tokenizerOf(model).padId < 0) {
      refuse(`the model takes ${fixed} tokens, and has no padding for ${length}`, C.FOVEA_E_LENGTH);
    }
  }
  const segments = segmentsOf(model, space, encodings);
  const limits = limitsOf(model, segments);
  const session = new Session(model, { ...options, program: program.name, limits });
  try {
    for (const [of, lengths] of segments) session.setSegments(of.name, lengths);
    for (const value of program.values) {
      if (value.role !== "input" || value.carriedBy !== null) continue;
      if (value === ids) {
        session.write(value.name, joined(encodings.map((e) => e.ids), fixed, model.tokenizer?.padId ?? 0));
      } else if (value.name === "token_type_ids" && value.space === space) {
        session.write(value.name, joined(encodings.map((e) => e.types), fixed, 0));
      } else {
        const usual = model.metadata[`default.${value.name}`];
        if (usual === undefined || value.space !== space || value.type !== "i32") {
          refuse(`input '${value.name}' of program '${program.name}' cannot be made of a text`, C.FOVEA_E_NAME);
        }
        const rows = fixed === null ? segments.get(space).reduce((all, n) => all + n, 0) : fixed * encodings.length;
        session.write(value.name, new Int32Array(rows * value.width).fill(Number(usual)));
      }
    }
    session.run();
  } catch (error) {
    session.close();
    throw error;
  }
  return { session, limits };
}

/** Calls `use` with a list of texts; returns its results, or the only one if a single text is given. */
export function each(texts, use) {
  if (!Array.isArray(texts)) return use([texts])[0];
  if (texts.length === 0) refuse("a text or a list of texts is needed");
  return use(texts);
}

/** Calls `use` with a session in which a program has run over texts, and with their encodings. */
export function computed(model, program, texts, { keep, taps, ...options }, use) {
  const encodings = encodingsOf(model, program, texts, options);
  const { session } = ran(model, program, encodings, { keep, taps });
  try {
    return use(session, encodings);
  } finally {
    session.close();
  }
}

/** Outputs, kept values and taps of a program over texts. */
export function run(model, texts, given) {
  const { program: name, keep = [], ...options } = optionsOf("run", given);
  model.open();
  const program = model.program(name), list = Array.isArray(texts) ? texts : [texts];
  if (list.length === 0) refuse("a text or a list of texts is needed");
  const kept = keep.filter((value) => model.value(program, value).role !== "output");
  const outputs = model.outputs(program);
  return computed(model, program, list, { ...options, keep: kept }, (session, encodings) => ({
    encodings,
    outputs: Object.fromEntries([...outputs, ...keep].map((output) => [output, session.output(output)])),
    attentionMaps: Object.fromEntries(session.taps.map((tap, i) => [tap.step, session.attentionMap(i)])),
  }));
}

/** Reports on the console what a call chose for its caller, once for each model. */
function announce(model, text) {
  if (model.announced.has(text)) return;
  model.announced.add(text);
  console.warn(`fovea: ${text}`);
}

/** The prompt of this name; undefined: the model's default prompt, which may be none; "": none. */
export function promptOf(model, name) {
  if (name === "") return "";
  const library = model.open();
  return library.within((blocks) => {
    const prompt = blocks.make(4), chosen = blocks.make(4);
    try {
      library.call("fovea_text_get_prompt", model.handle, name === undefined ? 0 : blocks.string(name), prompt, chosen);
    } catch (error) {
      if (error.status !== C.FOVEA_E_NAME) throw error;
      const known = Object.keys(model.metadata).filter((key) => key.startsWith("prompt.")).map((key) => key.slice(7));
      refuse(`the model has no prompt '${name ?? model.metadata.default_prompt}'` +
        `${meant(String(name), known) || ";"} there are: ${known.join(", ") || "none"}`, C.FOVEA_E_NAME);
    }
    const text = library.string(library.view.getUint32(prompt, true));
    if (name === undefined && text) {
      announce(model, `the model's default prompt is in front of each text: ${JSON.stringify(text)}; prompt: "" ` +
        "leaves it out");
    }
    return text;
  });
}

/** How the embedding of a text is read: of this output, or as the model states. */
function embeddingInfo(model, program, output) {
  if (output !== undefined) {
    const value = model.output(program, output);
    if (value) return resultInfo(model, program, value.name);
    const known = model.outputs(program);
    refuse(`'${output}' is not an output${meant(String(output), known) || ";"} there are: ${known.join(", ")}`,
      C.FOVEA_E_NAME);
  }
  const { task } = model.metadata;
  if (task === "causal-lm" || task === "seq2seq-lm") {
    refuse(`the model generates text (task ${task}), and has no embeddings; the option output chooses one of its ` +
      "outputs, and fovea convert --task embedding, for encoders --task encoder, converts it to a model of its " +
      "hidden states", C.FOVEA_E_NAME);
  }
  let info = resultInfo(model, program);
  if (info.kind === C.FOVEA_RESULT_WORD_WEIGHTS) return info;  // a weight for each token of the vocabulary
  if (info.kind === C.FOVEA_RESULT_ANSWERS) {
    refuse("the model answers questions, and has no embeddings: answer(question, context)", C.FOVEA_E_NAME);
  }
  if (info.kind !== C.FOVEA_RESULT_EMBEDDING) {
    const names = ["sentence_embedding", "pooler_output", "last_hidden_state"];
    info = resultInfo(model, program, names.find((known) => model.output(program, known)) ?? "logits");
  }
  const { name } = program.values[info.value];
  if (info.pooling !== C.FOVEA_POOLING_NONE) {
    announce(model, `the model has no embedding of a text: the mean of the rows of '${name}' is used; ` +
      `output: "${name}" chooses it without this warning`);
  } else if (name === "logits") {
    announce(model, "the model has no embedding, but scores of classes, output 'logits': these are used; " +
      "output: \"logits\" chooses them without this warning, and fovea convert --task embedding converts the model " +
      "without them");
  }
  return info;
}

/** For each text its embedding. */
export function embed(model, texts, given) {
  const { normalise = false, prompt, output, program: name, ...options } = optionsOf("embed", given);
  const before = promptOf(model, prompt), program = model.program(name);
  const info = { ...embeddingInfo(model, program, output), normalize: normalise ? 1 : 0 };
  return each(texts, (list) => computed(model, program, before ? list.map((text) => before + text) : list, options,
    (session) => readResults(session, info)));
}

/** Embeddings of texts, or embeddings as they are given. */
function rowsFor(model, one, options) {
  const list = Array.isArray(one) ? one : [one];
  const rows = list.length > 0 && list.every((row) => row instanceof Float32Array);
  return rows ? list : embed(model, list, options);
}

/** How similar texts or embeddings are: a number for two, for lists a row for each of `a`. */
export function similarity(model, a, b, given) {
  const { measure: name, ...options } = optionsOf("similarity", given);
  model.open();
  const measure = measureOf(model, model.program(options.program), name);
  const found = compared(model.library, measure, rowsFor(model, a, options), rowsFor(model, b, options));
  return Array.isArray(a) || Array.isArray(b) ? found : found[0][0];
}

/** For each text its classes, the most probable first. */
export function classify(model, texts, given) {
  const { program: name, top, ...options } = optionsOf("classify", given);
  model.open();
  const program = model.program(name), info = classesInfo(model, program);
  return each(texts, (list) => computed(model, program, list, options, (session) => classesIn(session, info, top)));
}

/** Classes of a text, and which sentences and words decided. */
export function explain(model, texts, given) {
  const { program: name, top, ...options } = optionsOf("explain", given);
  model.open();
  const program = model.program(name), info = classesInfo(model, program), { space } = idInput(program);
  const { taps, ...levels } = levelsOf(model, program, space, sentenceSpace(model, space));
  if (taps.length === 0) {
    announce(model, `the model names no attention that explains its classes (metadata explain.${space.name}), so ` +
      "sentences have no shares and there are no words; run(text, { taps }) records any attention map");
  }
  return each(texts, (list) => computed(model, program, list, { ...options, taps }, (session, encodings) => {
    const classes = classesIn(session, info, top);
    return explanationOf(session, levels, encodings).map((why, i) => ({ classes: classes[i], ...why }));
  }));
}
