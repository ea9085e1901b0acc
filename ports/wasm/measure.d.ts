import type { ModelSource } from "./fovea.js";

/** Times in milliseconds, the shortest and percentiles of the runs. */
export interface Latencies {
  min: number;
  p50: number;
  p90: number;
  p99: number;
}

/** The object that `fovea bench --json` also prints; tools/bench/machines.py makes tables of it. */
export interface Measurement {
  model: string;
  program: string;
  /** In all input spaces together. */
  rows: number;
  texts: number;
  workers: number;
  tile_rows: number;
  backend: string;
  target: string;
  machine: { system: string; architecture: string; processor: string; hardware_threads: number };
  clock: { name: string; counts: string; ticks_per_second: number };
  runs: number;
  latency_ms: Latencies;
  rows_per_second: number;
  gop_per_run: number;
  gops: number;
  /** `map`: given by the caller; `model`: Model.open, including the module's compilation if it is the first. */
  load_ms: { map: number; model: number; session: number };
  /** `peak_resident`: the module's memory. */
  bytes: { blob: number; model: number; fixed: number; state: number; scratch: number; peak_resident: number };
}

export interface MeasureOptions {
  /** The blob's name, for tables. */
  name?: string;
  program?: string;
  /** Rows of one text; default: 128, or the most that the model has positions for. */
  rows?: number;
  /** Duration, default 2. At least five runs. */
  seconds?: number;
  /** Time that it took to load the blob. */
  mapSeconds?: number;
  system?: string;
  processor?: string;
  hardwareThreads?: number;
  /** As for Model.open. */
  wasm?: string | URL | BufferSource | WebAssembly.Module;
  workers?: number;
}

/** Runs a program of the model with placeholder inputs. */
export function measure(source: ModelSource | Promise<ModelSource>, options?: MeasureOptions): Promise<Measurement>;
