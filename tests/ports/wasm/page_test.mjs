// The page of ports/wasm in headless Chromium: for typed texts it shows the command's results; it requests nothing but
// its own files, and nothing goes wrong.   page_test.mjs PAGE_FOLDER COMMAND BLOB
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { Browser, chromiumFor } from "../../support/browser.mjs";
import { assertNear, most } from "./support.mjs";

const [folder, command, blob] = process.argv.slice(2);
if (!existsSync(command)) {
  console.error(`${command} is missing: build the preset host-release`);
  process.exit(1);
}
const chromium = chromiumFor("the page of ports/wasm");
const TOLERANCE = 5e-3;  // as in package_test.mjs; numbers on the page are rounded to 4 and 2 digits
// The module comes as servers send it that do not know its type.
const TYPES = { ".html": "text/html", ".css": "text/css", ".mjs": "text/javascript" };

// A page in a folder of a server that also has other files; below /isolated the same, isolated from other origins.
const ISOLATED = "/isolated", ISOLATION = {
  "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" };
const missing = [];
const server = createServer((request, response) => {
  let path = normalize(new URL(request.url, "http://x").pathname);
  const isolated = path.startsWith(`${ISOLATED}/`);
  if (isolated) path = path.slice(ISOLATED.length);
  try {
    if (!path.startsWith("/folder/")) throw new Error("outside");
    const file = path === "/folder/" ? "index.html" : path.slice("/folder/".length);
    const data = readFileSync(join(folder, file));
    response.writeHead(200, {
      "content-type": TYPES[extname(file)] ?? "application/octet-stream", ...(isolated ? ISOLATION : {}) });
    response.end(data);
  } catch {
    missing.push(path);
    response.writeHead(404);
    response.end();
  }
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${server.address().port}`, address = `${origin}/folder/`;

const shown = `({
  classes: [...document.querySelectorAll("#classes li")].map((li) =>
    ({ label: li.querySelector(".label").textContent, probability: Number(li.querySelector(".number").textContent) })),
  sentences: [...document.querySelectorAll("#reasons > li")].map((li) => ({
    text: li.querySelector(".sentence").textContent, share: Number(li.querySelector(".number").textContent),
    words: [...li.querySelectorAll("li")].map((word) => {
      const weight = word.querySelector(".number").textContent;
      return { text: word.textContent.slice(weight.length + 1), weight: Number(weight) };
    }) })),
  marks: [...document.querySelectorAll("#shown mark")].map((mark) => mark.textContent),
  text: document.getElementById("shown").textContent,
})`;

function compares(text, page) {
  const said = JSON.parse(execFileSync(command, ["run", blob, "--text", text, "--top", "5", "--json"]))[0];
  assert.deepEqual(page.classes.map((c) => c.label), said.classes.map((c) => c.label), text);
  assertNear(page.classes.map((c) => c.probability), said.classes.map((c) => c.probability), TOLERANCE, "probability");
  const sentences = most(said.sentences, "share", 3);
  assert.deepEqual(page.sentences.map((s) => s.text), sentences.map((s) => s.text));
  assertNear(page.sentences.map((s) => s.share), sentences.map((s) => s.share), TOLERANCE, "share");
  page.sentences.forEach((sentence, i) => {
    const words = most(sentences[i].words, "weight", 3);
    assert.deepEqual(sentence.words.map((w) => w.text), words.map((w) => w.text), "decisive words");
    assertNear(sentence.words.map((w) => w.weight), words.map((w) => w.weight), TOLERANCE + 0.005, "weight");
  });
  assert.deepEqual(page.marks, said.sentences.flatMap((s) => s.words.map((w) => w.text)));
  assert.equal(page.text, text);
}

const browser = new Browser(chromium);
try {
  const page = await browser.page();
  await page.send("Page.navigate", { url: address });
  await page.until('document.getElementById("text")?.disabled === false');
  const active = "document.activeElement.id || document.activeElement.textContent";
  assert.equal(await page.evaluate(active), "text", "one can type at once");

  // While it is typed: every prefix of the text is also answered.
  const text = "A library to read compressed audio files. It supports FLAC and Ogg Vorbis.";
  for (const part of [text.slice(0, 22), text.slice(22)]) {
    await page.send("Input.insertText", { text: part });
    const whole = part === text.slice(22) ? text : part;
    await page.until(`document.getElementById("shown").textContent === ${JSON.stringify(whole)}`);
    compares(whole, await page.evaluate(shown));
  }

  // By the keyboard alone: Tab to the second example, Enter.
  for (let i = 0; i < 2; ++i) await page.press("Tab");
  const example = await page.evaluate(active);
  assert.match(example, /^Turn-based strategy game\./);
  await page.press("Enter", "\r");
  await page.until(`document.getElementById("shown").textContent === ${JSON.stringify(example)}`);
  compares(example, await page.evaluate(shown));

  // Other scripts, markup, lines; then nothing.
  const odd = 'Ça <b>marche</b>? "漢字" 🎮\nA game; see <script>alert(1)</script>.';
  await page.evaluate('document.getElementById("text").select(); document.getElementById("text").focus()');
  await page.send("Input.insertText", { text: odd });
  await page.until(`document.getElementById("shown").textContent === ${JSON.stringify(odd)}`);
  compares(odd, await page.evaluate(shown));
  await page.evaluate('document.getElementById("text").select()');
  await page.send("Input.insertText", { text: " " });
  await page.until('document.getElementById("result").hidden');

  // Light and dark, both legible.
  const colours = [];
  for (const value of ["light", "dark"]) {
    await page.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value }] });
    const style = "getComputedStyle(document.body)";
    colours.push(await page.evaluate(`[${style}.color, ${style}.backgroundColor]`));
  }
  assert.deepEqual(colours, [["rgb(26, 26, 26)", "rgb(255, 255, 255)"], ["rgb(232, 232, 232)", "rgb(21, 23, 26)"]]);

  // The measured work equals the command's count.
  const measured = await page.evaluate(`import(new URL("fovea/measure.mjs", location)).then(async ({ measure }) =>
    measure(await (await fetch("model.fovea")).arrayBuffer(), { rows: 12, seconds: 0.1 }))`);
  const counted = JSON.parse(execFileSync(command, ["bench", blob, "--rows", "12", "--seconds", "0", "--json"]));
  for (const name of ["rows", "gop_per_run"]) assert.equal(measured[name], counted[name], name);
  assert.match(measured.machine.system, /Chrome/);
  assert.ok(measured.runs >= 5 && measured.latency_ms.p99 > 0);

  assert.deepEqual(page.complaints, []);
  assert.deepEqual(missing, []);
  assert.ok(page.requests.length >= 10, `${page.requests.length} requests`);
  for (const url of page.requests) assert.ok(url.startsWith(address) || url === "data:,", `asks for ${url}`);
  console.log(`page: as the command says; ${page.requests.length} requests, all to its own folder`);

  // Isolated, the page has workers, and shows the same.
  const said = [];
  for (const [where, workers] of [[address, "1"], [`${origin}${ISOLATED}/folder/`, "3"]]) {
    const tab = await browser.page();
    await tab.send("Emulation.setHardwareConcurrencyOverride", { hardwareConcurrency: 3 });
    await tab.send("Page.navigate", { url: where });
    await tab.until('document.getElementById("text")?.disabled === false');
    assert.equal(await tab.evaluate('document.getElementById("status").dataset.workers'), workers);
    await tab.send("Input.insertText", { text });
    await tab.until(`document.getElementById("shown").textContent === ${JSON.stringify(text)}`);
    said.push(await tab.evaluate(shown));
    compares(text, said.at(-1));
    assert.deepEqual(tab.complaints, []);
    const fetched = tab.requests.filter((url) => url.endsWith(".wasm"));
    assert.deepEqual(fetched, [`${where}fovea/fovea${workers === "1" ? "" : "-threads"}.wasm`]);
  }
  assert.deepEqual(said[1], said[0]);
  assert.deepEqual(missing, []);

  // A missing feature is reported in words.
  const bare = await browser.page();
  await bare.send("Network.setBlockedURLs", { urls: ["*model.fovea"] });
  await bare.send("Page.navigate", { url: address });
  await bare.until('document.getElementById("status")?.className === "failed"');
} finally {
  await browser.close();
  server.close();
}
