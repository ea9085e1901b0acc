// Generates a text with a decoder, one token at a time.
import { constants as C } from "./declarations.mjs";
import { refuse } from "./errors.mjs";
import { Blocks } from "./library.mjs";
import { optionsOf } from "./options.mjs";
import { encodingsOf, ran } from "./predict.mjs";
import { Session } from "./session.mjs";
import { counted, quoted, shownAs, shownValue } from "./shown.mjs";

const USUAL_NEW_TOKENS = 512;  // if neither the caller nor the model limits them
const PROMPT_ROWS = 512;  // prefill: most rows of a prompt per run
const ENDS = {
  [C.FOVEA_END_NOT]: null, [C.FOVEA_END_STOP]: "stop", [C.FOVEA_END_LIMIT]: "limit", [C.FOVEA_END_FULL]: "full",
};
const DRAWING = ["topK", "topP", "minP", "seed"];
const SAMPLING = {
  temperature: "temperature", topK: "top_k", topP: "top_p", minP: "min_p", repetitionPenalty: "repetition_penalty",
  presencePenalty: "presence_penalty", seed: "seed",
};

/** Refuses a wrong number of tokens; reports options that greedy search does not use. */
function checkNumbers(maxTokens, sampling) {
  if (!Number.isInteger(maxTokens) || maxTokens < 0 || maxTokens >= 2 ** 31) {
    refuse(`maxTokens is ${shownValue(maxTokens)}: a whole number is needed, 0 for the model's limit`,
      C.FOVEA_E_OPTION);
  }
  const idle = sampling.temperature ? [] : DRAWING.filter((name) => sampling[name]);
  if (idle.length) {
    console.warn(`fovea: without a temperature above 0 the best token is taken; ignored: ${idle.join(", ")}`);
  }
}

/** Limits of a decoder with a KV cache: `context` tokens per text, `rows` new ones per run. */
function keptLimits(model, space, rows, context) {
  const longest = Math.min(context, space.maxSegmentRows ?? context);
  const limits = { [space.name]: Math.max(1, Math.min(rows, PROMPT_ROWS)) };
  if (space.parent !== null) limits[model.spaces[space.parent].name] = 1;
  for (const other of model.spaces) if (other.isCached) limits[other.name] = [longest, longest];
  return limits;
}

/** The most tokens of a text with its prompt. */
function trainedFor(model, space) {
  const bounds = [space.maxSegmentRows ?? 0, model.tokenizer?.maxLength ?? 0].filter((bound) => bound !== 0);
  return bounds.length ? Math.min(...bounds) : 2 ** 31 - 1;
}

/** A whole prompt; a prompt that is too long is refused. */
function promptOf(model, space, text, literal) {
  const tokenizer = model.tokenizer ?? refuse("the model has no tokenizer", C.FOVEA_E_SECTION);
  const encoding = tokenizer.encode(text, { whole: true, literal }), most = trainedFor(model, space);
  if (encoding.length === 0) {
    refuse("a prompt is empty, and the tokenizer adds no token before a text", C.FOVEA_E_LENGTH);
  }
  if (encoding.length > most) {
    refuse(`a prompt has ${encoding.length} tokens, texts have ${most} at most: give a shorter one, or maxLength to ` +
      "keep its beginning only", C.FOVEA_E_LENGTH);
  }
  return encoding;
}

function linkedInputs(model, program) {
  const library = model.open();
  return library.within((blocks) => {
    const inputs = blocks.make(4 * 256), count = blocks.make(4);
    library.call("fovea_generate_get_linked", model.handle, program.index, inputs, 256, count);
    const numbers = library.numbers(Uint32Array, inputs, library.view.getUint32(count, true));
    return Array.from(numbers, (i) => program.values[i].name);
  });
}

/** Limits of a decoder that reads an encoder's output for one text. */
function linkedLimits(model, program, encode, read, linked, token, context) {
  const cached = new Set(model.spaces.filter((space) => space.isCached).map((space) => space.name));
  const limits = Object.fromEntries(Object.entries(read).filter(([name]) => !cached.has(name)));
  for (const name of linked) {  // outputs of the encoder in derived spaces are read in separate spaces
    const { space } = model.value(program, name);
    const output = model.metadata[`generate.link.${name}`];
    if (space.name in limits || !space.isInput || output === undefined) continue;
    const rows = Math.max(1, encode.offsets(encode.value(output).space.name).at(-1));
    limits[space.name] = [rows, rows];
  }
  return token.space.name in limits ? limits : { ...keptLimits(model, token.space, 1, context), ...limits };
}

