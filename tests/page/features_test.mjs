// Features of the page: answers, folded text, help, contrast, small maps of all heads, the threshold, hidden tokens,
// lines of one word, tables of several heads, pairs, files.   features_test.mjs TEMPLATE FOLDER
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Browser, chromiumFor } from "../support/browser.mjs";
import { done, driver, inView, panel, setHash, shades } from "./driver.mjs";
import { FIXTURES, halves, manyHeads, pageOf } from "./fixtures.mjs";
import { lineOf, weightsOf } from "./plain.mjs";

const [template, folder] = process.argv.slice(2), LEAST_CONTRAST = 4.5;
const chromium = chromiumFor("what the page of attention records offers"), page = readFileSync(template, "utf8");
mkdirSync(folder, { recursive: true });
const browser = new Browser(chromium), opened = driver(browser);

function write(name, json) {
  const path = join(folder, `${name}.html`);
  writeFileSync(path, pageOf(page, json));
  return path;
}

const textOf = (tab, selector) => tab.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText`);

async function testAnswer() {
  const json = FIXTURES.bert(), hidden = "Left out. ".repeat(60).trim();
  json.texts[0] += ` ${hidden}`;
  json.spaces[1].places[0][2] = json.texts[0].length;
  const classes = [{ label: "games", number: 0.75 }, { label: "<b>web</b>", number: 0.2 }];
  json.answers = [{ kind: "classes", entries: classes },
    { kind: "embedding", width: 64, entries: [{ label: "1", number: 0.5 }] }];
  json.reads = [{ text: 0, tokens: 128, of_tokens: 5288 }, { text: 1, tokens: 9, of_tokens: 9 }];
  const tab = await opened(write("answered", json)), answers = await textOf(tab, ".answers");
  for (const part of ["games with probability 0.7500", "<b>web</b>", "read 128 of 5,288 tokens", "read all 9 tokens",
      "An embedding of 64 numbers"]) assert.ok(answers.includes(part), `${part} in ${answers}`);
  assert.ok(await tab.evaluate(`document.querySelector(".answers").compareDocumentPosition(
    document.querySelector("[role=tablist]")) === Node.DOCUMENT_POSITION_FOLLOWING`), "before the views");
  const bars = await tab.evaluate(`[...document.querySelectorAll(".answers .bar")].map((bar) =>
    Number(getComputedStyle(bar).getPropertyValue("--share")))`);
  assert.deepEqual(bars.map((bar) => bar.toFixed(2)), ["1.00", "0.27", "1.00"]);
  const folded = `${inView("details.unread")}`;
  assert.equal(await tab.evaluate(`${folded}.open`), false);
  assert.ok((await tab.evaluate(`${folded}.lastChild.textContent`)).endsWith(hidden), "the text is there, folded");
  await done(tab);
  const written = await opened(write("wrote", FIXTURES.date()));
  assert.match(await textOf(written, ".answers"), /What the model wrote[^]*2011-03-03/);
  await done(written);
  const long = FIXTURES.bert(), said = "one two three ".repeat(60).trim();
  long.answers = [{ kind: "text", entries: [{ label: said, number: 0.5 }] }];
  const phone = await opened(write("long_answer", long), "", 390);
  const [[first, rest], summary, open] = await phone.evaluate(`[[...document.querySelectorAll(".answers .written")].map(
    (text) => text.textContent), document.querySelector(".answers summary").textContent,
    document.querySelector(".answers details").open]`);
  assert.ok(first.length <= 402 && !open, "the end is folded");
  assert.equal(`${first.slice(0, -2)} ${rest}`, said);
  assert.equal(summary, `the other ${said.length - first.length + 2} characters`);
  await done(phone);
}

async function testLastLayer() {
  for (const name of ["bert", "decoder"]) {
    const json = FIXTURES[name](), tab = await opened(write(name, json));
    assert.match(await tab.evaluate("location.hash"), new RegExp(`step=${json.steps.length - 1}&`));
    await done(tab);
  }
}

async function testHelp() {
  const tab = await opened(write("help", FIXTURES.bert()), "", 390);
  await tab.evaluate(`document.querySelector('[aria-label="How to read this page"]').click()`);
  const [sentences, terms, picture, wide] = await tab.evaluate(`(() => {
    const dialog = document.querySelector("dialog");
    return [dialog.querySelectorAll("p").length, [...dialog.querySelectorAll("dt")].map((dt) => dt.textContent),
      dialog.querySelector("svg").getBoundingClientRect().width, dialog.getBoundingClientRect().width]; })()`);
  assert.equal(sentences, 5);
  for (const term of ["token", "head", "query, key", "entropy"]) assert.ok(terms.includes(term), term);
  assert.ok(picture > 200 && wide <= 390);
  await tab.press("Escape");
  assert.equal(await tab.evaluate(`document.querySelector("dialog").open`), false);
  await done(tab);
}

/** The least contrast of the texts that are seen, with the text that has it. */
const LEAST = `(() => {
  const light = (rgb) => rgb.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const over = ([r, g, b, a = 1], back) => [r, g, b].map((v, i) => v * a + back[i] * (1 - a));
  const backOf = (node) => node ? over(numbers(getComputedStyle(node).backgroundColor), backOf(node.parentElement))
    : [255, 255, 255];
  const fade = (node) => node ? Number(getComputedStyle(node).opacity) * fade(node.parentElement) : 1;
  let least = [99, ""];
  const walker = document.createTreeWalker(document.getElementById("main"), NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const node = text.parentElement;
    if (!text.data.trim() || !node.checkVisibility() || node.closest("dialog, .tooltip, option, svg")) continue;
    const back = backOf(node), ink = numbers(getComputedStyle(node).color);
    const [a, b] = [light(over([...ink.slice(0, 3), (ink[3] ?? 1) * fade(node)], back)), light(back)];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < least[0]) least = [contrast, node.className + ": " + text.data.slice(0, 40)];
  }
  return least;
})()`;

async function testContrast() {
  const cut = FIXTURES.decoder();
  cut.texts[0] += " and what was cut off";
  for (const [name, json] of [...["bert", "hierarchy", "date", "picture", "sound", "pattern"].map((each) =>
      [each, FIXTURES[each]()]), ["cut", cut]]) {
    const path = write(name, json);
    for (const theme of ["light", "dark"]) {
      const tab = await opened(path, `#theme=${theme}`);
      for (const view of tab.tabs) {
        await tab.evaluate(`document.getElementById("tab-${view}").click()`);
        const [contrast, text] = await tab.evaluate(LEAST);
        assert.ok(contrast >= LEAST_CONTRAST, `${name} ${view} ${theme}: ${contrast.toFixed(2)} of ${text}`);
      }
      await done(tab);
    }
  }
}

