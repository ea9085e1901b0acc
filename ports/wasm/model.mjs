// A blob's model, and its contents.
import { constants } from "./declarations.mjs";
import { refuse } from "./errors.mjs";
import { Blocks, Library } from "./library.mjs";
import { answer, wordWeights } from "./answers.mjs";
import { classify, embed, explain, run, similarity } from "./predict.mjs";
import { generate } from "./generate.mjs";
import { meant, optionsOf } from "./options.mjs";
import { Session } from "./session.mjs";
import { bytesShown, counted, shownAs } from "./shown.mjs";
import { load } from "./source.mjs";
import { Tokenizer } from "./text.mjs";

const TYPES = ["f32", "f16", "i8", "i4", "i32", "bf16", "u8"];
const MOST_WORKERS = 64;
const ROLES = ["internal", "input", "output"];
// A cached blob with one of these is loaded again.
const DAMAGED = [constants.FOVEA_E_CHECKSUM, constants.FOVEA_E_TRUNCATED];
/** The last part of an address or path, without its query. */
const nameOf = (name) => decodeURIComponent(name.replace(/[?#].*$/, "").replace(/\/+$/, "").split("/").pop());
const orNull = (number) => (number === constants.FOVEA_NONE ? null : number);

const missing = (text, name, known) => {
  const names = known.map((one) => one.name);
  return `${text}${meant(String(name), names) || ";"} there are: ${names.join(", ")}`;
};

export class Model {
  /**
   * Loads a blob, checks it and makes a model of it: from an address, a path, a Response, Blob or stream, or bytes,
   * which are copied into the model's separate memory.
   */
  static async open(source, options) {
    const { wasm, verify = true, workers = 1, ...loading } = optionsOf("open", options, "Model.open");
    if (!Number.isInteger(workers) || workers < 1 || workers > MOST_WORKERS) {
      refuse(`workers is ${workers}: a whole number from 1 to ${MOST_WORKERS} is needed`, constants.FOVEA_E_OPTION);
    }
    const making = Library.make(wasm, workers);  // while the blob is loaded
    making.catch(() => {});
    let from;
    try {
      from = await load(source, loading);
    } catch (error) {
      await making.then((library) => library.close(), () => {});
      throw error;
    }
    const library = await making;
    try {
      return Model.#of(library, from, verify);
    } catch (error) {
      library.close();
      if (!from.again || !DAMAGED.includes(error.status)) throw error;
      const { bytes, name } = await from.again(error);
      return Model.#of(await Library.make(wasm, workers), { bytes, name }, verify);
    }
  }

  static #of(library, { bytes, name }, verify) {
    const model = new Model();
    model.announced = new Set();
    model.library = library;
    model.name = name === null ? null : nameOf(name);
    const blocks = (model.blocks = new Blocks(library));
    const at = blocks.copy(bytes);
    model.blobBytes = bytes.byteLength;
    const options = blocks.struct("fovea_model_options", { skip_checksum: verify ? 0 : 1 }).address;
    model.modelBytes = library.number("fovea_model_size", at, model.blobBytes, options);
    const memory = blocks.make(model.modelBytes);
    model.handle = library.within((scope) => {
      const handle = scope.make(4);
      library.call("fovea_model_init", at, model.blobBytes, options, memory, model.modelBytes, handle);
      return library.view.getUint32(handle, true);
    });
    model.#look();
    return model;
  }

  /** Frees all memory, including that of sessions; ends its workers. The model cannot be used afterwards. */
  close() {
    this.library?.close();
    this.library = this.blocks = this.handle = null;
  }

  get closed() {
    return this.library === null;
  }

  /** Threads that share runs: 1 where memory cannot be shared. */
  get workers() {
    return this.open().threads?.count ?? 1;
  }

  /** Bytes of the module's memory now, and the parts used by the blob and the model's tables. */
  get memory() {
    return { total: this.open().memory.buffer.byteLength, blob: this.blobBytes, model: this.modelBytes };
  }

  /** The library; refuses if the model is closed. */
  open() {
    if (this.library === null) refuse("this model is closed", constants.FOVEA_E_HANDLE);
    return this.library;
  }

  #info(name, struct, ...indices) {
    return this.library.info(name, struct, this.handle, ...indices);
  }

  #look() {
    const library = this.library;
    const info = this.#info("fovea_model_get_info", "fovea_model_info");
    this.version = library.string(library.call("fovea_version"));
    this.backend = library.string(info.backend);
    this.metadata = {};
    library.within((blocks) => {
      const key = blocks.make(4), value = blocks.make(4);
      for (let i = 0; i < info.metadata_count; ++i) {
        library.call("fovea_model_get_metadata", this.handle, i, key, value);
        const text = (at) => library.string(library.view.getUint32(at, true));
        this.metadata[text(key)] = text(value);
      }
    });
    const spaces = Array.from({ length: info.space_count }, (_, i) =>
      this.#info("fovea_model_get_space", "fovea_space_info", i));
    this.spaces = spaces.map((space, index) => ({
      index, name: library.string(space.name), parent: orNull(space.parent), isInput: space.is_input === 1,
      maxSegmentRows: orNull(space.max_segment_rows), isCached: space.is_cached === 1,
    }));
    this.programs = Array.from({ length: info.program_count }, (_, i) => this.#program(i));
    const numbers = Object.keys(this.metadata).map((key) => /^label\.(\d+)$/.exec(key)).filter(Boolean);
    const labels = numbers.reduce((most, [, number]) => Math.max(most, Number(number) + 1), 0);
    this.labels = Array.from({ length: labels }, (_, i) => this.label(i));
    this.generatePrograms = this.#generatePrograms();
    this.tokenizer = info.has_text ? new Tokenizer(this) : null;
  }

  #program(index) {
    const library = this.library;
    const info = this.#info("fovea_model_get_program", "fovea_program_info", index);
    const values = Array.from({ length: info.value_count }, (_, i) => {
      const value = this.#info("fovea_program_get_value", "fovea_value_info", index, i);
      return {
        index: i, name: library.string(value.name), space: this.spaces[value.space], width: value.width,
        type: TYPES[value.type], role: ROLES[value.role], idLimit: value.id_limit, carriedBy: orNull(value.carried_by),
      };
    });
    const steps = Array.from({ length: info.step_count }, (_, i) => {
      const step = this.#info("fovea_program_get_step", "fovea_step_info", index, i);
      return { index: i, name: library.string(step.name), op: library.string(step.op), heads: step.heads };
    });
    return { index, name: library.string(info.name), values, steps };
  }

  /** The programs that generate text; null: the model generates none. */
  #generatePrograms() {
    return this.library.within((blocks) => {
      const at = blocks.make(8);
      try {
        this.library.call("fovea_generate_find_programs", this.handle, at, at + 4);
      } catch (error) {
        if (error.status !== constants.FOVEA_E_NAME) throw error;
        return null;
      }
      const [decode, encode] = this.library.numbers(Uint32Array, at, 2);
      return { decode: this.programs[decode], encode: this.programs[encode] ?? null };
    });
  }

  label(index) {
    return this.metadata[`label.${index}`] ?? `class ${index}`;
  }

  /** A program by its name; default: the first. */
  program(name) {
    const found = name === undefined ? this.programs[0] : this.programs.find((program) => program.name === name);
    return found ?? refuse(missing(`no program '${name}'`, name, this.programs), constants.FOVEA_E_NAME);
  }

  space(name) {
    return this.spaces.find((space) => space.name === name) ??
      refuse(missing(`no space '${name}'`, name, this.spaces), constants.FOVEA_E_NAME);
  }

  #named(list, name) {
    return list.find((one) => one.name === name) ??
      list.find((one) => one.name === this.metadata[`alias.${name}`]);
  }

  /** A value or an attention operation of a program, by its name or by the name in metadata `alias.NAME`. */
  value(program, name) {
    return this.#named(program.values, name) ??
      refuse(`program '${program.name}' has no value '${name}'` +
        meant(String(name), program.values.map((value) => value.name)), constants.FOVEA_E_NAME);
  }

  /** Names of a program's outputs. */
  outputs(program) {
    return program.values.filter((value) => value.role === "output").map((value) => value.name);
  }

  /** An output by its name or alias; undefined: there is none. */
  output(program, name) {
    const found = this.#named(program.values, name);
    return found?.role === "output" ? found : undefined;
  }

  attention(program, name) {
    const steps = program.steps.filter((step) => step.op === "attention");
    return this.#named(steps, name) ?? refuse(`program '${program.name}' has no attention '${name}'; it has: ` +
      steps.map((step) => step.name).join(", "), constants.FOVEA_E_NAME);
  }

  session(options) {
    return new Session(this, options);
  }

  run(texts, options) {
    return run(this, texts, options);
  }

  embed(texts, options) {
    return embed(this, texts, options);
  }

  classify(texts, options) {
    return classify(this, texts, options);
  }

  wordWeights(texts, options) {
    return wordWeights(this, texts, options);
  }

  answer(question, context, options) {
    return answer(this, question, context, options);
  }

  similarity(a, b, options) {
    return similarity(this, a, b, options);
  }

  explain(text, options) {
    return explain(this, text, options);
  }

  generate(text, options) {
    return generate(this, text, options);
  }
}

shownAs(Model, (model) => {
  const name = model.name === null ? "" : `${model.name}: `;
  if (model.closed) return `Model(${name}closed)`;
  const parts = [bytesShown(model.blobBytes), `${model.programs.map((p) => p.name).join(", ")}`, model.backend];
  if (model.labels.length) parts.push(counted(model.labels.length, "label"));
  if (model.tokenizer) parts.push(`${model.tokenizer.kind} of ${model.tokenizer.vocabulary}`);
  if (model.workers > 1) parts.push(`${model.workers} workers`);
  return `Model(${name}${parts.join("; ")})`;
});
