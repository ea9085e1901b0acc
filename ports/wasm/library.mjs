// The library as an instance of the WebAssembly module: calls that throw, memory, and the structs of the C interface.
import { constants, functions, structs } from "./declarations.mjs";
import { FoveaError, refuse, statusName } from "./errors.mjs";
import { instanceOf, sharesMemory } from "./instance.mjs";
import { compiled } from "./module.mjs";
import { platform } from "./platform.mjs";
import { shownValue } from "./shown.mjs";
import { Threads, sharedMemory } from "./threads.mjs";

/** The name of a type in DataView methods, and its bytes. */
const TYPES = {
  u8: ["Uint8", 1], i32: ["Int32", 4], u32: ["Uint32", 4], u64: ["BigUint64", 8], f32: ["Float32", 4],
  f64: ["Float64", 8],
};

/** A struct in the library's memory: fields are read and written by name, elements of arrays by index. */
class Struct {
  constructor(library, name, address) {
    this.library = library;
    this.layout = structs[name];
    this.address = address;
    if (this.layout.fields.struct_size) this.set("struct_size", this.layout.size);
  }

  get(name, index = 0) {
    const value = this.exact(name, index);
    return typeof value === "bigint" ? Number(value) : value;
  }

  /** The same; 64-bit numbers as bigint. */
  exact(name, index = 0) {
    const [offset, type] = this.layout.fields[name];
    const [kind, bytes] = TYPES[type];
    return this.library.view[`get${kind}`](this.address + offset + index * bytes, true);
  }

  set(name, value, index = 0) {
    const [offset, type] = this.layout.fields[name];
    const most = type === "u64" ? Number.MAX_SAFE_INTEGER : 0xffffffff;
    if (typeof value !== "bigint" && !(type[0] === "f" ? typeof value === "number" :
        Number.isInteger(value) && value >= 0 && value <= most)) {
      refuse(`${name} is ${shownValue(value)}: a ${type[0] === "f" ? "" : "whole "}number ` +
        `${type[0] === "f" ? "" : `from 0 to ${most} `}is needed`, constants.FOVEA_E_OPTION);
    }
    const [kind, bytes] = TYPES[type];
    const number = type === "u64" ? BigInt(value) : value;
    this.library.view[`set${kind}`](this.address + offset + index * bytes, number, true);
  }

  /** All fields by their names. */
  all() {
    return Object.fromEntries(Object.keys(this.layout.fields).map((field) => [field, this.get(field)]));
  }
}

/** Blocks of the library's memory that are freed together. */
export class Blocks {
  constructor(library) {
    this.library = library;
    this.addresses = [];
  }

  /** `size` bytes with an alignment of 64; address 0 if size is 0. */
  make(size) {
    if (size === 0) return 0;
    const address = this.library.call("fovea_port_memory", 0, size);
    if (address === 0) refuse(`cannot get ${size} bytes of memory`, constants.FOVEA_E_MEMORY);
    this.addresses.push(address);
    return address;
  }

  /** A copy of a typed array's bytes. */
  copy(array) {
    const address = this.make(array.byteLength);
    this.library.bytes(address, array.byteLength).set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
    return address;
  }

  /** A NUL-terminated copy of a string. */
  string(text) {
    return this.copy(encoder.encode(`${text}\0`));
  }

  /** `count` consecutive structs; `set` is called for each with its index. */
  structs(name, count, set) {
    const size = structs[name].size;
    const address = this.make(size * count);
    for (let i = 0; i < count; ++i) {
      this.library.bytes(address + i * size, size).fill(0);
      set(new Struct(this.library, name, address + i * size), i);
    }
    return address;
  }

  /** One struct, zeros except these fields. */
  struct(name, fields = {}) {
    let made;
    this.structs(name, 1, (struct) => {
      for (const [field, value] of Object.entries(fields)) struct.set(field, value);
      made = struct;
    });
    return made;
  }

