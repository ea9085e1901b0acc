// Where models of the package of ports/wasm come from, as npm installed it, in Node: every kind of source, progress,
// the cache, refusals; options that do not exist; objects in a line. FOVEA_BLOBS is a folder with blobs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createReadStream, cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { openAsBlob } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { gzipSync } from "node:zlib";
import { FoveaError, Model, Tensor, pipeline } from "fovea";
import { measure } from "fovea/measure";
import { serve } from "./server.mjs";

const blobs = process.env.FOVEA_BLOBS, path = `${blobs}/package-section.fovea`;
const bytes = readFileSync(path), TEXT = "a text editor";
const folder = mkdtempSync(join(tmpdir(), "fovea-sources-"));
const server = await serve(blobs, (name, request, response) => {
  const answers = {
    "/page.fovea": () => response.end("<!DOCTYPE html>\n<html><body>Not here</body></html>"),
    "/chunked.fovea": () => {
      response.write(bytes);
      response.end();
    },
    "/empty.fovea": () => response.end(),
    "/zipped.fovea": () => {
      const packed = gzipSync(bytes);
      response.writeHead(200, { "content-encoding": "gzip", "content-length": packed.length });
      response.end(packed);
    },
    "/broken.fovea": () => {
      response.writeHead(200, { "content-length": bytes.length });
      response.write(bytes.subarray(0, 1000), () => setTimeout(() => response.destroy(), 20));
    },
    "/slow.fovea": () => {
      response.writeHead(200, { "content-length": bytes.length });
      response.write(bytes.subarray(0, 1000));
    },
  };
  answers[name]?.();
  return name in answers;
});
after(() => {
  server.close();
  rmSync(folder, { recursive: true });
});
const address = `${server.origin}/package-section.fovea`;
const reference = await Model.open(bytes), expected = reference.classify(TEXT);

function refused(what, status, text) {
  const check = (error) => {
    assert.ok(error instanceof FoveaError, String(error.stack));
    assert.equal(error.statusName, status);
    assert.match(error.message, text);
    return true;
  };
  return typeof what === "function" ? assert.throws(what, check) : assert.rejects(what, check);
}

/** The lines that `use` writes to the console, and its result. */
async function noted(use) {
  const lines = [], usual = { warn: console.warn, info: console.info };
  console.warn = console.info = (line) => lines.push(line);
  try {
    return { result: await use(), lines };
  } finally {
    Object.assign(console, usual);
  }
}

test("every kind of source makes the same model", async () => {
  const shared = new SharedArrayBuffer(bytes.length);
  new Uint8Array(shared).set(bytes);
  const sources = {
    path, "relative path": relative(process.cwd(), path), "file URL": pathToFileURL(path),
    "file URL as text": pathToFileURL(path).href, address, URL: new URL(address), Request: new Request(address),
    Response: await fetch(address), promise: fetch(address), "Node stream": createReadStream(path),
    Blob: new Blob([bytes]), "file blob": await openAsBlob(path),
    ArrayBuffer: Uint8Array.from(bytes).buffer, SharedArrayBuffer: shared, Buffer: bytes,
    "part of a buffer": new Uint8Array(Uint8Array.from([0, ...bytes]).buffer, 1),
    DataView: new DataView(Uint8Array.from(bytes).buffer), "without a length": `${server.origin}/chunked.fovea`,
    compressed: `${server.origin}/zipped.fovea`,
  };
  for (const [kind, source] of Object.entries(sources)) {
    const model = await Model.open(source);
    assert.deepEqual(model.classify(TEXT), expected, kind);
    model.close();
  }
  const response = await fetch(address);  // which Node cancels once nothing refers to it
  assert.deepEqual((await Model.open(response.body)).classify(TEXT), expected, "stream");
  assert.ok(response.bodyUsed);
});

test("progress ends with all bytes, and never goes back", async () => {
  const { length } = bytes;
  for (const [source, total, name] of [[path, length, pathToFileURL(path).href], [address, length, address],
    [`${server.origin}/chunked.fovea`, null], [`${server.origin}/zipped.fovea`, null], [bytes, length, "bytes"]]) {
    const steps = [];
    await Model.open(source, { progress: (step) => steps.push(step) });
    steps.forEach((step, i) => {
      assert.ok(step.loaded > (steps[i - 1]?.loaded ?? 0) || step.done, "it grows");
      assert.equal(step.done, i === steps.length - 1);
      assert.equal(step.total, step.done ? bytes.length : total);
      assert.equal(step.cached, false);
      if (name) assert.equal(step.name, name);
    });
    assert.ok(steps.length >= 1 && steps.length <= 101, `${steps.length} steps`);
    assert.equal(steps.at(-1).loaded, bytes.length);
  }
});

test("an error of the progress function is thrown on", async () => {
  for (const source of [path, address, bytes]) {
    const wrong = new RangeError("of the caller");
    await assert.rejects(Model.open(source, { progress: () => {
      throw wrong;
    } }), (error) => error === wrong);
  }
});

