// Compares builds of ports/wasm in Node: runs of a session over rows of tokens, in turns.
//   modules.mjs [--rows 16,128] [--seconds 4] PACKAGE[@WORKERS]... BLOB.fovea...
// PACKAGE is a folder ports/wasm/package of a build; `PACKAGE@N` runs it with N workers. The first package is the
// baseline. Prints the best times and the ratio of the first package's time to each.
import { readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({
  options: { rows: { type: "string", default: "16,128" }, seconds: { type: "string", default: "4" } },
  allowPositionals: true, strict: true,
});
const blobs = positionals.filter((name) => name.endsWith(".fovea"));
const packages = positionals.filter((name) => !name.endsWith(".fovea"));
if (packages.length === 0 || blobs.length === 0) {
  console.error("usage: modules.mjs [--rows 16,128] [--seconds 4] PACKAGE[@WORKERS].. BLOB.fovea..");
  process.exit(2);
}

async function sessionOf(name, blob, rows) {
  const [folder, workers] = name.split("@");
  const { Model } = await import(`${resolve(folder)}/fovea.mjs`);
  const model = await Model.open(readFileSync(blob), { workers: Number(workers ?? 1) });
  const program = model.programs[0];
  const session = model.session({ rows });
  for (const value of program.values.filter((one) => one.role === "input")) {
    const space = value.space;
    session.setSegments(space.name, [rows]);
    const numbers = Int32Array.from({ length: rows * value.width }, (_, i) =>
      value.name === "input_ids" ? (i * 7919) % value.idLimit : 0);
    session.write(value.name, numbers);
  }
  return { name, model, session, times: [] };
}

const best = (times) => Math.min(...times);
for (const blob of blobs) {
  for (const rows of values.rows.split(",").map(Number)) {
    const all = [];
    for (const name of packages) all.push(await sessionOf(name, blob, rows));
    const end = performance.now() + 1000 * Number(values.seconds);
    for (let turn = 0; performance.now() < end; ++turn) {
      for (const one of all) {
        const begin = performance.now();
        one.session.run();
        if (turn >= 20) one.times.push(performance.now() - begin);  // before that, the module is still being compiled
      }
    }
    for (const { name, times } of all) {
      const ratio = best(all[0].times) / best(times);
      console.log(`${basename(blob)}  ${rows} rows  ${best(times).toFixed(3)} ms  ${ratio.toFixed(2)}  ` +
        `${times.length} runs  ${name}`);
    }
    for (const { model } of all) model.close();
  }
}