async function testManyHeads() {
  const path = write("many", manyHeads(12, 12));
  for (const width of [390, 1280]) {
    const tab = await opened(path, "#view=heads", width);
    const boxes = await tab.evaluate(`[...document.querySelectorAll(".head canvas")].map((node) => {
      const { left, top, width, height } = node.getBoundingClientRect();
      return [left, top, width, height];
    })`), [grid, scrolls] = await tab.evaluate(`(() => { const node = document.querySelector(".heads");
      return [node.getBoundingClientRect().height, node.scrollHeight - node.clientHeight]; })()`);
    assert.equal(boxes.length, 144);
    for (const [left, , wide, high] of boxes) assert.ok(left >= 0 && left + wide <= width && wide >= 15 && high >= 15);
    assert.equal(new Set(boxes.map(([left]) => Math.round(left))).size, 12, "columns are heads");
    assert.equal(new Set(boxes.map(([, top]) => Math.round(top))).size, 12, "rows are layers");
    assert.ok(grid < 700 && scrolls <= 1, `${width}: all at once, ${grid} pixels high`);
    await done(tab);
  }
}

async function testLimits() {
  const json = FIXTURES.bert(), tab = await opened(write("limits", json), "#view=text&step=0&head=0&row=0.2");
  const line = lineOf(weightsOf(json, json.steps[0]), 2, 0);
  await tab.evaluate(`(() => { const list = [...document.querySelectorAll(".controls select")].at(-1);
    list.value = "0.1";
    list.dispatchEvent(new Event("change")); })()`);
  const shown = (await panel(tab)).rows.map(({ row }) => row).sort((a, b) => a - b);
  assert.deepEqual(shown, [...line.keys()].filter((key) => line.get(key) >= 0.1));
  assert.ok(shown.length < line.size);
  (await shades(tab))[0].forEach(({ row, value }) => assert.equal(value === null, line.get(row) < 0.1));
  await setHash(tab, "#view=text&step=0&head=0&row=0.2&plain=1");
  const visible = await tab.evaluate(`[...${inView(".tokens")}.querySelectorAll("[role=option]")]
    .filter((node) => node.checkVisibility()).map((node) => node.textContent)`);
  assert.ok(!visible.includes("[CLS]") && !visible.includes("[SEP]") && visible.includes("cat"), String(visible));
  assert.ok((await panel(tab)).rows.every(({ name }) => !name.startsWith("[")));
  await done(tab);
  const causal = FIXTURES.decoder(), other = await opened(write("causal", causal), "#view=text&step=0&row=0.3");
  assert.deepEqual((await panel(other)).rows.map(({ row }) => row).sort((a, b) => a - b), [0, 1, 2, 3],
    "only what the token saw");
  await done(other);
}

