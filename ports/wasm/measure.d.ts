/** Times in milliseconds, the shortest and percentiles of the runs. */
export interface Latencies {
  min: number;
  p50: number;
  p90: number;
  p99: number;
}

/** What `fovea bench --json` prints, too; tools/bench/machines.py makes tables of it. */
export interface Measurement {
  model: string;
  program: string;
  /** Of all input spaces together. */
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
  /** `map`: what the caller says; `model`: Model.open, the module's compilation included when it is the first. */
  load_ms: { map: number; model: number; session: number };
  /** `peak_resident`: the module's memory. */
  bytes: { blob: number; model: number; fixed: number; state: number; scratch: number; peak_resident: number };
}

export interface MeasureOptions {
  /** The blob's, for tables. */
  name?: string;
  program?: string;
  /** Of one text; 128, or what the model has positions for. */
  rows?: number;
  /** How long; 2. Five runs at least. */
  seconds?: number;
  /** How long it took to get the blob. */
  mapSeconds?: number;
  system?: string;
  processor?: string;
  hardwareThreads?: number;
  /** Those of Model.open. */
  wasm?: string | URL | BufferSource | WebAssembly.Module;
  workers?: number;
}

/** Runs a program of the model with inputs that mean nothing. */
export function measure(blob: ArrayBuffer | ArrayBufferView, options?: MeasureOptions): Promise<Measurement>;
