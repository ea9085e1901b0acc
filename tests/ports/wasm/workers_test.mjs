// Workers of the package of ports/wasm as npm installed it, in Node: the same bits for any number of them, and an end
// to all of them. FOVEA_BLOBS is a folder with blobs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { FoveaError, Model } from "fovea";

const blobs = process.env.FOVEA_BLOBS;
const read = (name) => readFileSync(`${blobs}/${name}.fovea`);
const COUNTS = [1, 2, 3];
const TEXTS = ["a text editor", "", "A library to read compressed audio files. It supports FLAC, and Ogg Vorbis too.",
  "fonts ".repeat(70), "Ça va? 🎮 漢字"];

// Every worker that is started.
const started = [];
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (...given) {
  started.push({ worker: this, exit: once(this, "exit") });
  return post.apply(this, given);
};
async function ended(count) {
  const all = started.splice(0);
  assert.equal(all.length, count, "workers that were started");
  const late = new Promise((_, reject) => setTimeout(reject, 20e3, new Error("a worker did not end")).unref());
  const awake = setInterval(() => {}, 1e3);  // workers do not keep a program going
  await Promise.race([Promise.all(all.map(({ exit }) => exit)), late]).finally(() => clearInterval(awake));
}

/** Expects the same result of `use` for a model with any number of workers. */
async function sameFor(name, use) {
  const results = [];
  for (const workers of COUNTS) {
    const model = await Model.open(read(name), { workers });
    assert.equal(model.workers, workers);
    results.push(use(model));
    model.close();
    await ended(workers - 1);
  }
  for (const result of results.slice(1)) assert.deepStrictEqual(result, results[0], name);
}

test("any number of workers computes the same bits", async () => {
  const keep = ["hidden_states.1", "hidden_states.2"];
  const taps = [{ step: "attentions.1" }, { step: "attentions.2", form: "sparse", rows: "first" }];
  await sameFor("package-section", (model) => [TEXTS, TEXTS[3], "a"].map((texts) => {
    const { outputs, attentionMaps } = model.run(texts, { keep, taps });
    return [outputs, Object.values(attentionMaps).map((one) => [one.data, one.keys, one.values])];
  }));
  await sameFor("documents", (model) => model.explain(TEXTS));
});

test("any number of workers writes the same texts", async () => {
  const options = { maxTokens: 16, temperature: 0.8, topK: 40, seed: 3 };
  await sameFor("package-writer", (model) => [...model.generate("fonts / fonts-uba\n", options)]);
  await sameFor("dates", (model) => [...model.generate("3rd of March 2014")]);
});

test("one worker starts none; a module for one thread has one", async () => {
  const wasm = readFileSync(createRequire(import.meta.url).resolve("fovea/fovea.wasm"));
  const model = await Model.open(read("package-section"), { workers: 3, wasm });
  assert.equal(model.workers, 1);
  assert.equal(started.length, 0);
  assert.ok(model.classify("a")[0].probability > 0);
});

test("workers end with what goes wrong", async () => {
  for (const workers of [0, -1, 1.5, 65, "2"]) {
    await assert.rejects(Model.open(read("dates"), { workers }), (error) =>
      error instanceof FoveaError && error.statusName === "FOVEA_E_OPTION" && /1 to 64/.test(error.message));
  }
  assert.equal(started.length, 0);
  await assert.rejects(Model.open(new Uint8Array(4096), { workers: 3 }), { statusName: "FOVEA_E_MAGIC" });
  await ended(2);
});

test("a trap in one thread ends all, and no run waits for ever", async () => {
  for (const trap of [
    // All threads call a task that is none; the workers end by themselves.
    ({ threads }, run) => assert.throws(() => run(threads.address, 3, 0, 0), WebAssembly.RuntimeError),
    // The call of a worker that traps.
    ({ exports, threads }) => exports.threads_stop(threads.address),
  ]) {
    const model = await Model.open(read("package-section"), { workers: 3 });
    assert.ok(model.classify(TEXTS[3])[0].probability > 0);
    const { library } = model;
    const options = library.scratch.struct("fovea_session_options");
    library.threads.use(options.address);
    trap(library, library.exports.__indirect_function_table.get(options.get("runner")));
    await ended(2);
    assert.throws(() => model.classify(TEXTS[3]), WebAssembly.RuntimeError);
    model.close();
  }
});

test("a program that forgets a model ends", () => {
  const program = `import { readFileSync } from "node:fs"; import { Model } from "fovea";
    const model = await Model.open(readFileSync(${JSON.stringify(`${blobs}/dates.fovea`)}), { workers: 3 });
    console.log(model.generate("May 1 1999").finish());`;
  const said = execFileSync(process.execPath, ["--input-type=module", "-e", program],
    { cwd: new URL(".", import.meta.url), timeout: 30000, encoding: "utf8" });
  assert.equal(said, "1999-05-01\n");
});
