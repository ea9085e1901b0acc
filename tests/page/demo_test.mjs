// The page of ports/wasm with other blobs than its own: what it does for classifiers, embeddings and models that write,
// with a library of stubs; tests/ports/wasm tests it with the library.   demo_test.mjs
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Browser, chromiumFor } from "../support/browser.mjs";

const chromium = chromiumFor("the page of ports/wasm with other blobs");
const folder = join(fileURLToPath(import.meta.url), "../../../ports/wasm/page");
const TYPES = { ".html": "text/html", ".css": "text/css", ".mjs": "text/javascript" };
// Models by the name of their file: the one of the page, and three that a reader may choose.
const LIBRARY = `
const value = (name) => ({ name, role: "output" }), program = (name, ...values) => ({ name, values });
const base = (metadata, ...programs) => ({ workers: 1, metadata, programs, program: () => programs[0],
  close() { this.closed = true; } });
const explained = { classes: [{ label: "games", probability: 0.75, score: 0.75 },
  { label: "web", probability: 0.25, score: 0.25 }],
  words: null, sentences: null, droppedSentences: 0 };
const MODELS = {
  "model.fovea": () => ({ ...base({ "explain.sentences": "s" }, program("main", value("logits"))),
    explain: (text) => ({ ...explained, sentences: [{ text, share: 1, words: [{ text, begin: 0, end: text.length,
      weight: 1, share: 1 }] }] }) }),
  "topics.fovea": () => ({ ...base({ name: "Topics" }, program("main", value("logits"))), explain: () => explained }),
  "vectors.fovea": () => ({ ...base({}, program("main", value("sentence_embedding"))),
    embed: (texts) => texts.map((text) => Float32Array.of(text.length, 1)),
    similarity: (a, b) => a.map((row) => b.map((other) => row.reduce((sum, x, i) => sum + x * other[i], 0) /
      Math.hypot(...row) / Math.hypot(...other))) }),
  "writer.fovea": () => ({ ...base({ name: "Writer" }, program("decode", value("logits"))),
    generatePrograms: { decode: "decode" },
    generate: (text, { maxTokens }) => ({ text: text + " and so on", tokens: [1, 2, maxTokens], close() {},
      [Symbol.iterator]: function* () { yield 1; } }) }),
};
export const Model = { open: async (source) => MODELS[source.name ?? source]?.() ??
  Promise.reject(new Error(source.name + " is no model of fovea")) };`;

const server = createServer((request, response) => {
  const path = new URL(request.url, "http://x").pathname.slice(1) || "index.html";
  const data = path === "fovea/fovea.mjs" ? LIBRARY : readFileSync(join(folder, path));
  response.writeHead(200, { "content-type": TYPES[extname(path)] });
  response.end(data);
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const browser = new Browser(chromium);
try {
  const page = await browser.page();
  await page.send("Page.navigate", { url: `http://127.0.0.1:${server.address().port}/` });
  await page.until('document.getElementById("text")?.disabled === false');
  const type = async (text) => {
    await page.evaluate(`(() => { const field = document.getElementById("text");
      field.value = ${JSON.stringify(text)};
      field.dispatchEvent(new Event("input")); })()`);
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    return page.evaluate('document.querySelector("main").innerText');
  };
  const choose = async (name) => {
    await page.evaluate(`(() => { const list = new DataTransfer(), input = document.getElementById("blob");
      list.items.add(new File(["x"], ${JSON.stringify(name)}));
      input.files = list.files;
      input.dispatchEvent(new Event("change")); })()`);
    await page.evaluate("new Promise((done) => setTimeout(done, 100))");
  };
  const has = (text, ...parts) => parts.forEach((part) => assert.ok(text.includes(part), `${part} in ${text}`));
  has(await type("a game"), "What is this package for?", "games", "0.7500", "What decided");

  await choose("topics.fovea");
  const topics = await type("any text at all");
  has(topics, "Topics", "The model topics.fovea runs in this page", "games, computed in", "Classes");
  assert.ok(!topics.includes("What decided") && !topics.includes("package"), topics);

  await choose("vectors.fovea");
  has(await type("abc\nabcd\nx"), "Most similar lines", "abcd", "0.9971", "compared with 2 below it");

  await choose("writer.fovea");
  has(await type("Once"), "Writer", "What the model wrote", "Once and so on", "3 tokens");

  await choose("broken.fovea");
  has(await type("Once"), "Writer", "Once and so on");  // the former model stays
  assert.deepEqual(page.complaints, []);
  console.log("the page takes texts for every kind of blob");
} finally {
  await browser.close();
  server.close();
}
