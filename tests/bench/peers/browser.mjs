// fovea's package beside transformers.js in headless Chromium: one model with the same weights, one thread each.
//
//   browser.mjs PACKAGE COMMAND FOLDER [TURNS]
// PACKAGE is build/wasm32/ports/wasm/package, COMMAND this machine's fovea command; FOLDER gets transformers.js and
// esbuild from npm, and the models. It needs npm, chromium, and a python3 with numpy (PYTHON names another one). Prints
// the table of ports/wasm/README.md.
//
// Both pages are bundled by esbuild, and come from a server that compresses scripts and modules (gzip), as servers do.
// Bytes are what Chromium received. The renderer's processor time and peak of resident memory are the system's figures
// for its process; the programs run in turns, each in a new browser. Embeddings are compared before anything is timed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import os from "node:os";
import { extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { Browser, chromiumFor } from "../../support/browser.mjs";

const PACKAGES = ["@huggingface/transformers@4.3.2", "esbuild@0.28.2"];
const AGREE = { f32: 1e-4, int8: 0.1 };  // relative to the norm, as peers.py has it
const TEXTS = { short: "A library to read compressed audio files.",
  long: "Turn-based strategy game. The player leads a tribe from the stone age to the stars! ".repeat(6) };
const RUNS = 20;
const [program, command, given, turns = "5"] = process.argv.slice(2);
const folder = resolve(given), convert = resolve(command), here = fileURLToPath(new URL(".", import.meta.url));
const chromium = chromiumFor("fovea beside transformers.js");
const run = (name, ...options) => execFileSync(name, options, { cwd: folder, encoding: "utf8" });

/** Runs in a page and leaves the embedding and times, in milliseconds, in its window. */
const measured = (open) => `
const said = (window.said = {});
(async () => {
  ${open}
  const texts = ${JSON.stringify(TEXTS)};
  said.embedding = [...(await embed(texts.short))];
  said.first = performance.now();
  window.ready = true;
  await new Promise((resolve) => (window.proceed = resolve));
  for (const [name, text] of Object.entries(texts)) {
    await embed(text);
    window.stage = name;
    await new Promise((resolve) => (window.proceed = resolve));
    const times = [];
    for (let i = 0; i < ${RUNS}; ++i) {
      const begin = performance.now();
      await embed(text);
      times.push(performance.now() - begin);
    }
    said[name] = times;
    window.stage = name + " done";
    await new Promise((resolve) => (window.proceed = resolve));
  }
  window.stage = "end";
})().catch((error) => (said.error = String(error.stack)));`;

const PAGES = {
  fovea: (kind) => `import { pipeline } from "fovea";
${measured(`const extract = await pipeline("feature-extraction", "model-${kind}.fovea");
  const embed = async (text) => (await extract(text, { pooling: "mean" })).data;`)}`,
  "transformers.js": (kind) => `import { env, pipeline } from "@huggingface/transformers";
${measured(`env.allowLocalModels = true;
  env.allowRemoteModels = false;
  env.localModelPath = "models/";
  env.backends.onnx.wasm.wasmPaths = new URL("ort/", location.href).href;
  env.backends.onnx.wasm.numThreads = 1;
  const extract = await pipeline("feature-extraction", "encoder", { dtype: "${kind === "f32" ? "fp32" : "q8"}",
    device: "wasm" });
  const embed = async (text) => (await extract(text, { pooling: "mean" })).data;`)}`,
};

function prepare() {
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, "node_modules/esbuild"))) {
    writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
    run("npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", ...PACKAGES);
  }
  rmSync(join(folder, "node_modules/fovea"), { recursive: true, force: true });
  cpSync(program, join(folder, "node_modules/fovea"), { recursive: true });
  if (!existsSync(join(folder, "pair"))) {
    run(process.env.PYTHON ?? "python3", "-B", join(here, "browser_models.py"), join(folder, "pair"));
  }
  const site = join(folder, "site"), modules = join(folder, "node_modules");
  rmSync(site, { recursive: true, force: true });
  for (const [name, page] of Object.entries(PAGES)) {
    for (const kind of ["f32", "int8"]) {
      const dir = join(site, name, kind);
      mkdirSync(dir, { recursive: true });
      writeFileSync(join(folder, "page.js"), page(kind));
      run(join(modules, ".bin/esbuild"), "page.js", "--bundle", "--minify", "--format=esm", "--splitting",
        "--platform=browser", "--log-level=error", `--outdir=${dir}`);
      writeFileSync(join(dir, "index.html"),
        '<!doctype html><link rel="icon" href="data:,"><script type="module" src="page.js"></script>');
      if (name === "fovea") {
        cpSync(join(program, "fovea.wasm"), join(dir, "fovea.wasm"));
        run(convert, "convert", join(folder, "pair/fovea"), "-o", join(dir, `model-${kind}.fovea`), "--compare", "none",
          "--weights", kind);
      } else {
        cpSync(join(folder, "pair/models"), join(dir, "models"), { recursive: true });
        const own = join(modules, "@huggingface/transformers/node_modules/onnxruntime-web/dist");
        cpSync(existsSync(own) ? own : join(modules, "onnxruntime-web/dist"), join(dir, "ort"), { recursive: true });
      }
    }
  }
  return site;
}

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm",
  ".json": "application/json" };

