// Measures a model here as `fovea bench --json` does on a machine: the same fields, from the same code.
import { constants as C } from "./declarations.mjs";
import { refuse } from "./errors.mjs";
import { Blocks } from "./library.mjs";
import { Model } from "./model.mjs";
import { optionsOf } from "./options.mjs";
import { load } from "./source.mjs";

const USUAL_ROWS = 128;
const ticksOf = (milliseconds) => Math.max(0, Math.round(milliseconds * 1e6));

function rowsOf(program, rows) {
  const inputs = program.values.filter((value) => value.role === "input");
  const most = Math.min(...inputs.map((value) => value.space.maxSegmentRows ?? Infinity));
  if (rows === undefined) return Math.min(USUAL_ROWS, most);
  if (!Number.isInteger(rows) || rows < 1) {
    refuse(`rows is ${rows}: a whole number above 0 is needed`, C.FOVEA_E_OPTION);
  }
  if (rows > most) refuse(`rows is ${rows}: the model takes ${most} at most`, C.FOVEA_E_OPTION);
  return rows;
}

function sessionFor(model, program, rows) {
  const limits = {};
  for (const space of model.spaces) {
    const needed = model.library.call("fovea_inputs_rows", model.handle, program.index, space.index, rows);
    if (needed > 0) limits[space.name] = needed;
  }
  return model.session({ program: program.name, limits, rows });
}

/**
 * Nanoseconds of each run, after one that is not counted: at least the fixed number of runs, and for `seconds`. Each
 * run is the first of its text.
 */
function runsOf(session, seconds) {
  const runs = [], reset = () => session.library.call("fovea_session_reset", session.handle);
  session.run();
  const begin = performance.now();
  for (let now = begin; runs.length < C.FOVEA_BENCH_RUNS || now - begin < 1e3 * seconds;) {
    reset();
    const start = performance.now();
    session.run();
    now = performance.now();
    runs.push(BigInt(ticksOf(now - start)));
  }
  return BigUint64Array.from(runs);
}

/** The measurement as JSON. `fields` are fields of fovea_bench; texts are copied. */
function jsonOf(session, fields, runs) {
  const { model, library } = session;
  return library.within((blocks) => {
    const bench = blocks.struct("fovea_bench", { run_count: runs.length, run_ticks: blocks.copy(runs) });
    for (const [name, value] of Object.entries(fields)) {
      bench.set(name, typeof value === "string" ? blocks.copy(new TextEncoder().encode(`${value}\0`)) : value);
    }
    const write = (at, size) =>
      library.call("fovea_bench_json", bench.address, model.handle, session.handle, at, size);
    const size = write(0, 0) + 1, at = blocks.make(size);
    write(at, size);
    return JSON.parse(library.string(at));
  });
}

export async function measure(source, options) {
  const { name = "", program, rows, seconds = 2, mapSeconds = 0, system, processor = "", hardwareThreads, wasm,
    workers } = optionsOf("measure", options);
  if (!(seconds >= 0 && seconds <= 3600)) refuse(`seconds is ${seconds}: it must be from 0 to 3600`, C.FOVEA_E_OPTION);
  const { bytes } = await load(source);
  const begin = performance.now();
  const model = await Model.open(bytes, { wasm, workers });
  const opened = performance.now();
  try {
    const about = model.program(program), length = rowsOf(about, rows);
    const before = performance.now();
    const session = sessionFor(model, about, length);
    const made = performance.now();
    const bound = model.library.number("fovea_inputs_write", session.handle, model.handle, about.index, length);
    const runs = runsOf(session, seconds);
    return jsonOf(session, {
      model_name: name, system: system ?? globalThis.navigator?.userAgent ?? "", architecture: "wasm32", processor,
      hardware_threads: hardwareThreads ?? globalThis.navigator?.hardwareConcurrency ?? 1,
      clock: "performance.now", counts: "nanoseconds", ticks_per_second: 1e9,
      map_ticks: ticksOf(1e3 * mapSeconds), model_ticks: ticksOf(opened - begin), session_ticks: ticksOf(made - before),
      model_bytes: model.modelBytes, fixed_bytes: session.sizes.fixed, state_bytes: session.sizes.state,
      scratch_bytes: session.sizes.scratch, peak_bytes: model.memory.total,
      program: about.index, texts: 1, rows: bound,
    }, runs);
  } finally {
    model.close();
  }
}
