/**
 * Models of fovea in JavaScript. Text in, numbers out. Everything except `Model.open` is synchronous, in the calling
 * thread and in the model's workers. Every error is a FoveaError with the library's message.
 */

export * from "./pipeline.js";

/** Numbers of include/fovea/*.h by their names: statuses, types, ... */
export const constants: Readonly<Record<string, number>>;

export class FoveaError extends Error {
  /** `constants.FOVEA_E_...`, and its name. */
  readonly status: number;
  readonly statusName: string;
  /** Fields of fovea_error (include/fovea/status.h); 0 if unused. */
  readonly expected: number;
  readonly found: number;
  readonly index: number;
}

/** A ragged batch dimension: the kind of the rows of a value. Segment i of a space is row i of its parent. */
export interface Space {
  readonly index: number;
  readonly name: string;
  /** Index in `Model.spaces`; null: all rows are one segment. */
  readonly parent: number | null;
  readonly isInput: boolean;
  readonly maxSegmentRows: number | null;
  readonly isCached: boolean;
}

export interface Value {
  readonly index: number;
  readonly name: string;
  readonly space: Space;
  readonly width: number;
  readonly type: "f32" | "f16" | "i8" | "i4" | "i32" | "bf16" | "u8";
  readonly role: "internal" | "input" | "output";
  /** Ids must be below this; 0: the values are not ids. */
  readonly idLimit: number;
  readonly carriedBy: number | null;
}

export interface Step {
  readonly index: number;
  readonly name: string;
  readonly op: string;
  /** For attention; else 0. */
  readonly heads: number;
}

export interface Program {
  readonly index: number;
  readonly name: string;
  readonly values: readonly Value[];
  readonly steps: readonly Step[];
}

/** Consecutive rows. If they are divided into texts, row offsets[i] is the first of text i. */
export interface Matrix {
  toString(): string;
  readonly rows: number;
  readonly width: number;
  readonly data: Float32Array | Int32Array;
  readonly offsets: Uint32Array | null;
}

/** A tap, a request for an attention map: the name of an operation, or more options. */
export interface Tap {
  step: string;
  /** "sparse": only the keys that a row sees. */
  form?: "dense" | "sparse";
  /** Query rows in each segment. */
  rows?: "all" | "first" | "last";
  /** Reduces all heads to one. */
  reduce?: "none" | "mean" | "max";
  /** Which heads; default: all. */
  heads?: number[];
  what?: "attention" | "scores";
}

/** An attention map recorded by a tap. A line is a query row and head: line r * heads + h. */
export interface AttentionMap {
  toString(): string;
  readonly heads: number;
  readonly queryRows: Uint32Array;
  readonly querySpace: Space;
  readonly keySpace: Space;
  readonly queryOffsets: Uint32Array;
  readonly keyOffsets: Uint32Array;
  /** Dense: `stride` numbers per line; numbers past the segment's keys are undefined. */
  readonly stride: number;
  readonly data: Float32Array | null;
  /** Sparse: entries offsets[l] to offsets[l + 1] - 1 belong to line l; keys are counted through all segments. */
  readonly offsets: Float64Array | null;
  readonly keys: Uint32Array | null;
  readonly values: Float32Array | null;
  /** [heads][queries], each with a number for each key of the segment; for either form. */
  segment(index: number): Float32Array[][];
}

/** The tokens of a text, or of a pair of texts. */
export interface Encoding {
  toString(): string;
  readonly text: string;
  readonly pair: string | null;
  readonly length: number;
  readonly ids: Int32Array;
  readonly types: Int32Array;
  /** 1: added by the tokenizer. */
  readonly special: Uint8Array;
  /** [begin, end) in the string for each token; [0, 0] for special ones. Pairs have none. */
  readonly spans: [number, number][];
  /** Tokens of the whole text, without special ones. */
  readonly uncut: number;
  /** Tokens of the text that are left out; a line on the console reports them. */
  readonly dropped: number;
  /** For a document: tokens of each sentence, and how many sentences were left out at the end. */
  readonly sentences: Uint32Array | null;
  readonly droppedSentences: number;
  /** Special tokens that the texts spell, except mask and unknown tokens; a line on the console reports them. */
  readonly spelled: number;
}

