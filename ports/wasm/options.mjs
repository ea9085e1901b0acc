// Options of every call: an option that does not exist is refused, with the one that was probably meant.
import { constants } from "./declarations.mjs";
import { refuse } from "./errors.mjs";

const TEXT = ["program", "maxLength", "wrapped", "literal", "pairs", "truncation"];
const SOURCE = ["progress", "cache", "signal"];
const SAMPLING = ["temperature", "topK", "topP", "minP", "repetitionPenalty", "presencePenalty", "seed"];

/** fovea.d.ts, measure.d.ts and pipeline.d.ts declare these, and tests/ports/wasm/declared.py compares. */
export const OPTIONS = {
  open: ["wasm", "verify", "workers", ...SOURCE],
  load: SOURCE,
  encode: ["pair", "truncation", "maxLength", "document", "wrapped", "whole", "literal"],
  decode: ["keepSpecial"],
  run: [...TEXT, "keep", "taps"],
  classify: [...TEXT, "top"],
  explain: ["program", "maxLength", "wrapped", "literal", "top"],
  embed: [...TEXT, "normalise", "prompt", "output"],
  wordWeights: [...TEXT, "prompt", "top"],
  answer: ["program", "maxLength", "top", "maxTokens", "allowNone", "stride", "literal"],
  similarity: [...TEXT, "prompt", "output", "measure"],
  generate: ["maxTokens", "maxLength", "literal", ...SAMPLING],
  session: ["program", "limits", "rows", "keep", "taps", "linked", "cachedTexts"],
  tap: ["step", "form", "rows", "reduce", "heads", "what"],
  measure: ["name", "program", "rows", "seconds", "mapSeconds", "system", "processor", "hardwareThreads", "wasm",
    "workers"],
  pipeline: ["progress_callback", "cache", "signal", "wasm", "workers", "verify"],
  "feature-extraction": ["pooling", "normalize"],
  "text-classification": ["top_k"],
  "zero-shot-classification": ["hypothesis_template", "multi_label"],
  "text-generation": ["max_new_tokens", "do_sample", "temperature", "top_k", "top_p", "min_p", "repetition_penalty",
    "return_full_text", "streamer", "signal", "seed"],
  "automatic-speech-recognition": ["return_timestamps", "max_new_tokens", "sampling_rate"],
};

/** Edits (insertions, deletions, replacements, swaps of neighbours) from one word to another. */
function distance(from, to) {
  const rows = [Array.from({ length: to.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= from.length; ++i) {
    rows.push([i]);
    for (let j = 1; j <= to.length; ++j) {
      const same = from[i - 1] === to[j - 1] ? 0 : 1;
      let least = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + same);
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        least = Math.min(least, rows[i - 2][j - 2] + 1);
      }
      rows[i].push(least);
    }
  }
  return rows[from.length][to.length];
}

const plain = (name) => name.toLowerCase().replace(/[-_ ]/g, "").replace(/ize/, "ise");

/** ": did you mean 'x'?" for the most similar name, or nothing. */
export function meant(name, known) {
  const scored = known.map((other) => [distance(plain(name), plain(other)), other]).sort((a, b) => a[0] - b[0]);
  const near = scored.filter(([edits, other]) => edits <= Math.max(1, Math.min(3, Math.floor(other.length / 3))));
  return near.length ? `: did you mean '${near[0][1]}'?` : "";
}

/** The options of a call; refuses unknown ones and anything that is not an object. `call`: a key of OPTIONS. */
export function optionsOf(call, given, shown = call) {
  if (given === undefined) return {};
  if (given === null || typeof given !== "object" || Array.isArray(given)) {
    refuse(`${shown}: options are an object, not ${given === null ? "null" : Array.isArray(given) ? "an array" :
      `${typeof given} ${String(given).slice(0, 40)}`}`, constants.FOVEA_E_OPTION);
  }
  const known = OPTIONS[call], unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    refuse(`${shown}: no option '${unknown}'${meant(unknown, known) || `; there are: ${known.join(", ")}`}`,
      constants.FOVEA_E_OPTION);
  }
  return given;
}
