// Sessions: a program of a model with separate memory.
import { constants as C } from "./declarations.mjs";
import { refuse } from "./errors.mjs";
import { Blocks } from "./library.mjs";
import { meant, optionsOf } from "./options.mjs";
import { rowsOf, writeRows } from "./rows.mjs";
import { bytesShown, counted, shownAs } from "./shown.mjs";

const FORMS = { dense: C.FOVEA_TAP_DENSE, sparse: C.FOVEA_TAP_SPARSE };
const ROWS = { all: C.FOVEA_TAP_ROWS_ALL, first: C.FOVEA_TAP_ROWS_STRIDE, last: C.FOVEA_TAP_ROWS_LAST };
const REDUCES = { none: C.FOVEA_REDUCE_NONE, mean: C.FOVEA_REDUCE_MEAN, max: C.FOVEA_REDUCE_MAX };
const KEPT = { attention: C.FOVEA_KEEP_ATTENTION, scores: C.FOVEA_KEEP_SCORES };

const choice = (given, choices, what, usual) => choices[given ?? usual] ??
  refuse(`${what} '${given}'${meant(String(given), Object.keys(choices)) || ":"} one of ` +
    `${Object.keys(choices).join(", ")} is needed`, C.FOVEA_E_OPTION);

/** Consecutive rows, which `offsets` may divide into texts. */
export class Matrix {
  constructor(rows, width, data, offsets) {
    this.rows = rows;
    this.width = width;
    this.data = data;
    this.offsets = offsets;
  }
}

shownAs(Matrix, ({ rows, width, data, offsets }) => `Matrix(${rows} x ${width}, ${data.constructor.name}` +
  `${offsets === null ? "" : `, ${counted(offsets.length - 1, "segment")}`})`);

/** The attention map that a tap recorded in the last run. */
export class AttentionMap {
  constructor(fields) {
    Object.assign(this, fields);
  }

  /** The attention map of one segment: [heads][queries], each a Float32Array. */
  segment(index) {
    const segments = this.keyOffsets.length - 1;
    if (!Number.isInteger(index) || index < 0 || index >= segments) {
      refuse(`no segment ${index} of ${segments} of an attention map`, C.FOVEA_E_INDEX);
    }
    const first = this.keyOffsets[index], keys = this.keyOffsets[index + 1] - first;
    const own = this.queryOffsets.length === this.keyOffsets.length;
    const from = own ? this.queryOffsets[index] : index, to = own ? this.queryOffsets[index + 1] : index + 1;
    const lines = Array.from({ length: this.heads }, () => []);
    this.queryRows.forEach((row, r) => {
      if (row < from || row >= to) return;
      for (let head = 0; head < this.heads; ++head) lines[head].push(this.#line(r * this.heads + head, first, keys));
    });
    return lines;
  }

  #line(line, first, keys) {
    if (this.data !== null) return this.data.slice(line * this.stride, line * this.stride + keys);
    const dense = new Float32Array(keys);
    for (let i = this.offsets[line]; i < this.offsets[line + 1]; ++i) dense[this.keys[i] - first] = this.values[i];
    return dense;
  }
}

export class Session {
  /** `limits`: for each input space the most rows of a run, or [rows, rows of the longest segment]. */
  constructor(model, options) {
    const { program, limits = {}, rows = 0, keep = [], taps = [], linked = [], cachedTexts = 0 } =
      optionsOf("session", options, "a session");
    this.model = model;
    this.library = model.open();
    this.program = model.program(program);
    this.taps = taps.map((tap) => (typeof tap === "string" ? { step: tap } : optionsOf("tap", tap, "a tap")));
    this.blocks = new Blocks(this.library);
    try {
      this.#place({ limits: Object.entries(limits), rows, keep, linked, cachedTexts });
    } catch (error) {
      this.blocks.free();
      throw error;
    }
  }

  #place({ limits, rows, keep, linked, cachedTexts }) {
    const library = this.library;
    library.within((blocks) => {
      const options = blocks.struct("fovea_session_options", {
        program: this.program.index, rows, cached_texts: cachedTexts,
        limit_count: limits.length, keep_count: keep.length, tap_count: this.taps.length, linked_count: linked.length,
        limits: blocks.structs("fovea_limit", limits.length, (limit, i) => {
          const [name, bound] = limits[i];
          const [most, longest] = Array.isArray(bound) ? bound : [bound, 0];
          limit.set("space", this.model.space(name).index);
          limit.set("rows", most);
          limit.set("segment_rows", longest);
        }),
        keep: blocks.copy(this.#indices(keep)),
        linked: blocks.copy(this.#indices(linked)),
        taps: blocks.structs("fovea_tap", this.taps.length, (tap, i) => this.#tap(tap, this.taps[i])),
      });
      library.threads?.use(options.address);
      const memory = blocks.struct("fovea_session_memory");
      library.call("fovea_session_size", this.model.handle, options.address, memory.address);
      this.memoryBytes = 0;
      this.sizes = {};
      for (const block of ["fixed", "state", "scratch"]) {
        const size = memory.get(`${block}_size`);
        this.memoryBytes += size;
        this.sizes[block] = size;
        const address = this.blocks.make(size);
        library.bytes(address, size).fill(0);  // inputs that are never written are zeros
        memory.set(block, address);
      }
      const handle = blocks.make(4);
      library.call("fovea_session_init", this.model.handle, options.address, memory.address, handle);
      this.handle = library.view.getUint32(handle, true);
    });
  }

  #indices(names) {
    return Uint32Array.from(names, (name) => this.value(name).index);
  }

  #tap(struct, { step, form, rows, reduce, what, heads = [] }) {
    const about = this.model.attention(this.program, step);
    const wrong = heads.find((head) => !Number.isInteger(head) || head < 0 || head >= Math.min(64, about.heads));
    if (wrong !== undefined) refuse(`tap of '${step}': no head ${wrong}`, C.FOVEA_E_OPTION);
    const fields = {
      struct_size: struct.layout.size, step: about.index, form: choice(form, FORMS, "form", "dense"),
      rows: choice(rows, ROWS, "rows", "all"), stride: rows === "first" ? 0xffffffff : 0,
      reduce: choice(reduce, REDUCES, "reduce", "none"), what: choice(what, KEPT, "what", "attention"),
      heads: heads.reduce((bits, head) => bits | (1n << BigInt(head)), 0n),
    };
    for (const [name, value] of Object.entries(fields)) struct.set(name, value);
  }

