// Answers to questions as spans of a context, and weights of the vocabulary (SPLADE).
import { constants as C } from "./declarations.mjs";
import { refuse } from "./errors.mjs";
import { optionsOf } from "./options.mjs";
import { computed, each, idInput, promptOf, ran, sentenceSpace, tokenizerOf } from "./predict.mjs";
import { ranked, readResults, resultInfo } from "./results.mjs";
import { shownValue } from "./shown.mjs";
import { Encoding, warnSpelled } from "./text.mjs";

const LENGTH = 384, STRIDE = 128;  // as in the original
const WINDOWS = 16;  // most in a run

/** Fills a fovea_text_tokens with the tokens of an encoding. */
function setTokens(blocks, struct, { ids, types, special, ranges, textTokens }) {
  const fields = { capacity: ids.length, count: ids.length, ids: blocks.copy(ids), types: blocks.copy(types),
    special: blocks.copy(special), ranges: blocks.copy(ranges) };
  for (const [field, value] of Object.entries(fields)) struct.set(field, value);
  textTokens.forEach((count, i) => struct.set("text_tokens", count, i));
}

/** The second text of a pair in parts, each with the first. */
function windowsOf(library, pair, limit, stride) {
  return library.within((blocks) => {
    const given = blocks.struct("fovea_text_tokens");
    setTokens(blocks, given, pair);
    const room = Math.min(limit, pair.length), found = [];
    const arrays = { ids: blocks.make(4 * room), types: blocks.make(4 * room), special: blocks.make(room),
      ranges: blocks.make(8 * room) };
    const made = blocks.struct("fovea_text_tokens", { capacity: room, ...arrays });
    do {
      try {
        library.call("fovea_result_get_window", given.address, limit, stride, found.length, made.address);
      } catch (error) {
        if (error.status !== C.FOVEA_E_LENGTH) throw error;
        refuse(`the question leaves no more than the ${stride} tokens that neighbouring parts of the context share ` +
          `of the ${limit} that are read at once: shorten it, or give a smaller stride or a larger maxLength`,
        C.FOVEA_E_LENGTH);
      }
      const count = made.get("count");
      found.push(new Encoding(pair.text, pair.pair, pair.bytes, {
        ids: library.numbers(Int32Array, arrays.ids, count), types: library.numbers(Int32Array, arrays.types, count),
        special: library.numbers(Uint8Array, arrays.special, count),
        ranges: library.numbers(Uint32Array, arrays.ranges, 2 * count), uncut: pair.uncut, textTokens: pair.textTokens,
      }));
    } while (found.length < made.get("windows"));
    return found;
  });
}

/** The scores of each token of windows: an answer starts there, ends there. */
function scoresOf(model, program, info, windows) {
  const { session } = ran(model, program, windows), rows = [];
  try {
    const all = readResults(session, info), { space } = idInput(program);
    const fixed = space.isInput ? null : space.maxSegmentRows;
    let first = 0;
    for (const { length } of windows) {
      rows.push(...all.slice(first, first + length));
      first += fixed ?? length;  // behind a window's end is padding
    }
  } finally {
    session.close();
  }
  return rows;
}

function answersIn(model, windows, scores, bytes, { top, maxTokens, allowNone }) {
  const { library } = model;
  return library.within((blocks) => {
    const listed = blocks.structs("fovea_text_tokens", windows.length,
      (struct, i) => setTokens(blocks, struct, windows[i]));
    const options = blocks.struct("fovea_answer_options",
      { top, max_tokens: maxTokens, allow_none: allowNone ? 1 : 0 }).address;
    const room = windows.length * top + 1, found = blocks.make(room * library.sizeOf("fovea_answer"));
    const count = blocks.make(8);
    library.call("fovea_result_get_answers", model.handle, listed, windows.length,
      blocks.copy(Float32Array.from(scores.flatMap((row) => [...row]))), blocks.copy(bytes) || blocks.make(1),
      bytes.length, options, found, room, count);
    return library.list("fovea_answer", found, library.view.getUint32(count, true));
  });
}

