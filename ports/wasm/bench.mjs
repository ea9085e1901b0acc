#!/usr/bin/env node
// Measures a model in Node and prints JSON on standard output: fovea-bench for WebAssembly.
import { readFile } from "node:fs/promises";
import os from "node:os";
import { parseArgs } from "node:util";
import { FoveaError } from "./fovea-node.mjs";
import { measure } from "./measure.mjs";

const USAGE = "usage: bench.mjs BLOB [--rows N] [--workers N] [--seconds S] [--program NAME]";

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rows: { type: "string" }, workers: { type: "string" }, seconds: { type: "string" }, program: { type: "string" },
    },
  });
  if (positionals.length !== 1) throw new FoveaError(USAGE);
  const [name] = positionals;
  const number = (option) => (values[option] === undefined ? undefined : Number(values[option]));
  const begin = performance.now();
  const blob = await readFile(name);
  const result = await measure(blob, {
    name, program: values.program, mapSeconds: (performance.now() - begin) / 1e3,
    rows: number("rows"), workers: number("workers"), seconds: number("seconds"),
    system: `Node ${process.version} on ${os.type()}`, processor: os.cpus()[0]?.model ?? "",
    hardwareThreads: os.cpus().length || 1,
  });
  console.log(JSON.stringify(result, null, 2));
}

main().catch((error) => {
  // Errors that a user can fix are one line: an argument, a file, a blob.
  const known = error instanceof FoveaError || error.syscall !== undefined || /PARSE_ARGS/.test(error.code);
  console.error(known ? `fovea: ${error.message.split("\n")[0]}` : error);
  process.exitCode = 2;
});
