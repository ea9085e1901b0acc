// The package of ports/wasm through webpack, esbuild, Rollup and Vite without configuration: pages in headless Chromium
// and programs in Node give the command's results.   bundlers_test.mjs FOLDER COMMAND BLOB
// FOLDER/node_modules has the package and the bundlers.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Browser, chromiumFor } from "../../support/browser.mjs";
import { serve } from "./server.mjs";
import { assertNear } from "./support.mjs";

const [folder, command, blob] = process.argv.slice(2);
const chromium = chromiumFor("bundled pages of ports/wasm");
const TEXT = "A library to read compressed audio files. It supports FLAC and Ogg Vorbis.";
const TOLERANCE = 5e-3;  // as in package_test.mjs: int8
const said = JSON.parse(execFileSync(command, ["run", blob, "--text", TEXT, "--top", "5", "--json"]))[0];

// The program: it works in a page and in Node. In Node `process.argv[2]` is the model.
const PROGRAM = `
import { Model, pipeline } from "fovea";

async function main() {
  const page = typeof document === "object", steps = [];
  const source = page ? "model.fovea" : process.argv[2], workers = page && crossOriginIsolated ? 2 : page ? 1 : 2;
  const model = await Model.open(source, { workers, progress: (step) => steps.push(step) });
  const { classes, sentences } = model.explain(${JSON.stringify(TEXT)}, { top: 5 });
  const pipe = await pipeline("text-classification", model);
  const result = { classes, sentences, workers: model.workers, line: String(model), steps: steps.at(-1),
    piped: await pipe(${JSON.stringify(TEXT)}, { top_k: 5 }) };
  try {
    await Model.open("absent.fovea", { workers });
  } catch (error) {
    result.absent = error.message;
  }
  model.close();
  return JSON.stringify(result);
}

main().catch((error) => JSON.stringify({ error: String(error.stack) })).then((text) => {
  if (typeof document === "object") document.body.textContent = text;
  else console.log("RESULT " + text);
});
`;