  free() {
    for (const address of this.addresses) this.library.call("fovea_port_free", address);
    this.addresses = [];
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** One instance: its memory grows as needed, and is freed when nothing refers to the instance any more. */
export class Library {
  /** Makes one of the module at `source` (module.mjs), with `workers` threads where memory can be shared. */
  static async make(source, workers) {
    const library = new Library();
    const module = await compiled(source, workers > 1 && platform.canShare());
    const shared = sharesMemory(module);
    const memory = shared ? sharedMemory() : undefined;
    library.exports = (await instanceOf(module, memory)).exports;
    library.memory = memory ?? library.exports.memory;
    library.threads = null;
    library.scratch = new Blocks(library);
    if (shared) {
      const { exports } = library;
      exports._initialize?.();
      exports.__wasm_init_tls(library.scratch.make(Math.max(exports.__tls_size.value, 1)));
    } else {
      library.exports._initialize?.();
    }
    library.error = library.scratch.struct("fovea_error");
    if (shared && workers > 1) {
      library.threads = await Threads.start(library, module, workers).catch((error) =>
        refuse(`a worker cannot be started: ${error.message}`, constants.FOVEA_E_MEMORY));
    }
    return library;
  }

  /** Ends the workers. */
  close() {
    this.threads?.end();
  }

  get view() {
    if (this.seen?.buffer !== this.memory.buffer) this.seen = new DataView(this.memory.buffer);
    return this.seen;
  }

  bytes(address, size) {
    return new Uint8Array(this.memory.buffer, address, size);
  }

  /** A copy of numbers in memory: `Type` is a typed array. */
  numbers(Type, address, count) {
    return new Type(this.bytes(address, count * Type.BYTES_PER_ELEMENT).slice().buffer);
  }

  text(address, size) {
    return decoder.decode(this.bytes(address, size).slice());  // decoders refuse shared memory
  }

  /** A NUL-terminated string; null for address 0. */
  string(address) {
    if (address === 0) return null;
    const end = new Uint8Array(this.memory.buffer).indexOf(0, address);
    return this.text(address, end - address);
  }

  /** Calls a function. Adds the error record, and throws its error. */
  call(name, ...given) {
    const [result, ...parameters] = functions[name];
    const args = parameters.map((letter, i) =>
      letter === "e" ? this.error.address : letter === "l" ? BigInt(given[i]) : given[i]);
    let got;
    try {
      got = this.exports[name](...args);
    } catch (error) {
      this.close();  // a trap in one thread: otherwise the other threads would wait for it
      throw error;
    }
    if (result === "u") return got >>> 0;
    if (result === "l") return Number(got);
    if (result === "s" && got !== constants.FOVEA_OK) this.fail(name, got, parameters.includes("e"));
    return got;
  }

  fail(name, status, recorded) {
    const called = statusName(status);
    if (!recorded) throw new FoveaError(`${name}: ${called}`, status);
    const [expected, found, index] = ["expected", "found", "index"].map((field) => this.error.get(field));
    const text = this.string(this.error.get("text")) || name;
    const exact = `, expected ${this.error.exact("expected")}, found ${this.error.exact("found")}`;
    throw new FoveaError(`${text}${expected || found ? exact : ""} (${called})`, status, { expected, found, index });
  }

  /** Calls `use` with blocks that are freed afterwards; returns its result. */
  within(use) {
    const blocks = new Blocks(this);
    try {
      return use(blocks);
    } finally {
      blocks.free();
    }
  }

  /** The number that a function writes through its last parameter before the error record. */
  number(name, ...given) {
    return this.within((blocks) => {
      const at = blocks.make(8);
      this.view.setBigUint64(at, 0n, true);
      this.call(name, ...given, at);
      return Number(this.view.getBigUint64(at, true));
    });
  }

  /** Fields of the struct that a function fills for these arguments. */
  info(name, struct, ...given) {
    return this.within((blocks) => {
      const made = blocks.struct(struct);
      this.call(name, ...given, made.address);
      return made.all();
    });
  }

  sizeOf(struct) {
    return structs[struct].size;
  }

  /** Fields of each of `count` consecutive structs without struct_size. */
  list(struct, address, count) {
    const size = this.sizeOf(struct);
    return Array.from({ length: count }, (_, i) => new Struct(this, struct, address + size * i).all());
  }
}
