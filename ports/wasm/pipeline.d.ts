import type { GeneratedToken, LoadOptions, Model, ModelSource, OpenOptions, Tokenizer } from "./fovea.js";

/** Numbers in row-major order, with the fields of transformers.js' Tensor. */
export class Tensor {
  constructor(type: string, data: Float32Array, dims: number[]);
  readonly type: string;
  readonly data: Float32Array;
  readonly dims: number[];
  readonly size: number;
  /** Part `index` of the first dimension. */
  at(index: number): Tensor | number;
  [Symbol.iterator](): Iterator<Tensor | number>;
  tolist(): any[];
  toString(): string;
}

/** transformers.js' progress events. */
export interface ProgressEvent {
  status: "initiate" | "progress" | "done" | "ready";
  name?: string;
  file?: string;
  progress?: number;
  loaded?: number;
  total?: number;
  task?: string;
  model?: string;
}

export interface PipelineOptions extends Omit<OpenOptions, "progress"> {
  progress_callback?: (event: ProgressEvent) => void;
}

export interface FeatureExtractionOptions {
  /** Default: "none", a row for each token. "model": the model's own embedding, as Model.embed returns it. */
  pooling?: "none" | "mean" | "cls" | "first_token" | "eos" | "last_token" | "model";
  normalize?: boolean;
}

export interface TextClassificationOptions {
  /** Classes for each text; null: all. Default: 1. */
  top_k?: number | null;
}

export interface LabelScore {
  label: string;
  score: number;
}

export interface ZeroShotClassificationOptions {
  /** Default: "This example is {}." */
  hypothesis_template?: string;
  multi_label?: boolean;
}

export interface ZeroShotResult {
  sequence: string;
  labels: string[];
  scores: number[];
}

/** Sampling options need `do_sample: true`; otherwise the best token is taken. */
export interface TextGenerationOptions {
  /** Default: 256. */
  max_new_tokens?: number;
  do_sample?: boolean;
  temperature?: number;
  top_k?: number;
  top_p?: number;
  min_p?: number;
  repetition_penalty?: number;
  /** false: without the prompt. Default: true. */
  return_full_text?: boolean;
  streamer?: TextStreamer | { put(tokens: bigint[][]): void; end(): void };
  /** Ends the text between two tokens. */
  signal?: AbortSignal;
  seed?: number;
}

export interface GeneratedText {
  generated_text: string;
}

export interface SpeechRecognitionOptions {
  /** Only false. */
  return_timestamps?: false;
  max_new_tokens?: undefined;
  /** Samples per second of the audio; refused if the model reads another rate. */
  sampling_rate?: number;
}

export interface Transcript {
  text: string;
}

/** Calls `callback_function` with each piece of text; without one, pieces are written to standard output. */
export class TextStreamer {
  constructor(tokenizer: Tokenizer, options?: {
    skip_prompt?: boolean;
    callback_function?: (text: string) => void;
    token_callback_function?: (tokens: bigint[]) => void;
    skip_special_tokens?: boolean;
  });
  put(tokens: bigint[][]): void;
  end(): void;
}

export interface Pipeline {
  readonly task: string;
  readonly model: Model;
  readonly tokenizer: Tokenizer | null;
  /** Frees the model's memory. */
  dispose(): Promise<void>;
  toString(): string;
}

export interface FeatureExtractionPipeline extends Pipeline {
  (texts: string | string[], options?: FeatureExtractionOptions): Promise<Tensor>;
}

export interface TextClassificationPipeline extends Pipeline {
  (text: string, options?: TextClassificationOptions): Promise<LabelScore[]>;
  (texts: string[], options?: TextClassificationOptions): Promise<LabelScore[] | LabelScore[][]>;
}

export interface ZeroShotClassificationPipeline extends Pipeline {
  (text: string, labels: string | string[], options?: ZeroShotClassificationOptions): Promise<ZeroShotResult>;
  (texts: string[], labels: string | string[], options?: ZeroShotClassificationOptions): Promise<ZeroShotResult[]>;
}

export interface TextGenerationPipeline extends Pipeline {
  (text: string, options?: TextGenerationOptions): Promise<GeneratedText[]>;
  (texts: string[], options?: TextGenerationOptions): Promise<GeneratedText[][]>;
  /** Token by token; between two of them, the page paints. */
  stream(text: string, options?: TextGenerationOptions): AsyncGenerator<GeneratedToken, void, undefined>;
}

export interface SpeechRecognitionPipeline extends Pipeline {
  (audio: Float32Array | Float64Array, options?: SpeechRecognitionOptions): Promise<Transcript>;
  (audio: (Float32Array | Float64Array)[], options?: SpeechRecognitionOptions): Promise<Transcript[]>;
}

type PipelineModel = Model | ModelSource | Promise<ModelSource>;

/** A task with the options and results of transformers.js' pipeline(). */
export function pipeline(task: "feature-extraction" | "embeddings", model: PipelineModel, options?: PipelineOptions):
  Promise<FeatureExtractionPipeline>;
export function pipeline(task: "text-classification" | "sentiment-analysis", model: PipelineModel,
  options?: PipelineOptions): Promise<TextClassificationPipeline>;
export function pipeline(task: "zero-shot-classification", model: PipelineModel, options?: PipelineOptions):
  Promise<ZeroShotClassificationPipeline>;
export function pipeline(task: "text-generation", model: PipelineModel, options?: PipelineOptions):
  Promise<TextGenerationPipeline>;
export function pipeline(task: "automatic-speech-recognition" | "asr", model: PipelineModel,
  options?: PipelineOptions): Promise<SpeechRecognitionPipeline>;
