// Task feature-extraction: hidden states or pooled embeddings as a tensor.
import { constants as C } from "./declarations.mjs";
import { refuse } from "./errors.mjs";
import { meant } from "./options.mjs";
import { meanOf } from "./results.mjs";
import { Tensor } from "./tensor.mjs";

const POOLING = ["none", "mean", "cls", "first_token", "eos", "last_token", "model"];

/** The name of the last hidden states: an output, or a value that can be kept; null if there is none. */
function statesOf(model, program) {
  const tokens = program.values.filter((value) => value.space.parent !== null && value.type !== "i32");
  const outputs = tokens.filter((value) => value.role === "output");
  const named = tokens.find((value) => value.name === "last_hidden_state");
  if (named ?? outputs[0]) return (named ?? outputs[0]).name;
  const numbered = tokens.map((value) => /^hidden_states\.(\d+)$/.exec(value.name)).filter(Boolean);
  const last = numbered.reduce((most, match) => (most && Number(most[1]) > Number(match[1]) ? most : match), null);
  return last?.[0] ?? null;
}

function normalised(data, width) {
  for (let row = 0; width * row < data.length; ++row) data.set(meanOf(data, width, row, row + 1, true), width * row);
  return data;
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
  const program = model.program(), name = pooling === "model" ? null : statesOf(model, program);
  if (name === null) {
    if (pooling !== "model") {
      refuse(`the model has no hidden states of tokens, so there is no pooling '${pooling}'; its own embedding is ` +
        "pooling 'model'", C.FOVEA_E_NAME);
    }
    const rows = model.embed(list, { normalise: normalize });
    return new Tensor("float32", Float32Array.from(rows.flatMap((row) => [...row])), [list.length, rows[0].length]);
  }
  const { outputs } = model.run(list, { keep: [name] });
  const { data, width, offsets } = outputs[name];
  if (offsets.length !== list.length + 1) {
    refuse(`the model's hidden states '${name}' are those of sentences; its own embedding is pooling 'model'`,
      C.FOVEA_E_NAME);
  }
  const lengths = list.map((_, i) => offsets[i + 1] - offsets[i]);
  if (pooling === "none") {
    const most = Math.max(...lengths), all = new Float32Array(list.length * most * width);
    list.forEach((_, i) => all.set(data.subarray(offsets[i] * width, offsets[i + 1] * width), i * most * width));
    return new Tensor("float32", normalize ? normalised(all, width) : all, [list.length, most, width]);
  }
  const all = new Float32Array(list.length * width);
  list.forEach((_, i) => {
    const [first, end] = [offsets[i], offsets[i + 1]];
    const [from, to] = pooling === "mean" ? [first, end] : /^(cls|first_token)$/.test(pooling) ? [first, first + 1] :
      [end - 1, end];
    all.set(meanOf(data, width, from, to, normalize), i * width);
  });
  return new Tensor("float32", all, [list.length, width]);
}
