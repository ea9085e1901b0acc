// Task text-generation: whole texts, and texts piece by piece.
import { constants as C } from "./declarations.mjs";
import { refuse } from "./errors.mjs";

const USUAL_NEW_TOKENS = 256;  // transformers.js' default

/** Options of Model.generate. Without do_sample the best token is taken, as in transformers.js. */
function generationOptions(options) {
  const { max_new_tokens: maxTokens = USUAL_NEW_TOKENS, do_sample: sample = false, temperature = 1, top_k: topK = 50,
    top_p: topP, min_p: minP, repetition_penalty: repetitionPenalty, seed } = options;
  const given = { repetitionPenalty };
  if (sample) {
    Object.assign(given, { temperature, topK, topP, minP, seed: seed ?? Math.floor(Math.random() * 2 ** 32) });
  } else {
    const idle = ["temperature", "top_k", "top_p", "min_p", "seed"].filter((name) => name in options);
    if (idle.length) {
      refuse(`text-generation: ${idle.join(", ")} need${idle.length === 1 ? "s" : ""} do_sample: true`,
        C.FOVEA_E_OPTION);
    }
  }
  return { maxTokens, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) };
}

const isChat = (texts) => Array.isArray(texts) && texts.some((one) => one !== null && typeof one === "object");

function checkText(text) {
  if (isChat(text)) {
    refuse("text-generation: chats need the model's chat template, which this package cannot evaluate; give the text " +
      "that it makes, as 'fovea generate --chat' does", C.FOVEA_E_BUILD);
  }
  if (typeof text !== "string") refuse("text-generation: a text or a list of texts is needed");
}

/** Lets the page paint and other events happen. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 0));

/** Steps of a text: { token, text, ended }. */
export async function* streamed(model, text, options) {
  checkText(text);
  const { signal } = options;
  const generation = model.generate(text, generationOptions(options));
  try {
    for (let step = generation.next(); !step.done; step = generation.next()) {
      yield step.value;
      await pause();
      signal?.throwIfAborted();
    }
  } finally {
    generation.close();
  }
}

/** [{ generated_text }], for a list of texts a list of these. */
export async function continued(model, texts, options) {
  const { return_full_text: full = true, streamer } = options;
  const list = Array.isArray(texts) ? texts : [texts];
  if (isChat(texts)) checkText(texts);
  if (list.length === 0) refuse("text-generation: a text or a list of texts is needed");
  list.forEach(checkText);
  if (streamer !== undefined && (typeof streamer?.put !== "function" || typeof streamer?.end !== "function")) {
    refuse("streamer: a TextStreamer, or an object with put and end, is needed", C.FOVEA_E_OPTION);
  }
  if (streamer !== undefined && list.length > 1) refuse("a streamer shows one text at a time", C.FOVEA_E_OPTION);
  const encoder = Boolean(model.generatePrograms?.encode);
  const all = [];
  for (const text of list) {
    let made = "";
    if (streamer && !encoder) streamer.put([Array.from(model.tokenizer.encode(text).ids, BigInt)]);
    for await (const step of streamed(model, text, options)) {
      made += step.text;
      if (streamer instanceof TextStreamer) streamer.step(step);
      else streamer?.put([[BigInt(step.token)]]);
    }
    streamer?.end();
    all.push([{ generated_text: full && !encoder ? text + made : made }]);
  }
  return Array.isArray(texts) ? all : all[0];
}

/** Calls `callback_function` with each piece of text, as transformers.js does. */
export class TextStreamer {
  #prompt = true;

  constructor(tokenizer, { skip_prompt: skip = false, callback_function: show, token_callback_function: showToken,
    ...rest } = {}) {
    const unknown = Object.keys(rest).filter((name) => name !== "skip_special_tokens");  // they are never in the text
    if (unknown.length) refuse(`TextStreamer: no option '${unknown[0]}'`, C.FOVEA_E_OPTION);
    this.tokenizer = tokenizer;
    this.skip = skip;
    this.show = show ?? ((text) => (globalThis.process?.stdout ? process.stdout.write(text) : console.log(text)));
    this.showToken = showToken;
  }

  /** The prompt's tokens. */
  put([tokens]) {
    if (this.#prompt && !this.skip) this.show(this.tokenizer.decode(tokens.map(Number)));
    this.#prompt = false;
  }

  step({ token, text }) {
    this.showToken?.([BigInt(token)]);
    if (text !== "") this.show(text);
  }

  end() {
    this.#prompt = true;
  }
}