test("the cache is asked first; what is damaged in it is loaded again", async () => {
  const cache = join(folder, "cache");
  const asked = () => server.requests.filter((one) => /package-section/.test(one)).length;
  const open = (options = {}) => noted(() => Model.open(address, { cache, ...options }));
  const before = asked();
  const { lines } = await open();
  assert.deepEqual([asked() - before, lines], [1, []]);
  const [file, ...more] = readdirSync(cache);
  assert.match(file, /^[0-9a-f]{16}-package-section\.fovea$/);
  assert.deepEqual(more, [], "nothing else is left there");
  assert.deepEqual(readFileSync(join(cache, file)), bytes);
  const steps = [];
  const again = await open({ progress: (step) => steps.push(step) });
  assert.equal(asked() - before, 1, "not asked again");
  assert.ok(steps.every((step) => step.cached));
  assert.deepEqual(again.result.classify(TEXT), expected);
  for (const damage of [(copy) => copy.fill(60, 0, 100), (copy) => (copy[copy.length - 100] ^= 1), (copy) =>
    copy.subarray(0, 5000)]) {
    const copy = Buffer.from(bytes), asking = asked();
    writeFileSync(join(cache, file), damage(copy)?.length === 5000 ? copy.subarray(0, 5000) : copy);
    const { result, lines } = await open();
    assert.deepEqual(result.classify(TEXT), expected);
    assert.equal(asked() - asking, 1);
    assert.equal(lines.length, 1);
    assert.match(lines[0], /^fovea: the cached copy of http:.* is damaged .*; it is loaded again$/);
    assert.deepEqual(readFileSync(join(cache, file)), bytes);
  }
  await refused(Model.open(`${server.origin}/page.fovea`, { cache }), "FOVEA_E_MAGIC", /a web page/);
  assert.deepEqual(readdirSync(cache), [file], "what is no model is not kept");
  writeFileSync(join(folder, "file"), "");
  const none = await noted(() => Model.open(address, { cache: join(folder, "file") }));
  assert.match(none.lines[0], /^fovea: no cache: /);
  await refused(Model.open(address, { cache: 7 }), "FOVEA_E_OPTION", /cache is 7: true, false or a name/);
});