function whole(name, value, least) {
  return Number.isInteger(value) && value >= least && value <= 0xffffffff ? value : refuse(
    `${name} is ${shownValue(value)}: a whole number of at least ${least} is needed`, C.FOVEA_E_OPTION);
}

/** The best answers to a question in a context of any length, the best first. */
export function answer(model, question, context, given) {
  const { program: name, top = 1, maxTokens = 15, allowNone = false, maxLength = 0, stride, literal = false } =
    optionsOf("answer", given);
  model.open();
  const program = model.program(name), info = resultInfo(model, program);
  if (info.kind !== C.FOVEA_RESULT_ANSWERS) {
    refuse(`the model does not answer questions, its task is ${model.metadata.task}; one whose class in config.json ` +
      "ends with ForQuestionAnswering does", C.FOVEA_E_NAME);
  }
  const { space } = idInput(program), tokenizer = tokenizerOf(model);
  if (sentenceSpace(model, space)) refuse("the model reads documents, not a question and a context", C.FOVEA_E_NAME);
  const bounds = [whole("maxLength", maxLength, 0) || LENGTH, space.maxSegmentRows ?? 0, tokenizer.maxLength];
  const limit = Math.min(...bounds.filter((bound) => bound !== 0));
  const shared = stride === undefined ? Math.min(limit >> 1, STRIDE) : whole("stride", stride, 0);
  const rules = { top: whole("top", top, 1), maxTokens: whole("maxTokens", maxTokens, 1), allowNone };
  const pair = tokenizer.encode(question, { pair: context, whole: true, literal });
  warnSpelled(pair);
  const windows = windowsOf(model.library, pair, limit, shared), scores = [];
  for (let i = 0; i < windows.length; i += WINDOWS) {
    scores.push(...scoresOf(model, program, info, windows.slice(i, i + WINDOWS)));
  }
  const bytes = new TextEncoder().encode(context), places = new Encoding(context, null, bytes, {});
  return answersIn(model, windows, scores, bytes, rules).map(({ score, begin, end }) => {
    const span = places.span(begin, end);
    return { text: context.slice(...span), score, begin: span[0], end: span[1] };
  });
}

/** How weights are read: as the model was published, of any other masked language model as in SPLADE. */
function weightsInfo(model, program) {
  const info = resultInfo(model, program), { space } = idInput(program);
  if (info.kind === C.FOVEA_RESULT_WORDS) {
    Object.assign(info, { pooling: C.FOVEA_POOLING_MAX, activation: C.FOVEA_ACTIVATION_LOG1P });
  } else if (info.kind !== C.FOVEA_RESULT_WORD_WEIGHTS) {
    refuse("the model is not a masked language model, so it has no weights of words", C.FOVEA_E_NAME);
  }
  if (!space.isInput) {
    refuse("the model reads texts of one length, whose padding would have weights: use fovea run --sparse",
      C.FOVEA_E_NAME);
  }
  return info;
}

/** For each text the tokens of the vocabulary whose weights are not 0, the largest first. */
export function wordWeights(model, texts, given) {
  const { program: name, top = 0xffffffff, prompt, ...options } = optionsOf("wordWeights", given);
  const most = whole("top", top, 1), before = promptOf(model, prompt), program = model.program(name);
  const info = weightsInfo(model, program), { library } = model;
  return each(texts, (list) => computed(model, program, before ? list.map((text) => before + text) : list, options,
    (session) => readResults(session, info).map((row) => {
      const some = row.reduce((count, weight) => count + (weight === 0 ? 0 : 1), 0);
      const [order] = ranked(library, [row], Math.min(most, some));
      return Array.from(order, (id) => ({ token: tokenizerOf(model).piece(id), id, weight: row[id] }));
    })));
}