/** Iterates over the steps of one text: { token, text, ended, score }. */
export class Generation {
  constructor(model, text, options) {
    const { maxTokens = 0, maxLength = 0, literal = false, ...sampling } = optionsOf("generate", options);
    checkNumbers(maxTokens, sampling);
    const library = model.open(), { metadata } = model;
    this.model = model;
    this.sessions = [];
    this.blocks = new Blocks(library);
    try {
      const { decode: program, encode: encoder } = model.generatePrograms ??
        refuse("the model generates no text: it has no program for it", C.FOVEA_E_NAME);
      const token = model.value(program, metadata["generate.token"] ?? "input_ids");
      const usual = Number(metadata["generate.max_tokens"] ?? metadata["generate.most"] ?? 0);
      const most = (this.max = maxTokens || usual || USUAL_NEW_TOKENS);
      this.unlimited = maxTokens === 0 && usual === 0;
      const encodings = encoder || maxLength ? encodingsOf(model, encoder ?? program, [text], { maxLength, literal })
                                             : [promptOf(model, token.space, text, literal)];
      if (encoder) {
        this.#read(encoder, program, token, encodings, most);
      } else {
        const { length } = encodings[0];
        const context = Math.min(trainedFor(model, token.space), length + most);
        const limits = keptLimits(model, token.space, length, context);
        this.#keep(new Session(model, { program: program.name, limits }));
      }
      this.#make(sampling, encoder ? null : encodings[0].ids);
      this.stream = model.tokenizer?.stream(encoder ? [] : encodings[0].ids);
      this.text = "";
      this.tokens = [];
      this.end = null;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  #keep(session) {
    this.sessions.push(session);
    return session;
  }

  /** The encoder reads the text; the decoder's session is linked to it. */
  #read(encoder, program, token, encodings, most) {
    const { session, limits } = ran(this.model, encoder, encodings);
    this.encode = this.#keep(session);
    const linked = linkedInputs(this.model, program);
    this.#keep(new Session(this.model, {
      program: program.name, linked,
      limits: linkedLimits(this.model, program, session, limits, linked, token, 1 + most),
    }));
  }

  #make(sampling, prompt) {
    const library = this.model.library, blocks = this.blocks;
    const fields = Object.entries(sampling).map(([name, value]) => [SAMPLING[name], value]);
    const options = blocks.struct("fovea_generate_options", {
      decode: this.sessions.at(-1).handle, encode: this.encode?.handle ?? 0, max_tokens: this.max,
      sampling: blocks.struct("fovea_sampling", Object.fromEntries(fields)).address,
    });
    const size = library.number("fovea_generate_size", options.address);
    const memory = blocks.make(size), handle = blocks.make(4);
    library.call("fovea_generate_init", options.address, memory, size, handle);
    this.generator = library.view.getUint32(handle, true);
    library.call("fovea_generate_start", this.generator);
    if (prompt !== null) {  // both arrays must live until the first step has read them
      const lengths = blocks.copy(Uint32Array.of(prompt.length));
      library.call("fovea_generate_set_prompts", this.generator, blocks.copy(prompt), lengths, 1, 0);
    }
    this.made = blocks.struct("fovea_generated");
  }

  next() {
    if (this.end !== null || this.sessions.length === 0) {
      this.close();
      return { done: true, value: undefined };
    }
    const library = this.model.open();
    library.call("fovea_generate_next", this.generator, 0, this.made.address);
    const token = library.view.getInt32(this.made.get("tokens"), true);
    const score = library.view.getFloat32(this.made.get("scores"), true);
    this.end = ENDS[library.view.getUint8(this.made.get("ends"))];
    let text = "";
    if (this.stream && this.end !== "stop") text += this.stream.add(token);
    if (this.stream && this.end !== null) text += this.stream.end();
    this.tokens.push(token);
    this.text += text;
    if (this.end === "full") {
      console.warn(`fovea: the text ends for lack of room after ${this.tokens.length} tokens: with its prompt it is ` +
        "as long as the model reads");
    } else if (this.end === "limit" && this.unlimited) {
      console.warn(`fovea: the text ends after ${this.max} tokens; maxTokens changes their number`);
    }
    return { done: false, value: { token, text, score, ended: this.end !== null } };
  }

  /** Ends the iteration and frees all memory. */
  return() {
    this.close();
    return { done: true, value: undefined };
  }

  [Symbol.iterator]() {
    return this;
  }

  /** Runs all remaining steps. Returns the text. */
  finish() {
    for (const _ of this);
    return this.text;
  }

  close() {
    this.stream?.close();
    for (const session of this.sessions) session.close();
    if (!this.model.closed) this.blocks.free();
    this.sessions = [];
    this.stream = null;
  }
}

export function generate(model, text, options) {
  return new Generation(model, text, options);
}

shownAs(Generation, ({ tokens, max, text, end, sessions }) => `Generation(${tokens.length} of ` +
  `${counted(max, "token")} at most: ${quoted(text)}${end ? `, ended: ${end}` : sessions.length ? "" : ", closed"})`);