function compare(result, where) {
  assert.equal(result.error, undefined, `${where}: ${result.error}`);
  assert.deepEqual(result.classes.map((c) => c.label), said.classes.map((c) => c.label), where);
  assertNear(result.classes.map((c) => c.probability), said.classes.map((c) => c.probability), TOLERANCE, where);
  assert.deepEqual(result.sentences.map((s) => s.text), said.sentences.map((s) => s.text), where);
  assert.deepEqual(result.piped.map((c) => c.label), said.classes.map((c) => c.label), where);
  assertNear(result.piped.map((c) => c.score), result.classes.map((c) => c.probability), 1e-12, where);
  assert.match(result.line, /^Model\(model\.fovea: 1\.11 MB; /, where);
  assert.equal(result.steps.loaded, statSync(blob).size, where);
  assert.ok(result.steps.done, where);
}

const bin = (name) => join(folder, "node_modules", ".bin", name);
const run = (dir, name, ...options) => execFileSync(bin(name), options, { cwd: dir, encoding: "utf8", stdio: "pipe" });
const sizeOf = (dir) => readdirSync(dir, { recursive: true, withFileTypes: true }).filter((file) => file.isFile())
  .map((file) => [file.name, statSync(join(file.parentPath ?? file.path, file.name)).size]);

/** Nothing is warned of but sizes: webpack wants assets below 244 KiB. */
function assertQuiet(printed, where) {
  const warnings = printed.split("\n").filter((line) => /warning|node:/i.test(line) &&
    !/WARNING in (asset size limit|entrypoint size limit|webpack performance)|compiled with \d+ warning/.test(line));
  assert.deepEqual(warnings, [], `${where}: ${printed}`);
}

/** A project: src/index.js, and a page that loads `script`. */
function project(name, script, type = "module") {
  const dir = join(folder, name);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(join(dir, "src"), { recursive: true });
  mkdirSync(join(dir, "public"));
  writeFileSync(join(dir, "package.json"), '{ "private": true, "type": "module" }\n');
  writeFileSync(join(dir, "src/index.js"), PROGRAM);
  copyFileSync(blob, join(dir, "public/model.fovea"));
  writeFileSync(join(dir, "index.html"), `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><body>
<script ${type === "module" ? 'type="module"' : "defer"} src="${script}"></script></body>`);
  return dir;
}

/** Puts a page beside a bundle that has none. */
function withPage(dir) {
  copyFileSync(join(dir, "index.html"), join(dir, "dist/index.html"));
  copyFileSync(blob, join(dir, "dist/model.fovea"));
  return join(dir, "dist");
}

const WEB = {
  webpack: { script: "main.js", kind: "classic", wasm: "asset", threads: true,
    build: (dir) => run(dir, "webpack", "--mode", "production") },
  "webpack development": { script: "main.js", kind: "classic", wasm: "asset", threads: true,
    build: (dir) => run(dir, "webpack", "--mode", "development") },
  "esbuild iife": { script: "index.js", kind: "classic", wasm: "inline",
    build: (dir) => run(dir, "esbuild", "src/index.js", "--bundle", "--minify", "--outfile=dist/index.js",
      "--log-override:empty-import-meta=silent") },
  "esbuild esm": { script: "index.js", wasm: "inline",
    build: (dir) => run(dir, "esbuild", "src/index.js", "--bundle", "--format=esm", "--splitting", "--outdir=dist") },
  rollup: { script: "index.js", wasm: "inline",
    build: (dir) => run(dir, "rollup", "-p", "@rollup/plugin-node-resolve", "-i", "src/index.js", "-d", "dist") },
  "vite build": { script: "/src/index.js", wasm: "asset", threads: true, own: true,
    build: (dir) => run(dir, "vite", "build", "--logLevel", "warn") },
};

async function inPage(browser, address, where, { wasm, threads }, isolated) {
  const page = await browser.page();
  await page.send("Page.navigate", { url: address });
  await page.until('document.body?.textContent.trim().startsWith("{")', 90);
  const result = JSON.parse(await page.evaluate("document.body.textContent"));
  compare(result, where);
  assert.match(result.absent, /absent\.fovea(: 404 Not Found| is no model of fovea but a web page \(HTML\))/);
  const modules = page.requests.filter((url) => /\.wasm(\?.*)?$/.test(new URL(url).pathname));
  if (wasm === "asset") {
    assert.equal(modules.length, 1, `${where}: ${modules}`);
    assert.equal(result.workers, isolated && threads ? 2 : 1, where);
    const noise = page.complaints.filter((text) => !/absent\.fovea/.test(text));
    assert.deepEqual(noise, [], where);
  } else {
    assert.equal(result.workers, 1, where);
  }
  return `${modules.length} requests of a module`;
}

const only = process.env.FOVEA_ONLY;
const chosen = (name) => only === undefined || name.includes(only);
const browser = new Browser(chromium);
try {
  for (const [name, bundler] of Object.entries(WEB).filter(([name]) => chosen(name))) {
    const dir = project(name.replace(" ", "-"), bundler.script, bundler.kind);
    const printed = bundler.build(dir);
    assertQuiet(printed, name);
    const root = bundler.own ? join(dir, "dist") : withPage(dir);
    for (const isolated of [false, true]) {
      const server = await serve(root, undefined, isolated);
      try {
        const note = await inPage(browser, `${server.origin}/index.html`, name, bundler, isolated);
        console.log(`${name}${isolated ? ", isolated" : ""}: as the command; ${note}`);
      } finally {
        server.close();
      }
    }
    console.log(sizeOf(root).map(([file, size]) => `  ${file} ${size}`).join("\n"));
  }

  if (chosen("vite dev")) {
    const dir = project("vite-dev", "/src/index.js");
    const vite = spawn(bin("vite"), ["--host", "127.0.0.1", "--port", "0"],
      { cwd: dir, stdio: ["ignore", "pipe", "pipe"] });
    try {
      const address = await new Promise((resolve, reject) => {
        let text = "";
        const timer = setTimeout(() => reject(new Error(`vite does not start: ${text}`)), 120e3);
        for (const stream of [vite.stdout, vite.stderr]) {
          stream.on("data", (data) => {
            text += String(data).replace(/\x1b\[[0-9;]*m/g, "");
            const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(text);
            if (found) resolve(found[0], clearTimeout(timer));
          });
        }
        vite.on("exit", (code) => reject(new Error(`vite ended (${code}): ${text}`)));
      });
      console.log(`vite dev: as the command; ${await inPage(browser, address, "vite dev", { wasm: "asset" }, false)}`);
    } finally {
      vite.kill();
    }
  }
} finally {
  await browser.close();
}

// Bundles for Node: two threads where the module for them is beside the bundle.
const NODE = {
  "webpack node": (dir) => [run(dir, "webpack", "--mode", "production", "--target", "node"), "dist/main.js"],
  "esbuild node cjs": (dir) => [run(dir, "esbuild", "src/index.js", "--bundle", "--platform=node",
    "--outfile=dist/index.cjs", "--log-override:empty-import-meta=silent"), "dist/index.cjs"],
  "esbuild node esm": (dir) => [run(dir, "esbuild", "src/index.js", "--bundle", "--platform=node", "--format=esm",
    "--outfile=dist/index.mjs"), "dist/index.mjs"],
  "vite ssr": (dir) => [run(dir, "vite", "build", "--ssr", "src/index.js", "--logLevel", "warn"), "dist/index.js"],
};
for (const [name, build] of Object.entries(NODE).filter(([name]) => chosen(name))) {
  const dir = project(name.replaceAll(" ", "-"), "");
  const [printed, script] = build(dir);
  assertQuiet(printed, name);
  if (name.startsWith("webpack")) writeFileSync(join(dir, "dist/package.json"), '{ "type": "commonjs" }\n');
  const output = execFileSync(process.execPath, [join(dir, script), join(dir, "public/model.fovea")],
    { encoding: "utf8", cwd: dir });
  const result = JSON.parse(/^RESULT (.*)$/m.exec(output)[1]);
  compare(result, name);
  assert.match(result.absent, /no such file/);
  console.log(`${name}: as the command, ${result.workers} threads`);
}

// Types, as TypeScript reads them with the resolution of Node and of bundlers.
if (chosen("types")) {
  const dir = join(folder, "types");
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "program.mts"), readFileSync(new URL("./types.mts", import.meta.url)));
  for (const options of [["--module", "nodenext"], ["--module", "esnext", "--moduleResolution", "bundler"]]) {
    run(dir, "tsc", "--noEmit", "--strict", "--target", "es2022", "--lib", "es2023,dom,dom.iterable", ...options,
      "program.mts");
  }
  assert.throws(() => {
    writeFileSync(join(dir, "wrong.mts"), 'import { Model } from "fovea"; await Model.open("a", { wrokers: 2 });\n');
    run(dir, "tsc", "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "wrong.mts");
  }, ({ stdout }) => /wrokers/.test(stdout));
  console.log("types: as declared");
}