test("what is no model is named, with the way out", async () => {
  const A = "FOVEA_E_ARGUMENT", M = "FOVEA_E_MAGIC", at = (name) => `${server.origin}/${name}`;
  for (const [source, status, text] of [
    [at("none.fovea"), A, /^cannot load http:.*none\.fovea: 404 Not Found /],
    [fetch(at("none.fovea")), A, /none\.fovea: 404 Not Found/],
    [at("page.fovea"), M, /page\.fovea is no model of fovea but a web page \(HTML\): "<!DOCTYPE html>.*is the address/],
    [at("broken.fovea"), A, /broken\.fovea broke off/],
    [at("empty.fovea"), "FOVEA_E_TRUNCATED", /empty\.fovea is empty/],
    ["http://127.0.0.1:9/a.fovea", A, /cannot load http:\/\/127\.0\.0\.1:9\/a\.fovea: /],
    ["none.fovea", A, /cannot read .*none\.fovea: no such file/],
    [tmpdir(), A, /this is a directory; 'fovea convert DIR/],
    [new URL(import.meta.url), M, /sources_test\.mjs is no model of fovea but something else: "\/\/ Where/],
    [Buffer.from("GGUF\x03\0\0\0"), M, /the source is no model of fovea but a GGUF file; 'fovea convert' makes/],
    [Buffer.from("version https://git-lfs.github.com/spec/v1\noid"), M, /a pointer of Git LFS.*git lfs pull/],
    [gzipSync(bytes), M, /compressed with gzip; unpack it/],
    [Buffer.from('{"error":"no token"}'), M, /but JSON: .*no token/],
    [Buffer.from("\0asm\x01\0\0\0"), M, /a WebAssembly module/],
    [bytes.subarray(0, 1000), "FOVEA_E_TRUNCATED", /found 1000/],
    [undefined, A, /a model is an address or a path, .*not undefined/], [null, A, /not null/], [7, A, /not number/],
    [{}, A, /not an object \(Object\)/], [[bytes], A, /not an array/],
  ]) {
    await refused(Model.open(source), status, text);
  }
  const read = await fetch(address);
  await read.arrayBuffer();
  await refused(Model.open(read), A, /already read/);
  const stop = new AbortController();
  const opening = Model.open(at("slow.fovea"), { signal: stop.signal, progress: () => stop.abort() });
  setTimeout(() => stop.abort(), 300);
  await assert.rejects(opening, { name: "AbortError" });
  await refused(Model.open(path, { progress: 1 }), "FOVEA_E_OPTION", /progress is no function/);
  for (const [wasm, text] of [[address, /instead of application\/wasm/], [Buffer.alloc(9), /no WebAssembly module/],
    ["none.wasm", /no such file/], [7, /wasm is number/]]) {
    await refused(Model.open(path, { wasm }), A, text);
  }
});

test("an option that does not exist is refused, with the one that was meant", async () => {
  const O = "FOVEA_E_OPTION", model = reference;
  await refused(Model.open(bytes, { wrokers: 2 }), O, /^Model\.open: no option 'wrokers': did you mean 'workers'\?/);
  await refused(Model.open(bytes, { onProgress: 2 }), O, /no option 'onProgress': did you mean 'progress'\?/);
  await refused(Model.open(bytes, "x"), O, /options are an object, not string x/);
  await refused(Model.open(bytes, null), O, /not null/);
  await refused(measure(bytes, { row: 2 }), O, /no option 'row': did you mean 'rows'\?/);
  refused(() => model.embed("a", { normalize: true }), O, /no option 'normalize': did you mean 'normalise'\?/);
  refused(() => model.classify("a", { topk: 3 }), O, /no option 'topk': did you mean 'top'\?/);
  refused(() => model.classify("a", 3), O, /options are an object, not number 3/);
  refused(() => model.run("a", { taps: [{ step: "attentions.0", row: "all" }] }), O, /a tap: no option 'row':.*'rows'/);
  refused(() => model.explain("a", { xyz: 1 }), O, /no option 'xyz'; there are: program, maxLength/);
  refused(() => model.session({ limit: {} }), O, /a session: no option 'limit': did you mean 'limits'\?/);
  refused(() => model.tokenizer.encode("a", { max_length: 3 }), O, /'max_length': did you mean 'maxLength'\?/);
  refused(() => model.tokenizer.decode([1], { keep_special: 3 }), O, /did you mean 'keepSpecial'\?/);
  refused(() => model.generate("a", { maxtoken: 3 }), O, /no option 'maxtoken': did you mean 'maxTokens'\?/);
  await refused(pipeline("text-classificaton", model), "FOVEA_E_NAME", /did you mean 'text-classification'\?/);
  const classify = await pipeline("text-classification", model);
  await refused(classify("a", { topk: 2 }), O, /text-classification: no option 'topk': did you mean 'top_k'\?/);
  await refused(pipeline("text-classification", bytes, { dtype: "q4" }), O, /no option 'dtype'/);
  refused(() => model.run("a", { keep: ["hidden_states.9"] }), "FOVEA_E_NAME", /did you mean 'hidden_states\.\d'\?/);
});

test("objects print themselves in a line", async () => {
  const model = await Model.open(path), lines = [
    [model, /^Model\(package-section\.fovea: \d\.\d\d MB; encode; \w+; 31 labels; word_piece of 5600\)$/],
    [model.tokenizer, /^Tokenizer\(word_piece of 5600, 128 tokens at most\)$/],
    [model.tokenizer.encode(TEXT), /^Encoding\(\d tokens of "a text editor"\)$/],
    [model.run(TEXT).outputs.logits, /^Matrix\(1 x 31, Float32Array\)$/],
    [model.run(TEXT, { taps: ["attentions.0"] }).attentionMaps["attentions.0"],
      /^AttentionMap\(3 heads, \d query rows in tokens, keys in tokens, dense\)$/],
    [model.session({ rows: 8 }), /^Session\(encode, [\d.]+ KB\)$/],
    [await pipeline("text-classification", model), /^pipeline\(text-classification, Model\(.*\)\)$/],
    [new Tensor("float32", new Float32Array(6), [2, 3]), /^Tensor\(float32, \[2, 3\]\)$/],
  ];
  for (const [object, line] of lines) {
    assert.match(String(object), line);
    assert.equal(inspect(object), String(object));
  }
  model.close();
  assert.equal(inspect(model), "Model(package-section.fovea: closed)");
});

test("without the module beside the script its copy in the script is used, which is reported", () => {
  const copy = join(folder, "package");
  cpSync(dirname(createRequire(import.meta.url).resolve("fovea/package.json")), copy, { recursive: true });
  const program = `import { Model } from ${JSON.stringify(pathToFileURL(join(copy, "fovea-node.mjs")).href)};
    const model = await Model.open(${JSON.stringify(path)}, { workers: 2 });
    console.log(JSON.stringify([model.workers, model.classify(${JSON.stringify(TEXT)})]));`;
  const run = () => execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" })
    .trim().split("\n");
  rmSync(join(copy, "worker-node.mjs"));  // a bundler that leaves out the worker: its script is inlined
  assert.deepEqual(run().map((line) => JSON.parse(line)), [[2, expected]]);
  rmSync(join(copy, "fovea-threads.wasm"));
  const [note, result] = run();
  assert.match(note, /^fovea: fovea-threads\.wasm is not beside the script .*with one thread; copy/);
  assert.deepEqual(JSON.parse(result), [1, expected]);
  rmSync(join(copy, "fovea-inline.mjs"));
  assert.throws(run, /cannot load fovea-threads\.wasm: .*nor the copy in the scripts/);
});