export interface EncodeOptions {
  /** A second text: both are encoded together. */
  pair?: string;
  /** Which text of a pair is truncated if both are too long; default: the longer one. */
  truncation?: "longest" | "first" | "second";
  /** Most tokens; 0: the model's limit. */
  maxLength?: number;
  /** Sentence by sentence. */
  document?: boolean;
  wrapped?: boolean;
  /** No truncation. */
  whole?: boolean;
  /** Special tokens that the text spells, such as "</s>", are text: for texts of strangers. */
  literal?: boolean;
}

export interface DecodeOptions {
  keepSpecial?: boolean;
}

export interface Tokenizer {
  toString(): string;
  readonly kind: "word_piece" | "unigram" | "byte_pair";
  readonly vocabulary: number;
  /** 0: the blob specifies no limit. */
  readonly maxLength: number;
  readonly padId: number;
  readonly maskId: number;
  encode(text: string, options?: EncodeOptions): Encoding;
  decode(ids: ArrayLike<number>, options?: DecodeOptions): string;
  /** The piece of an id, as the vocabulary spells it. */
  piece(id: number): string;
}

export interface DocumentOptions {
  /** A program by its name; default: the first. */
  program?: string;
  /** Most tokens of a text (in a document: of a sentence); 0: the model's limit. */
  maxLength?: number;
  /** For documents: line ends are line wraps and do not end sentences. */
  wrapped?: boolean;
  /** Special tokens that texts spell are text: see EncodeOptions. */
  literal?: boolean;
}

export interface TextOptions extends DocumentOptions {
  /** The second text of each pair, for models that read pairs; a string: the same for all. */
  pairs?: string | string[];
  /** Which text of a pair is truncated if both are too long; default: the longer one. */
  truncation?: "longest" | "first" | "second";
}

export interface EmbedOptions extends TextOptions {
  /** To length 1. */
  normalise?: boolean;
  /** Name of a prompt of the model to put in front of each text; default: the model's default prompt, if it has one;
   * "": none. */
  prompt?: string;
  /** The output that is the embedding, or whose rows' mean it is; default: the model's embedding, or else what is most
   * similar to one, which is reported on the console. */
  output?: string;
}

/** The weight of a token of the vocabulary. */
export interface Weight {
  /** As the vocabulary spells it. */
  readonly token: string;
  readonly id: number;
  readonly weight: number;
}

export interface WordWeightsOptions extends TextOptions {
  /** As for `embed`. */
  prompt?: string;
  /** The number of tokens; default: all whose weights are not 0. */
  top?: number;
}

/** A span of a context that answers a question. No answer: the text is empty. */
export interface Answer {
  readonly text: string;
  /** The probability of its start times that of its end; of an answer found in several parts their sum. */
  readonly score: number;
  /** Its place: context.slice(begin, end). */
  readonly begin: number;
  readonly end: number;
}

export interface AnswerOptions {
  program?: string;
  /** Tokens of question and context that are read at once; default: 384, or the model's limit if that is less. */
  maxLength?: number;
  /** The most answers; default: 1. */
  top?: number;
  /** The most tokens of an answer; default: 15. */
  maxTokens?: number;
  /** Whether "no answer", an empty text, is one of the answers. */
  allowNone?: boolean;
  /** Tokens that neighbouring parts of a long context share; default: 128, or half of maxLength. */
  stride?: number;
  /** Special tokens that question and context spell, such as "</s>", are text. */
  literal?: boolean;
}

export interface SimilarityOptions extends Omit<EmbedOptions, "normalise"> {
  /** More is more similar: distances are negative. Default: the model's, or else the cosine. */
  measure?: "cosine" | "dot" | "euclidean" | "manhattan";
}

export interface RunOptions extends TextOptions {
  /** Values to return besides the outputs, such as "hidden_states.1". */
  keep?: string[];
  /** Attention maps to record. */
  taps?: (string | Tap)[];
}

