// Predictions for texts: outputs, embeddings, classes.
import { constants as C } from "./declarations.mjs";
import { explanationOf, levelsOf } from "./explain.mjs";
import { refuse } from "./errors.mjs";
import { optionsOf } from "./options.mjs";
import { classesOf, meanOf } from "./results.mjs";
import { Session } from "./session.mjs";

/** The input of token ids. */
function idInput(program) {
  const inputs = program.values.filter((value) => value.role === "input");
  return inputs.find((value) => value.name === "input_ids") ?? inputs.find((value) => value.type === "i32") ??
    refuse(`program '${program.name}' does not take token ids`, C.FOVEA_E_NAME);
}

/** The space whose rows are the sentences of documents, if tokens nest in one; else null. */
function sentenceSpace(model, space) {
  const parent = space.parent === null ? null : model.spaces[space.parent];
  return parent !== null && parent.isInput && parent.parent !== null ? parent : null;
}

const tokenizerOf = (model) => model.tokenizer ?? refuse("the model has no tokenizer", C.FOVEA_E_SECTION);

/** Encodings of texts in the form that a program reads: at once, or sentence by sentence. */
export function encodingsOf(model, program, texts, { maxLength = 0, wrapped = false, pairs, truncation } = {}) {
  const tokenizer = tokenizerOf(model), space = idInput(program).space;
  const bounds = [maxLength, space.maxSegmentRows ?? 0, tokenizer.maxLength].filter((bound) => bound !== 0);
  const options = { maxLength: bounds.length ? Math.min(...bounds) : 0 };
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
function each(texts, use) {
  if (!Array.isArray(texts)) return use([texts])[0];
  if (texts.length === 0) refuse("a text or a list of texts is needed");
  return use(texts);
}

/** Outputs, kept values and taps of a program over texts. */
export function run(model, texts, given) {
  const { program: name, keep = [], taps = [], ...options } = optionsOf("run", given);
  model.open();
  const program = model.program(name), list = Array.isArray(texts) ? texts : [texts];
  if (list.length === 0) refuse("a text or a list of texts is needed");
  const encodings = encodingsOf(model, program, list, options);
  const kept = keep.filter((value) => model.value(program, value).role !== "output");
  const { session } = ran(model, program, encodings, { keep: kept, taps });
  try {
    const outputs = program.values.filter((value) => value.role === "output").map((value) => value.name);
    return {
      encodings,
      outputs: Object.fromEntries([...outputs, ...keep].map((output) => [output, session.output(output)])),
      attentionMaps: Object.fromEntries(session.taps.map((tap, i) => [tap.step, session.attentionMap(i)])),
    };
  } finally {
    session.close();
  }
}

/** The prompt of this name; undefined: the model's default prompt, which may be none; "": none. */
function promptOf(model, name = model.metadata.default_prompt) {
  if (!name) return "";
  return model.metadata[`prompt.${name}`] ?? refuse(`the model has no prompt '${name}'`, C.FOVEA_E_NAME);
}

/** For each text its embedding: the model's, or else the mean of its last hidden states. */
export function embed(model, texts, given) {
  const { normalise = false, prompt, ...options } = optionsOf("embed", given);
  const before = promptOf(model, prompt);
  return each(texts, (list) => {
    const { outputs } = run(model, before ? list.map((text) => before + text) : list, options);
    const names = Object.keys(outputs), whole = names.filter((name) => outputs[name].offsets === null);
    const name = ["sentence_embedding", "pooler_output"].find((known) => whole.includes(known)) ?? whole[0] ??
      (names.includes("last_hidden_state") ? "last_hidden_state" : names[0]);
    const { data, width, offsets } = outputs[name];
    return list.map((_, i) => {
      const [first, end] = offsets === null ? [i, i + 1] : [offsets[i], offsets[i + 1]];
      return meanOf(data, width, first, end, normalise);
    });
  });
}

function classesFrom(model, session, top) {
  const { rows, width, data, offsets } = session.output("logits");
  if (offsets !== null) refuse("the program has no output for a text as a whole", C.FOVEA_E_NAME);
  return Array.from({ length: rows }, (_, i) => classesOf(model, data.subarray(i * width, (i + 1) * width), top));
}

/** For each text its classes, the most probable first, and with `taps` the result of `use` for the session. */
function classified(model, texts, { program: name, top, ...options }, taps, use) {
  model.open();
  const program = model.program(name);
  model.value(program, "logits");
  return each(texts, (list) => {
    const encodings = encodingsOf(model, program, list, options);
    const { session } = ran(model, program, encodings, { taps: taps(program) });
    try {
      return use(session, classesFrom(model, session, top), encodings, program);
    } finally {
      session.close();
    }
  });
}

export function classify(model, texts, options) {
  return classified(model, texts, optionsOf("classify", options), () => [], (_, classes) => classes);
}

/** Classes of a text, and which sentences and words decided. */
export function explain(model, text, given) {
  const options = optionsOf("explain", given);
  const levels = (program) => {
    const space = idInput(program).space;
    return levelsOf(model, program, space, sentenceSpace(model, space));
  };
  return classified(model, text, options, (program) => levels(program).taps, (session, classes, encodings, program) =>
    explanationOf(session, levels(program), encodings).map((why, i) => ({ classes: classes[i], ...why })));
}
