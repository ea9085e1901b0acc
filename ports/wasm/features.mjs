// Task feature-extraction: hidden states or pooled embeddings as a tensor.
import { constants as C } from "./declarations.mjs";
import { refuse } from "./errors.mjs";
import { meant } from "./options.mjs";
import { computed } from "./predict.mjs";
import { readResults, rowsInfo } from "./results.mjs";
import { Tensor } from "./tensor.mjs";

const POOLING = ["none", "mean", "cls", "first_token", "eos", "last_token", "model"];

/** The last hidden states: an output, or a value that can be kept; null if there is none. */
function statesOf(program) {
  const tokens = program.values.filter((value) => value.space.parent !== null && value.type === "f32");
  const outputs = tokens.filter((value) => value.role === "output");
  const named = tokens.find((value) => value.name === "last_hidden_state") ?? outputs[0];
  if (named) return named;
  const number = ({ name }) => Number(/^hidden_states\.(\d+)$/.exec(name)?.[1] ?? -1);
  const last = tokens.reduce((most, value) => (most && number(most) >= number(value) ? most : value), null);
  return last && number(last) >= 0 ? last : null;
}

/**
 * [texts, tokens, width], or with pooling [texts, width]. Nothing is padded here: rows behind a shorter text's end are
 * zeros.
 */
export function extract(model, texts, { pooling = "none", normalize = false }) {
  if (!POOLING.includes(pooling)) {
    refuse(`pooling '${pooling}'${meant(String(pooling), POOLING) || ":"} one of ${POOLING.join(", ")} is needed`,
      C.FOVEA_E_OPTION);
  }
  const list = Array.isArray(texts) ? texts : [texts];
  if (list.length === 0 || list.some((text) => typeof text !== "string")) {
    refuse("feature-extraction: a text or a list of texts is needed");
  }
  const program = model.program(), states = pooling === "model" ? null : statesOf(program);
  if (states === null) {
    if (pooling !== "model") {
      refuse(`the model has no hidden states of tokens, so there is no pooling '${pooling}'; its own embedding is ` +
        "pooling 'model'", C.FOVEA_E_NAME);
    }
    const rows = model.embed(list, { normalise: normalize });
    return new Tensor("float32", Float32Array.from(rows.flatMap((row) => [...row])), [list.length, rows[0].length]);
  }
  const keep = states.role === "output" ? [] : [states.name], { width } = states;
  const mean = pooling === "mean" ? C.FOVEA_POOLING_MEAN : C.FOVEA_POOLING_NONE;
  return computed(model, program, list, { keep }, (session) => {
    const offsets = session.offsets(states.space.name);
    if (offsets.length !== list.length + 1) {
      refuse(`the model's hidden states '${states.name}' are those of sentences; its own embedding is pooling 'model'`,
        C.FOVEA_E_NAME);
    }
    const rows = readResults(session, rowsInfo(program, states, mean, normalize));
    if (pooling === "none") {
      const most = Math.max(...list.map((_, i) => offsets[i + 1] - offsets[i]));
      const all = new Float32Array(list.length * most * width);
      list.forEach((_, i) => rows.slice(offsets[i], offsets[i + 1]).forEach((row, place) =>
        all.set(row, (i * most + place) * width)));
      return new Tensor("float32", all, [list.length, most, width]);
    }
    const first = /^(cls|first_token)$/.test(pooling), all = new Float32Array(list.length * width);
    list.forEach((_, i) => {
      if (pooling === "mean") all.set(rows[i], i * width);
      else if (offsets[i] < offsets[i + 1]) all.set(rows[first ? offsets[i] : offsets[i + 1] - 1], i * width);
    });
    return new Tensor("float32", all, [list.length, width]);
  });
}
