// Measurements of the package against the command's for the same blobs: fields, work and bytes; and its program's
// output and refusals. Times are compared only by their order.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { FoveaError } from "fovea";
import { measure } from "fovea/measure";

const { FOVEA_SOURCE: source, FOVEA_BLOBS: blobs, FOVEA_COMMAND: command } = process.env;
const program = new URL("./node_modules/fovea/bench.mjs", import.meta.url).pathname;

/** Names of all fields, including fields of nested objects. */
const fieldsOf = (measured, before = "") => Object.entries(measured).flatMap(([name, value]) =>
  [before + name, ...(typeof value === "object" ? fieldsOf(value, `${before}${name}.`) : [])]);

const host = (blob, { backend, rows, tile_rows, program: name, workers = 1 }) => JSON.parse(execFileSync(command,
  ["bench", blob, "--backend", backend, "--rows", rows, "--tile-rows", tile_rows, "--program", name,
    "--workers", workers, "--seconds", "0", "--json"]));

// A blob, its program, rows of the text and workers; every blob is a model of another kind.
for (const [name, entry, rows, workers] of [["package-section", undefined, 64], ["package-section", "encode", 7],
  ["package-section", "encode", 64, 2], ["documents", undefined, 12], ["writer-encoder", undefined, 33],
  ["dates", "encode", 16], ["package-writer", "decode", 8]]) {
  test(`${name}, ${rows} rows, ${workers ?? 1} workers: fields, work and bytes are the command's`, async () => {
    const blob = `${blobs}/${name}.fovea`;
    const here = await measure(readFileSync(blob), { name: blob, program: entry, rows, workers, seconds: 0 });
    assert.equal(here.workers, workers ?? 1);
    const there = host(blob, { ...here, rows });
    assert.deepEqual(fieldsOf(here), fieldsOf(there));
    for (const field of ["model", "program", "rows", "texts", "workers", "tile_rows", "backend", "gop_per_run"]) {
      assert.equal(here[field], there[field], field);
    }
    // Tables of pointers are smaller here, rows take the same bytes: nearly all of scratch, little of the other blocks.
    for (const [block, least] of [["blob", 1], ["state", 1], ["scratch", 0.98], ["model", 0.5], ["fixed", 0.5]]) {
      const ratio = here.bytes[block] / there.bytes[block];
      assert.ok(here.bytes[block] === there.bytes[block] || (ratio >= least && ratio <= 1), `${block}: ${ratio}`);
    }
    const { blob: all, model, fixed, state, scratch, peak_resident: peak } = here.bytes;
    assert.ok(peak > all + model + fixed + state + scratch && peak % 65536 === 0, "pages of the module's memory");
    assert.equal(here.runs, 5);
    const { min, p50, p90, p99 } = here.latency_ms;
    assert.ok(min > 0 && min <= p50 && p50 <= p90 && p90 <= p99);
    assert.ok(Math.abs(here.rows_per_second * p50 / 1e3 / here.rows - 1) < 1e-4);
  });
}

test("the program prints rows that fit into one table with the command's", () => {
  const folder = mkdtempSync(join(tmpdir(), "fovea-bench-"));
  try {
    const blob = `${blobs}/package-section.fovea`;
    const [node, native, bars] = ["node.json", "host.json", "bars.svg"].map((name) => join(folder, name));
    writeFileSync(node, execFileSync(process.execPath, [program, blob, "--rows", "16", "--workers", "2", "--seconds",
      "0.01"]));
    const { backend } = JSON.parse(readFileSync(node, "utf-8"));
    writeFileSync(native, JSON.stringify(host(blob, { backend, rows: 16, tile_rows: 16, program: "encode",
      workers: 2 })));
    const table = execFileSync("python3", [`${source}/tools/bench/machines.py`, "--svg", bars, `wasm=${node}`, native],
      { encoding: "utf-8" });
    assert.equal(table.match(/^###/gm).length, 1, table);
    assert.equal(table.match(/^\| /gm).length, 4, table);
    assert.ok(table.includes(`\n| wasm | WASM | ${backend} | nanoseconds |`), table);
    assert.equal(readFileSync(bars, "utf-8").match(/<rect x=/g).length, 2);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("what cannot be measured is refused in one line", async () => {
  const blob = `${blobs}/package-section.fovea`;
  for (const [given, said] of [[[], /usage/], [[blob, blob], /usage/], [[`${blobs}/none`], /none/],
    [[blob, "--rows", "9999"], /128 at most/], [[blob, "--rows", "2.5"], /whole/], [[blob, "--seconds=-1"], /seconds/],
    [[blob, "--workers", "0"], /workers is 0/], [[blob, "--fast"], /--fast/],
    [[blob, "--program", "decode"], /decode/], [[program], /FOVEA_E_MAGIC/]]) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...given], { encoding: "utf-8" });
    assert.equal(status, 2, stderr);
    assert.equal(stdout, "");
    assert.match(stderr, said);
    assert.match(stderr, /^fovea: [^\n]*\n$/);
  }
  await assert.rejects(measure(readFileSync(blob), { rows: 0 }), FoveaError);
});