async function serve(site) {
  const packed = new Map();  // compressed before it is asked for twice
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://x").pathname), type = TYPES[extname(path)];
    try {
      const file = join(site, path), raw = readFileSync(file);
      if (type && !packed.has(file)) packed.set(file, gzipSync(raw, { level: 9 }));
      const data = type ? packed.get(file) : raw;
      response.writeHead(200, { "content-type": type ?? "application/octet-stream", "content-length": data.length,
        ...(type ? { "content-encoding": "gzip" } : {}) });
      response.end(data);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return server;
}

/** Processor time in milliseconds, and the peak of resident memory in bytes, of a process. */
function processOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
  const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1];
  return { time: 10 * (Number(fields[11]) + Number(fields[12])), peak: 1024 * Number(peak) };  // ticks of 10 ms
}

async function turn(address) {
  const browser = new Browser(chromium);
  try {
    const page = await browser.page(), sizes = new Map();
    browser.listeners.push(({ method, params }) => {
      if (method === "Network.loadingFinished") sizes.set(params.requestId, params.encodedDataLength);
    });
    const renderers = async () => (await browser.send("SystemInfo.getProcessInfo")).processInfo
      .filter(({ type }) => type === "renderer").map(({ id }) => id);
    const before = new Map((await renderers()).map((id) => [id, processOf(id)]));
    await page.send("Page.navigate", { url: address });
    const until = async (what) => {
      await page.until(`${what} || window.said?.error`, 300);
      const error = await page.evaluate("window.said.error");
      assert.equal(error ?? undefined, undefined);
    };
    const own = async () => {
      const all = (await renderers()).map((id) => processOf(id));
      return { time: all.reduce((sum, one) => sum + one.time, 0), peak: Math.max(...all.map((one) => one.peak)) };
    };
    await until("window.ready");
    const base = [...before.values()].reduce((sum, one) => sum + one.time, 0);
    const result = { startTime: (await own()).time - base, bytes: [...sizes.values()].reduce((a, b) => a + b, 0) };
    for (const name of Object.keys(TEXTS)) {
      await page.evaluate("window.proceed()");
      await until(`window.stage === "${name}"`);
      const begin = (await own()).time;
      await page.evaluate("window.proceed()");
      await until(`window.stage === "${name} done"`);
      result[`${name}Time`] = ((await own()).time - begin) / RUNS;
    }
    const { product: version } = await browser.send("Browser.getVersion");
    return { ...result, peak: (await own()).peak, said: await page.evaluate("window.said"), version,
      requests: page.requests.map((url) => new URL(url).pathname) };
  } finally {
    await browser.close();
  }
}

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const site = prepare(), server = await serve(site);
try {
  const origin = `http://127.0.0.1:${server.address().port}`, rows = [];
  let version;
  for (const kind of ["f32", "int8"]) {
    const results = { fovea: [], "transformers.js": [] };
    for (let i = 0; i < Number(turns); ++i) {
      for (const name of i % 2 ? Object.keys(PAGES).reverse() : Object.keys(PAGES)) {
        const result = await turn(`${origin}/${name}/${kind}/index.html`);
        results[name].push(result);
        ({ version } = result);
        if (i === 0) console.error(name, kind, result.requests.join(" "), result.bytes);
      }
    }
    const [ours, theirs] = Object.values(results).map(([first]) => first.said.embedding);
    const off = Math.hypot(...ours.map((x, i) => x - theirs[i])) / Math.hypot(...theirs);
    assert.ok(off < AGREE[kind], `${kind}: the embeddings differ by ${off}`);
    for (const [name, all] of Object.entries(results)) {
      const of = (field) => median(all.map(field));
      const shortest = (text) => Math.min(...all.flatMap(({ said }) => said[text]));
      rows.push([`${name}, ${kind}`, of(({ bytes }) => bytes), of(({ said }) => said.first), of((one) => one.startTime),
        shortest("short"), of((one) => one.shortTime), shortest("long"), of((one) => one.longTime),
        of(({ peak }) => peak)]);
    }
    console.error(`${kind}: the embeddings differ by ${off.toExponential(1)} of their norm`);
  }
  const mb = (bytes) => (bytes / 1e6).toFixed(1);
  console.log(`${version}, ${os.cpus()[0].model}, ${new Date().toISOString().slice(0, 10)}, load ` +
    os.loadavg()[0].toFixed(0));
  console.log("| | MB to download | first result, ms (processor) | short text, ms (processor) | long text, ms " +
    "(processor) | peak memory, MB |\n| --- | --- | --- | --- | --- | --- |");
  for (const [name, bytes, first, start, short, shortTime, long, longTime, peak] of rows) {
    console.log(`| ${name} | ${mb(bytes)} | ${first.toFixed(0)} (${start.toFixed(0)}) | ${short.toFixed(1)} ` +
      `(${shortTime.toFixed(1)}) | ${long.toFixed(1)} (${longTime.toFixed(1)}) | ${mb(peak)} |`);
  }
} finally {
  server.close();
}