export interface RunResult {
  readonly encodings: Encoding[];
  readonly outputs: Record<string, Matrix>;
  /** By the names of the tapped operations. */
  readonly attentionMaps: Record<string, AttentionMap>;
}

export interface ClassifyOptions extends TextOptions {
  /** The number of classes; default: all. */
  top?: number;
}

export interface ExplainOptions extends DocumentOptions {
  /** The number of classes; default: all. */
  top?: number;
}

/** Models of a single number or of numbers (regression) have no probability. */
export interface Class {
  readonly label: string;
  readonly probability: number | null;
  /** The number that the model presents: the probability, or else its own number. */
  readonly score: number;
  readonly logit: number;
  readonly index: number;
}

/** Positions count as in JavaScript: text === string.slice(begin, end). */
export interface Word {
  readonly text: string;
  readonly begin: number;
  readonly end: number;
  /** Share of the attention in its sentence (or text), and this times the sentence's share. */
  readonly weight: number;
  readonly share: number;
}

export interface Sentence {
  readonly text: string;
  readonly begin: number;
  readonly end: number;
  /** Share of the document's attention. */
  readonly share: number;
  readonly words: Word[] | null;
}

/** `sentences` for models that read documents, `words` for other models; null if the model does not name the
 * attention. */
export interface Explanation {
  readonly classes: Class[];
  readonly sentences: Sentence[] | null;
  readonly words: Word[] | null;
  readonly droppedSentences: number;
}

export interface GenerateOptions {
  /** Most new tokens; 0: the model's limit, or 512. */
  maxTokens?: number;
  /** Most tokens of the text that is read; 0: the model's limit. */
  maxLength?: number;
  /** Special tokens that the text spells are text: see EncodeOptions. */
  literal?: boolean;
  /** Options of sampling, see include/fovea/generate.h; the default is greedy search. */
  temperature?: number;
  topK?: number;
  topP?: number;
  minP?: number;
  repetitionPenalty?: number;
  presencePenalty?: number;
  seed?: number | bigint;
}

export interface GeneratedToken {
  readonly token: number;
  /** The text that the step adds, in whole characters. */
  readonly text: string;
  readonly score: number;
  readonly ended: boolean;
}

/** Frees its memory at its end: when the text has ended, and when a loop over it is left. */
export interface Generation extends IterableIterator<GeneratedToken> {
  toString(): string;
  /** The text so far. */
  readonly text: string;
  readonly tokens: number[];
  /** Why the text ended: a stop token, `maxTokens`, no room; null: it has not. */
  readonly end: "stop" | "limit" | "full" | null;
  /** Runs all remaining steps. */
  finish(): string;
  close(): void;
}

export interface SessionOptions {
  program?: string;
  /** For each input space the most rows of a run, or [rows, rows of the longest segment]. */
  limits?: Record<string, number | [number, number]>;
  /** For input spaces that are not in `limits`. */
  rows?: number;
  keep?: string[];
  taps?: (string | Tap)[];
  linked?: string[];
  cachedTexts?: number;
}

/** A program with separate memory, for inputs that are not texts and for repeated runs in the same memory. */
export interface Session {
  toString(): string;
  readonly memoryBytes: number;
  setSegments(space: string, lengths: ArrayLike<number>): void;
  /** Writes consecutive rows. */
  write(input: string, rows: ArrayLike<number>): void;
  link(input: string, from: Session, output: string): void;
  run(): this;
  /** A copy. */
  output(name: string): Matrix;
  offsets(space: string): Uint32Array;
  attentionMap(tap?: number | string): AttentionMap;
  close(): void;
}

/** Where a model is: a path (Node), an address (in pages relative to the page), a response, a stream, a file, bytes. */
export type ModelSource =
  | string | URL | Request | Response | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>
  | ArrayBuffer | SharedArrayBuffer | ArrayBufferView;