  /** Frees its memory. */
  close() {
    if (!this.model.closed) this.blocks.free();
    this.handle = null;
  }

  /** The library; refuses if the model or the session is closed. */
  open() {
    const library = this.model.open();
    if (this.handle === null) refuse("this session is closed", C.FOVEA_E_HANDLE);
    return library;
  }

  value(name) {
    return this.model.value(this.program, name);
  }

  /** Sets the lengths of the segments of an input space. */
  setSegments(space, lengths) {
    const library = this.open();
    library.within((blocks) => {
      const numbers = Uint32Array.from(lengths);
      library.call("fovea_session_set_segments", this.handle, this.model.space(space).index, blocks.copy(numbers),
        numbers.length);
    });
  }

  #view(name, read) {
    const library = this.open();
    return library.within((blocks) => {
      const view = blocks.struct("fovea_view");
      library.call(name, this.handle, ...read.given, view.address);
      return read.use(Object.fromEntries(Object.keys(view.layout.fields).map((field) => [field, view.get(field)])));
    });
  }

  /** Writes an input as consecutive rows. */
  write(name, rows) {
    const value = this.value(name);
    this.#view("fovea_session_get_input", {
      given: [value.index],
      use: (view) => {
        if (rows.length !== view.rows * view.width) {
          refuse(`input '${name}' has ${view.rows} rows of ${view.width}, ${rows.length} numbers are given`,
            C.FOVEA_E_ROWS);
        }
        writeRows(this.library, view, rows);
      },
    });
  }

  /** Links an input to an output of another session's last run. */
  link(input, from, output) {
    this.open().call("fovea_session_link", this.handle, this.value(input).index, from.handle, from.value(output).index);
  }

  /** Runs the whole program. Inputs that were never written are zeros. */
  run() {
    this.open().call("fovea_session_run", this.handle);
    return this;
  }

  /** An output or kept value of the last run: { rows, width, data, offsets }, a copy. */
  output(name) {
    const value = this.value(name);
    return this.#view("fovea_session_get_output", {
      given: [value.index],
      use: (view) => new Matrix(view.rows, view.width, rowsOf(this.library, view),
        value.space.parent === null ? null : this.offsets(value.space.name)),
    });
  }

  /** The offsets of a space's segments, and the end of the last one. */
  offsets(space) {
    const library = this.open();
    return library.within((blocks) => {
      const at = blocks.make(4), count = blocks.make(4);
      library.call("fovea_session_get_segments", this.handle, this.model.space(space).index, at, count);
      const read = (address) => library.view.getUint32(address, true);
      return library.numbers(Uint32Array, read(at), read(count) + 1);
    });
  }

  /** The attention map of a tap, by its index or name. */
  attentionMap(tap = 0) {
    const library = this.open();
    const index = typeof tap === "number" ? tap : this.taps.findIndex((known) => known.step === tap);
    if (index < 0) refuse(`no tap of '${tap}'; there are: ${this.taps.map((t) => t.step).join(", ")}`, C.FOVEA_E_NAME);
    const info = library.info("fovea_session_get_attention_map", "fovea_attention_map", this.handle, index);
    const fields = {
      heads: info.heads, queryRows: library.numbers(Uint32Array, info.query_rows, info.rows),
      querySpace: this.model.spaces[info.query_space], keySpace: this.model.spaces[info.key_space],
      queryOffsets: this.offsets(this.model.spaces[info.query_space].name),
      keyOffsets: this.offsets(this.model.spaces[info.key_space].name),
      stride: info.stride, data: null, offsets: null, keys: null, values: null,
    };
    const lines = info.rows * info.heads;
    if (info.form === C.FOVEA_TAP_DENSE) {
      fields.data = library.numbers(Float32Array, info.data, lines * info.stride);
      return new AttentionMap(fields);
    }
    return library.within((blocks) => {
      const offsets = blocks.make(8 * (lines + 1)), keys = blocks.make(4 * info.entries);
      const values = blocks.make(4 * info.entries);
      const arrays = blocks.struct("fovea_sparse_map", {
        layout: C.FOVEA_SPARSE_CSR, offset_capacity: lines + 1, entry_capacity: info.entries, offsets, keys, values });
      library.call("fovea_session_get_sparse_map", this.handle, index, arrays.address);
      fields.offsets = Float64Array.from(library.numbers(BigUint64Array, offsets, lines + 1), Number);
      fields.keys = library.numbers(Uint32Array, keys, info.entries);
      fields.values = library.numbers(Float32Array, values, info.entries);
      return new AttentionMap(fields);
    });
  }
}

shownAs(AttentionMap, (map) => `AttentionMap(${counted(map.heads, "head")}, ` +
  `${counted(map.queryRows.length, "query row")} in ${map.querySpace.name}, keys in ${map.keySpace.name}, ` +
  `${map.data === null ? "sparse" : "dense"})`);
shownAs(Session, (session) => `Session(${session.program.name}, ` +
  `${session.handle === null || session.model.closed ? "closed" : bytesShown(session.memoryBytes)})`);