async function testLines() {
  const json = FIXTURES.bert(), tab = await opened(write("lines", json), "#view=lines&step=0&near=0.0");
  const weights = weightsOf(json, json.steps[0]);
  const drawn = () => tab.evaluate(`Number(${inView("canvas")}.dataset.lines)`);
  const all = await drawn(), box = await tab.evaluate(`(() => { const b = ${inView('.column [data-row="2"]')}
    .getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()`);
  await tab.send("Input.dispatchMouseEvent", { type: "mouseMoved", x: box[0], y: box[1] });
  const own = [...lineOf(weights, 2).values()].filter((weight) => weight >= 0.02).length;
  assert.equal(await drawn(), own, "the word under the pointer alone");
  assert.ok(all > own);
  await tab.send("Input.dispatchMouseEvent", { type: "mouseMoved", x: 5, y: 5 });
  assert.equal(await drawn(), all);
  // Two heads, both in the table.
  await setHash(tab, "#view=lines&step=0&head=0&row=0.2&heads=0.2");
  const table = await tab.evaluate(`[...document.querySelectorAll(".panel tr")].map((tr) =>
    [...tr.children].filter((cell) => cell.textContent).map((cell) => cell.textContent))`);
  assert.deepEqual(table[0].slice(2), ["head 0", "head 2", "Mean"]);
  for (const [row, , ...numbers] of table.slice(1)) {
    const values = [0, 2].map((head) => lineOf(weights, 2, head).get(Number(row)));
    assert.deepEqual(numbers.slice(0, 2), values.map((value) => value.toFixed(4)));
    assert.ok(Math.abs(Number(numbers[2]) - (values[0] + values[1]) / 2) < 5.1e-5, String(numbers));
  }
  await done(tab);
}

async function testPair() {
  const json = FIXTURES.bert(), step = json.steps[1], { rows } = json.spaces[0], width = 4, heads = step.heads.length;
  const number = (row, head, i, of) => ((row * 7 + head * 3 + i * 5 + of) % 9) / 4 - 1;  // halves hold it exactly
  const vectors = (of) => halves(Array.from({ length: rows * heads * width }, (_, at) =>
    number(Math.floor(at / heads / width), Math.floor(at / width) % heads, at % width, of)));
  step.vectors = { width, heads, queries: vectors(0), keys: vectors(4) };
  const tab = await opened(write("pair", json), "#view=heads&step=1&head=2&row=0.3");
  assert.match(await textOf(tab, ".pair"), /Choose a row of the table/);
  await tab.evaluate(`document.querySelector('.panel tbody tr[data-row="1"]').click()`);
  const dot = [0, 1, 2, 3].reduce((sum, i) => sum + number(3, 2, i, 0) * number(1, 2, i, 4), 0);
  const weight = weightsOf(json, step)[3][2].get(1), shown = await textOf(tab, ".pair");
  assert.ok(shown.includes(`Sum of 4 products ${dot.toFixed(4)}; divided by \u221a4: ${(dot / 2).toFixed(4)}; ` +
    `weight ${weight.toFixed(4)}.`), shown);
  assert.equal(await tab.evaluate(`document.querySelectorAll(".pair rect").length`), 12);
  await setHash(tab, "#view=heads&step=1&head=mean&row=0.3&pair=1");
  assert.match(await textOf(tab, ".pair"), /Choose one head/);
  await setHash(tab, "#view=heads&step=0&head=0&row=0.3&pair=1");
  assert.ok(await tab.evaluate(`document.querySelector(".pair").hidden`));
  await done(tab);
}