/** How far loading is. `total`: null if the server does not report it. `cached`: read from the cache. */
export interface Progress {
  readonly name: string;
  readonly loaded: number;
  readonly total: number | null;
  readonly done: boolean;
  readonly cached: boolean;
}

export interface LoadOptions {
  /** Called at most a hundred times, and at the end with `done`. */
  progress?: (progress: Progress) => void;
  /**
   * Keeps what is loaded with http(s), and reads it from there without asking the server again: in pages in the Cache
   * API under this name (true: "fovea"), in Node in this folder (true: fovea in the user's cache folder). A damaged
   * copy is loaded again. Default: false.
   */
  cache?: boolean | string;
  /** Ends loading. */
  signal?: AbortSignal;
}

export interface OpenOptions extends LoadOptions {
  /** The module's address, its bytes or the module, if it is not beside this file. */
  wasm?: string | URL | BufferSource | WebAssembly.Module;
  /** false: the checksum is skipped; the structure is always checked. */
  verify?: boolean;
  /**
   * Threads (1 to 64) that share runs, the caller's included; the other ones are JavaScript workers, started here.
   * Where memory cannot be shared, in pages that are not cross-origin isolated, there is one. Any number computes the
   * same bits.
   */
  workers?: number;
}

export class Model {
  private constructor();
  /** Loads a blob, checks it and makes a model of it. */
  static open(source: ModelSource | Promise<ModelSource>, options?: OpenOptions): Promise<Model>;
  /** The file's name; null for bytes. */
  readonly name: string | null;
  toString(): string;
  /** Frees all memory of the model and of its sessions; ends its workers, which otherwise remain. */
  close(): void;
  /** Threads that share runs. */
  readonly workers: number;
  readonly closed: boolean;
  /** Bytes: the module's memory now, and the parts used by the blob and the model's tables. */
  readonly memory: { total: number; blob: number; model: number };
  /** The library's version. */
  readonly version: string;
  /** The GEMM backend: "highway", or "xnnpack" where it has kernels for the weights. */
  readonly backend: "highway" | "xnnpack";
  readonly metadata: Record<string, string>;
  readonly labels: string[];
  readonly spaces: readonly Space[];
  readonly programs: readonly Program[];
  /** The programs that generate text, `encode` for models that read a text first; null: the model generates none. */
  readonly generatePrograms: { readonly decode: Program; readonly encode: Program | null } | null;
  /** null: the blob has no tokenizer. */
  readonly tokenizer: Tokenizer | null;

  /** For each text its classes, the most probable first. */
  classify(text: string, options?: ClassifyOptions): Class[];
  classify(texts: string[], options?: ClassifyOptions): Class[][];
  /** The same with the sentences and words that decided. */
  explain(text: string, options?: ExplainOptions): Explanation;
  explain(texts: string[], options?: ExplainOptions): Explanation[];
  /** The model's embedding or pooled output, or else the mean of its last hidden states or another output, which is
   * reported on the console once. */
  embed(text: string, options?: EmbedOptions): Float32Array;
  embed(texts: string[], options?: EmbedOptions): Float32Array[];
  /** The tokens of the vocabulary whose weights are not 0, the largest first (SPLADE). */
  wordWeights(text: string, options?: WordWeightsOptions): Weight[];
  wordWeights(texts: string[], options?: WordWeightsOptions): Weight[][];
  /** The best answers to a question in a context of any length, the best first. */
  answer(question: string, context: string, options?: AnswerOptions): Answer[];
  /** How similar texts are, which may be given as their embeddings; for lists [texts of a][texts of b]. */
  similarity(a: string | Float32Array, b: string | Float32Array, options?: SimilarityOptions): number;
  similarity(a: string[] | Float32Array[], b: string[] | Float32Array[], options?: SimilarityOptions): Float64Array[];
  /** Outputs, hidden states and attention weights of a batch; nothing is padded. */
  run(texts: string | string[], options?: RunOptions): RunResult;
  /** Continues a text, or generates one from the text that an encoder reads. */
  generate(text: string, options?: GenerateOptions): Generation;
  session(options?: SessionOptions): Session;
}
