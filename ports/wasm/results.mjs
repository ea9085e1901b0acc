// From the outputs of a run to results, by the library (fovea/result.h).
import { constants as C } from "./declarations.mjs";
import { refuse } from "./errors.mjs";
import { meant } from "./options.mjs";
import { shownValue } from "./shown.mjs";

/** How results of a program are read, fields of fovea_result_info: as the model states, or `output` as embeddings. */
export function resultInfo(model, program, output = null) {
  const library = model.open();
  return library.within((blocks) => library.info("fovea_result_get_info", "fovea_result_info", model.handle,
    program.index, output === null ? 0 : blocks.string(output)));
}

/** How rows of a value are read, or with `pooling` the mean row of each text; with `normalize` of length 1. */
export const rowsInfo = (program, value, pooling, normalize) => ({
  program: program.index, kind: C.FOVEA_RESULT_EMBEDDING, value: value.index, width: value.width, pooling,
  activation: C.FOVEA_ACTIVATION_NONE, normalize: normalize ? 1 : 0,
});

/** All results of a session's last run, each a Float32Array. */
export function readResults(session, info) {
  const library = session.open();
  return library.within((blocks) => {
    const about = blocks.struct("fovea_result_info", info).address, at = blocks.make(4);
    library.call("fovea_result_get_count", session.handle, about, at);
    const count = library.view.getUint32(at, true), size = count * info.width;
    const rows = blocks.make(4 * size);
    library.call("fovea_result_read", session.handle, about, 0, count, rows, size);
    return Array.from({ length: count }, (_, i) =>
      library.numbers(Float32Array, rows + 4 * info.width * i, info.width));
  });
}

/** Scores with an activation (FOVEA_ACTIVATION_...) applied. */
export function activated(library, activation, scores) {
  return library.within((blocks) => {
    const at = blocks.copy(Float32Array.from(scores));
    library.call("fovea_result_activate", activation, at, scores.length);
    return library.numbers(Float32Array, at, scores.length);
  });
}

/** For each row of scores the indices of its `top` largest, the largest first. */
export function ranked(library, rows, top) {
  return library.within((blocks) => {
    const width = rows.length === 0 ? 0 : rows[0].length, at = blocks.make(4 * width);
    const indices = blocks.make(4 * Math.min(top, width));
    return rows.map((row) => {
      library.bytes(at, 4 * width).set(new Uint8Array(row.buffer, row.byteOffset, 4 * width));
      const count = library.call("fovea_result_rank", at, width, Math.min(top, width), indices);
      return library.numbers(Uint32Array, indices, count);
    });
  });
}

/** Whether scores are presented as numbers: a single score, or a regression. */
const areNumbers = ({ width, activation }) => width === 1 || activation === C.FOVEA_ACTIVATION_NONE;

/** How classes of texts are read; refuses if a program has no scores of classes. */
export function classesInfo(model, program) {
  const logits = model.output(program, "logits") ?? refuse(`program '${program.name}' has no output 'logits', the ` +
    `scores of classes; its outputs are: ${model.outputs(program).join(", ")}`, C.FOVEA_E_NAME);
  if (logits.space.parent !== null) {
    refuse("the program has no output for a text as a whole: it has scores for each token", C.FOVEA_E_NAME);
  }
  const info = resultInfo(model, program);
  if (info.kind === C.FOVEA_RESULT_CLASSES) return info;
  return refuse(`the model's results are not classes: its task is ${model.metadata.task}`, C.FOVEA_E_NAME);
}

/** Classes of the texts of a run, the most probable first; numbers in their order. */
export function classesIn(session, info, top = info.width) {
  if (!Number.isInteger(top) || top < 1) {
    refuse(`top is ${shownValue(top)}: a whole number above 0 is needed`, C.FOVEA_E_OPTION);
  }
  const { model } = session, numbers = areNumbers(info), scores = readResults(session, info);
  const logits = readResults(session, { ...info, activation: C.FOVEA_ACTIVATION_NONE });
  const order = numbers ? scores.map((row) => row.keys()) : ranked(model.library, scores, top);
  return scores.map((row, text) => Array.from(order[text], (i) => ({
    label: model.label(i), probability: numbers ? null : row[i], score: row[i], logit: logits[text][i], index: i })));
}

const MEASURES = ["cosine", "dot", "euclidean", "manhattan"];  // by fovea_measure

/** The number of a measure; undefined: the one that the model was trained for. */
export function measureOf(model, program, measure) {
  if (measure !== undefined) {
    const found = MEASURES.indexOf(measure);
    return found >= 0 ? found : refuse(`measure ${shownValue(measure)}${meant(String(measure), MEASURES) || ":"} ` +
      `one of ${MEASURES.join(", ")} is needed`, C.FOVEA_E_OPTION);
  }
  const found = resultInfo(model, program, model.outputs(program)[0]).measure;  // the same for every output
  return found < MEASURES.length ? found : refuse("the model compares texts token by token (late interaction): use " +
    "the command fovea similarity", C.FOVEA_E_BUILD);
}

/** For each row of `a` a Float64Array: how similar each row of `b` is. */
export function compared(library, measure, a, b) {
  const width = a[0]?.length ?? 0, wrong = [...a, ...b].find((row) => row.length !== width);
  if (wrong) refuse(`embeddings of ${width} and ${wrong.length} numbers cannot be compared`);
  return library.within((blocks) => {
    const [ofA, ofB] = [a, b].map((rows) => rows.map((row) => blocks.copy(Float32Array.from(row))));
    return ofA.map((at) => Float64Array.from(ofB, (other) =>
      library.call("fovea_result_similarity", measure, at, 1, other, 1, width)));
  });
}