async function testTable() {
  const tab = await opened(write("table", FIXTURES.bert()));
  assert.ok(await tab.evaluate(`[...document.querySelectorAll(".panel tbody tr")].every((tr) => {
    const bar = tr.querySelector(".bar").getBoundingClientRect(), range = document.createRange();
    range.selectNodeContents(tr.lastChild);
    return bar.right <= range.getBoundingClientRect().left + 1;
  })`), "no bar is behind digits");
  assert.deepEqual(await tab.evaluate(`[...document.querySelectorAll(".panel th[scope=col]")].map((th) =>
    th.textContent)`), ["Position", "tokens", "Weight"]);
  await done(tab);
}

async function testFiles() {
  const json = FIXTURES.bert();
  json.texts[0] = json.texts[0].replace("cat", "\u732b\u3067");
  const [, begin] = json.spaces[0].places[2];
  json.spaces[0].labels[2] = "\u732b\u3067";
  const shift = -1;
  json.spaces[0].places = json.spaces[0].places.map((place, row) =>
    !place || place[0] !== 0 || place[1] < begin ? place :
      row === 2 ? [0, begin, begin + 2] : [0, place[1] + shift, place[2] + shift]);
  const tab = await opened(write("files", json), "#view=text&step=0&row=0.2");
  await tab.evaluate(`(() => { globalThis.saved = [];
    HTMLAnchorElement.prototype.click = function () { saved.push([this.download, this.href]); }; })()`);
  for (let i = 0; i < 3; ++i) await tab.evaluate(`document.querySelectorAll(".exports button")[${i}].click()`);
  await tab.until("saved.length === 3");
  const files = Object.fromEntries((await tab.evaluate("saved")).map(([name, address]) =>
    [name.split(".").at(-1), [name, address]]));
  assert.match(files.svg[0], /^[\w.-]+-text-encoder0-mean\.svg$/);
  const text = (address) => decodeURIComponent(address.slice(address.indexOf(",") + 1)), svg = text(files.svg[1]);
  const words = await tab.evaluate(`(() => { const svg = new DOMParser().parseFromString(${JSON.stringify(svg)},
    "image/svg+xml"); return [svg.querySelectorAll("parsererror").length, svg.querySelectorAll("rect").length,
      [...svg.querySelectorAll("text")].map((node) => node.textContent)]; })()`);
  assert.equal(words[0], 0);
  assert.ok(words[1] >= 8 && words[2].includes("\u732b\u3067") && words[2].includes("sat"), String(words[2]));
  const [{ shade }] = (await shades(tab))[0].filter(({ row }) => row === 2);
  assert.ok(svg.includes(`fill="${shade}"`), "the page's own colours");
  const pixels = await tab.evaluate(`new Promise((done, failed) => { const image = new Image();
    image.onerror = failed;
    image.onload = () => { const canvas = document.createElement("canvas"), context = canvas.getContext("2d");
      Object.assign(canvas, { width: image.width, height: image.height });
      context.drawImage(image, 0, 0);
      const { data } = context.getImageData(0, 0, image.width, image.height);
      done([image.width, image.height, new Set(new Uint32Array(data.buffer)).size]); };
    image.src = ${JSON.stringify(files.png[1])}; })`);
  assert.ok(pixels[0] > 800 && pixels[1] > 100 && pixels[2] > 30, String(pixels));
  writeFileSync(join(folder, "saved.png"), Buffer.from(files.png[1].split(",")[1], "base64"));
  writeFileSync(join(folder, "saved.svg"), svg);
  const lines = text(files.csv[1]).trim().split("\r\n"), line = lineOf(weightsOf(json, json.steps[0]), 2);
  assert.equal(lines[0], "row,tokens,mean weight of 4 heads");
  assert.equal(lines.length, line.size + 1);
  for (const each of lines.slice(1)) {
    const [row, , value] = each.split(",");
    assert.ok(Math.abs(Number(value) - line.get(Number(row))) < 1e-6, each);
  }
  await done(tab);
}

try {
  for (const [what, work] of Object.entries({ answer: testAnswer, "last layer": testLastLayer, help: testHelp,
    contrast: testContrast, "144 heads": testManyHeads, limits: testLimits, lines: testLines, table: testTable,
    pair: testPair, files: testFiles })) {
    if (process.env.ONLY && !what.startsWith(process.env.ONLY)) continue;  // while a test is written
    await work();
    console.log(`${what}: passed`);
  }
} finally {
  await browser.close();
}
