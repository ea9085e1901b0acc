// The page of attention records in headless Chromium: it shows the record's numbers, the keyboard reaches all of it, a
// choice holds in every view, it requests nothing and nothing goes wrong.   page_test.mjs TEMPLATE FOLDER [PAGE...]
// Screenshots of all views go to FOLDER. A PAGE is one that `fovea attend` made; the test uses only its record.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { Browser, chromiumFor } from "../support/browser.mjs";
import { active, done, driver, go, hashOf, inView, panel, setHash, shades } from "./driver.mjs";
import { FIXTURES, long, pageOf } from "./fixtures.mjs";
import { keysOf, lineOf, receivedOf, rolloutOf, segment, weightsOf } from "./plain.mjs";

const [template, folder, ...made] = process.argv.slice(2);
const chromium = chromiumFor("the page of attention records");
const F32 = 1e-6, F16 = 1e-6;  // means of at most a few numbers, rounded to f32; both sides read the same halves
const WRITTEN = 5.1e-5;        // numbers on the page have four digits
mkdirSync(folder, { recursive: true });
const browser = new Browser(chromium), opened = driver(browser);
let compared = 0;

function near(got, expected, tolerance, what) {
  ++compared;
  assert.ok(Math.abs(got - expected) <= tolerance, `${what}: ${got}, expected ${expected}`);
}

/** Compares the panel's table with a Map of the expected numbers. */
function compareTable({ rows, title }, expected, tolerance) {
  assert.equal(rows.length, expected.size, title);
  for (const { row, value, text } of rows) {
    near(value, expected.get(row), tolerance, `${title} ${row}`);
    near(Number(text), expected.get(row), Math.max(WRITTEN, Math.abs(value) * 0.06 * (Math.abs(value) < 1e-4)),
      `${title} ${row} as text`);
  }
  rows.slice(1).forEach(({ value }, i) => assert.ok(value <= rows[i].value, "the greatest first"));
}

async function shoot(page, name) {
  const { data } = await page.send("Page.captureScreenshot", { format: "png", captureBeyondViewport: true });
  writeFileSync(join(folder, `${name}.png`), Buffer.from(data, "base64"));
}

/** Every view at both widths, in light and dark: nothing is wider than the window; screenshots. */
async function look(path, name) {
  for (const [width, theme] of [[1280, "light"], [390, "dark"]]) {
    const page = await opened(path, `#theme=${theme}`, width);
    for (const tab of page.tabs) {
      await go(page, tab);
      await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
      const wide = await page.evaluate("document.documentElement.scrollWidth");
      assert.ok(wide <= width, `${name} ${tab}: ${wide} pixels at a width of ${width}`);
      assert.ok(await page.evaluate(`document.getElementById("view").innerText.length > 0 &&
        document.getElementById("view").offsetHeight > 40`), `${name} ${tab} shows something`);
      const map = await page.evaluate(`document.querySelector("canvas.map")?.clientHeight`);
      assert.ok(!map || map >= 76, `${name} ${tab}: a map of ${map} pixels, names included`);
      await shoot(page, `${name}-${tab}-${width}`);
    }
    const [text, back] = await page.evaluate(`[getComputedStyle(document.body).color,
      getComputedStyle(document.body).backgroundColor]`);
    const light = (colour) => colour.match(/\d+/g).map(Number)[0] > 128;
    assert.equal(light(back), theme === "light");
    assert.equal(light(text), theme === "dark");
    await done(page);
  }
}

/** Rows chosen in each step: the table has the line's numbers, regardless of the step's form. */
async function compareLines(page, json, tolerance, most = 3) {
  for (const [s, step] of json.steps.entries()) {
    if (step.form === "pattern") continue;
    const weights = weightsOf(json, step), heads = ["mean", step.heads.at(-1)].filter((head) => head !== undefined);
    const rows = [...new Set([step.rows[Math.floor(step.rows.length / 2)], step.rows[0], step.rows.at(-1)])].slice(0,
      most);
    for (const head of heads) {
      for (const row of rows) {
        await setHash(page, `#view=${page.view}&step=${s}&head=${head}&row=${step.query_space}.${row}`);
        const { step: shown } = await hashOf(page);
        if (shown !== String(s)) continue;  // the view has no such step
        const expected = lineOf(weights, row, head === "mean" ? head : step.heads.indexOf(head));
        const [begin, last] = keysOf(json, step, row), whole = new Map();
        const sees = step.causal && step.query_space === step.key_space && !step.scores, end = sees ? row + 1 : last;
        for (let key = begin; key < end; ++key) if (Number.isFinite(expected.get(key) ?? 0)) whole.set(key,
            expected.get(key) ?? 0);
        // An alignment has steps for some rows only.
        if ((await hashOf(page)).row !== `${step.query_space}.${row}`) continue;
        compareTable(await panel(page), whole, tolerance);
      }
    }
  }
}

async function testText(path, json) {
  const page = await opened(path, "#step=0");
  page.view = "text";
  const tokens = json.spaces[0], weights = json.steps.map((step) => weightsOf(json, step));
  // Nothing chosen: what each row receives.
  const [begin, end] = segment(tokens, 0),
    rows = tokens.labels.map((_, i) => i).filter((row) => row >= begin && row < end);
  const received = receivedOf(weights[0], rows, [begin, end]);
  (await shades(page))[0].forEach(({ row, value, label }, i) => {
    near(value, received[row], F32, "received");
    assert.ok(label.endsWith(`, ${received[i].toFixed(4)}`), label);
  });
  // Weights that rows give to the rows beside them.
  await page.evaluate('document.querySelector("input[value=gives]").click()');
  (await shades(page))[0].forEach(({ row, value }) => near(value, 1 - lineOf(weights[0], row).get(row), 2 * F32,
    "given"));
  // The text is in the page as it is, words and what is between them; markup in it is text.
  for (const [text, row] of [[json.texts[0], 0], [json.texts[1], end]]) {
    await setHash(page, `#view=text&near=0.${row}`);
    const shown = await page.evaluate(`[...${inView(".tokens")}.childNodes]
      .filter((node) => !node.classList?.contains("apart")).map((node) => node.textContent).join("").trim()`);
    assert.equal(shown.replaceAll("\n", ""), text);
  }
  // A word, by the pointer and by keys; where it looks, and what looks at it.
  await setHash(page, "#view=text&near=0.0");
  const box = await page.evaluate(`(() => {
    const b = ${inView('[data-row="2"]')}.getBoundingClientRect();
    return [b.x + b.width / 2, b.y + b.height / 2];
  })()`);
  const mouse = (type, at = box) => page.send("Input.dispatchMouseEvent",
    { type, x: at[0], y: at[1], button: "left", clickCount: 1 });
  await mouse("mouseMoved");
  assert.match(await page.evaluate('document.querySelector(".tooltip").textContent'), /^cat, \d\.\d{4}$/);
  await mouse("mousePressed");
  await mouse("mouseReleased");
  for (const [s, head] of [[0, "mean"], [1, 1]]) {
    await setHash(page, `#view=text&step=${s}&head=${head}&row=0.2`);
    const line = lineOf(weights[s], 2, head);
    (await shades(page))[0].forEach(({ row, value }) => near(value, line.get(row), F32, "line"));
    await page.evaluate('document.querySelector("input[value=receives]").click()');
    assert.match((await panel(page)).title, /What looks at “cat”/);
    (await shades(page))[0].forEach(({ row, value }) => near(value, lineOf(weights[s], row, head).get(2), F32,
      "column"));
  }
  await page.evaluate(`${inView(".tokens")}.focus()`);
  await page.press("ArrowRight");
  assert.equal((await hashOf(page)).row, "0.3");
  const descendant = `document.getElementById(${inView(".tokens")}.getAttribute("aria-activedescendant"))`;
  assert.equal(await page.evaluate(`${descendant}.dataset.row`), "3");
  await page.press("End");
  assert.equal((await hashOf(page)).row, `0.${end - 1}`);
  await page.press("Escape");
  assert.equal((await hashOf(page)).near, `0.${end - 1}`);
  // Rollout, named as what it is.
  await setHash(page, "#view=text&step=1&row=0.4&rollout=1");
  const product = rolloutOf(json, json.steps, [begin, end]);
  (await shades(page))[0].forEach(({ row, value }) => near(value, product[4][row], F32, "rollout"));
  assert.match(await page.evaluate(inView(".legend") + ".textContent"), /rollout over 2 layers, an estimate/);
  assert.equal(await page.evaluate("document.scripts.length"), 2, "texts make no scripts");
  assert.equal(await page.evaluate('document.querySelectorAll("#main b, #main script").length'), 0,
    "texts make no elements");
  await compareLines(page, json, F32);
  await done(page);
}

async function testHeads(path, json) {
  const page = await opened(path, "#view=heads&step=0");
  const weights = json.steps.map((step) => weightsOf(json, step)), [begin, end] = segment(json.spaces[0], 0);
  const cells = await page.evaluate(`[...document.querySelectorAll(".head")].map((node) => ({
    step: Number(node.dataset.step), head: Number(node.dataset.head), text: node.getAttribute("aria-label") }))`);
  assert.equal(cells.length, 8);
  for (const { step, head, text } of cells) {
    let [bits, distance] = [0, 0];
    for (let row = begin + 1; row < end; ++row) {
      for (const [key, weight] of weights[step][row][head]) {
        bits -= (weight * Math.log2(weight)) / (end - begin - 1);
        distance += (weight * Math.abs(key - row)) / (end - begin - 1);
      }
    }
    const [, got, far] = /entropy ([\d.]+) bits · mean distance ([\d.]+) rows/.exec(text);
    near(Number(got), bits, 0.0051, "entropy");
    near(Number(far), distance, 0.051, "distance");
  }
  const groups = () =>
    page.evaluate('[...document.querySelectorAll(".head-group h4")].map((node) => node.textContent)');
  assert.deepEqual(await groups(), ["Layer 1", "Layer 0"], "the last layer first");
  await page.evaluate(`(() => {
    const list = ${inView("select")};
    list.value = "kind";
    list.dispatchEvent(new Event("change"));
  })()`);
  assert.deepEqual(await groups(), ["diagonal", "previous", "next", "first token", "broad", "mixed"]);
  await setHash(page, "#view=heads&step=0&head=0");
  // By keys: to another head, then in the large map to a cell; both hold in other views.
  await page.evaluate('document.querySelector(".head[tabindex=\\"0\\"]").focus()');
  await page.press("ArrowRight");
  assert.equal((await hashOf(page)).head, "1");
  await page.press("ArrowUp");
  assert.deepEqual([(await hashOf(page)).step, (await hashOf(page)).head], ["1", "1"]);
  await page.evaluate(`${inView(".map")}.focus()`);
  for (const key of ["ArrowDown", "ArrowDown", "ArrowRight"]) await page.press(key);
  const said = await page.evaluate(inView(".map-bar .said") + ".textContent");
  assert.equal(said, `cat → the: ${weights[1][2][1].get(1).toFixed(4)}`);
  assert.equal((await hashOf(page)).row, "0.2");
  await go(page, "lines");
  assert.equal(await page.evaluate(inView('.column [aria-selected="true"]') + ".dataset.row"), "2");
  assert.equal(await page.evaluate(inView('.chip[aria-pressed="true"]') + ".textContent"), "head 1");
  assert.match((await panel(page)).title, /Where “cat” looks/);
  await go(page, "text");
  assert.equal(await page.evaluate(inView('.tokens [aria-selected="true"]') + ".dataset.row"), "2");
  await done(page);
}

async function testLines(path, json) {
  const page = await opened(path, "#view=lines&step=0&row=0.2"), weights = weightsOf(json, json.steps[0]);
  const drawn = () => page.evaluate(`Number(${inView("canvas")}.dataset.lines)`);
  const count = (heads) => heads.reduce((sum, head) => sum +
    [...lineOf(weights, 2, head).values()].filter((weight) => weight >= 0.02).length, 0);
  assert.equal(await drawn(), count(["mean"]));
  const [, keys] = await shades(page);
  const line = lineOf(weights, 2);
  keys.forEach(({ row, value }) => near(value, line.get(row), F32, "line"));
  // Two heads, by keys.
  await page.evaluate('document.querySelector(".chip").focus()');
  for (const [key, text] of [["ArrowRight"], ["Enter", "\r"], ["ArrowRight"], ["ArrowRight"],
      ["Enter", "\r"]]) await page.press(key, text);
  assert.deepEqual([(await hashOf(page)).heads, await drawn()], ["0.2", count([0, 2])]);
  await page.press("Enter", "\r");
  assert.deepEqual([(await hashOf(page)).head, await drawn()], ["0", count([0])]);
  await done(page);
}

async function testDocument(path, json) {
  const page = await opened(path);
  assert.equal(page.tabs[0], "document");
  const weights = Object.fromEntries(json.steps.map((step) => [step.name, weightsOf(json, step)]));
  const rows = await page.evaluate(`[...document.querySelectorAll("summary")].map((node) => ({
    space: Number(node.dataset.space), row: Number(node.dataset.row), value: Number(node.dataset.value),
    number: node.querySelector(".number").textContent, text: node.querySelector(".name").textContent,
    dropped: node.classList.contains("dropped"), mark: node.querySelector(".mark")?.textContent,
    hops: [...node.querySelectorAll(".hop")].map((hop) => hop.textContent) }))`);
  assert.equal(rows.length, 3 + 6);
  for (const { space, row, value, number, text, dropped, mark, hops } of rows) {
    const name = space === 1 ? "pool paragraphs" : "hop 2",
      parent = json.spaces[space].offsets.findLastIndex((offset) => offset <= row);
    const expected = weights[name][parent][0].get(row), [, begin, end] = json.spaces[space].places[row];
    near(value, expected, F32, `${name} ${row}`);
    assert.equal(number, expected.toFixed(4));
    assert.equal(text, json.texts[0].slice(begin, end), "whole, though its label is cut");
    if (space === 1) continue;
    assert.equal(dropped, json.spaces[2].chosen[row] === 0);
    assert.equal(mark, dropped ? "dropped" : "kept");
    assert.deepEqual(hops, ["hop 1", "hop 2"].map((hop) => `${hop} ${weights[hop][parent][0].get(row).toFixed(4)}`));
  }
  const order = rows.filter(({ space }) => space === 1).map(({ value }) => value);
  assert.deepEqual(order, [...order].sort((a, b) => b - a));
  for (const words of await shades(page)) {
    for (const { row, value } of words) {
      const sentence = json.spaces[3].offsets.findLastIndex((offset) => offset <= row);
      near(value, weights["pool words"][sentence][0].get(row), F32, "word");
    }
  }
  // A word chosen here is chosen in the text.
  await page.evaluate(`${inView('.tokens [data-row="3"]')}.click()`);
  assert.equal((await hashOf(page)).row, "3.3");
  await go(page, "text");
  assert.equal(await page.evaluate(inView('.tokens [aria-selected="true"]') + ".dataset.row"), "3");
  page.view = "document";
  await compareLines(page, json, F32);
  await done(page);
}

/** A document that begins before the first sentence of the record and continues after the last: a limit cut it. */
function cutDocument() {
  const json = FIXTURES.hierarchy(), before = "Front matter. ";
  json.texts[0] = `${before}${json.texts[0]} One sentence too many. And another.`;
  const moved = (place) => place && [place[0], place[1] + before.length, place[2] + before.length];
  for (const space of json.spaces) space.places = space.places?.map(moved);
  json.spaces[0].places = [[0, 0, json.texts[0].length]];
  return json;
}

async function testUnread(path, json) {
  const page = await opened(path, "#view=document");
  const flows = await page.evaluate(`[...document.querySelectorAll("#view .tokens")].map((node) =>
    [Number(node.querySelector("[data-row]").dataset.row), node.textContent.trim()])`);
  assert.ok(flows.length >= 4);
  for (const [row, text] of flows) {
    const sentence = json.spaces[3].offsets.findLastIndex((offset) => offset <= row);
    const [, begin, end] = json.spaces[2].places[sentence];
    assert.equal(text, json.texts[0].slice(begin, end), "only the words of a sentence");
  }
  const unread = '[...document.querySelectorAll("#view .unread")].map((node) => node.textContent)';
  assert.deepEqual(await page.evaluate(unread),
    ["Not read by the model: Front matter. … One sentence too many. And another."]);
  await done(page);
  const flat = FIXTURES.decoder(), more = " and what was cut off";
  flat.texts[0] += more;
  writeFileSync(path, pageOf(readFileSync(template, "utf8"), flat));
  const text = await opened(path, "#view=text");
  assert.deepEqual(await text.evaluate(unread), [more]);
  await done(text);
}

/** Numbers beside a map are whole, however long they are. */
async function testAxes(path, rows) {
  for (const width of [1280, 380]) {
    const page = await opened(path, "", width);
    await page.evaluate(`(() => {
      const write = CanvasRenderingContext2D.prototype.fillText;
      globalThis.written = [];
      CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
        written.push(text);
        write.call(this, text, ...rest);
      };
      ${inView(".map")}.focus();
    })()`);
    await page.press("0", "0");
    const written = await page.evaluate("written");
    assert.ok(written.length >= 8 && written.filter((text) => Number(text) >= 1000).length >= 2, String(written));
    const titles = written.filter((text) => text.includes("tokens"));
    assert.deepEqual([...new Set(titles)], ["key: tokens, position \u2192", "\u2190 query: tokens, position"]);
    const ticks = written.filter((text) => !titles.includes(text));
    for (const text of ticks) assert.ok(/^\d+$/.test(text) && Number(text) < rows, `${width} px: ${text}`);
    await done(page);
  }
}

async function testAlignment(path, json) {
  const page = await opened(path), cross = json.steps.at(-1), weights = weightsOf(json, cross);
  assert.equal(page.tabs[0], "alignment");
  const written = [...json.texts[1]];
  for (const [at, letter] of written.entries()) {
    assert.equal(await page.evaluate(inView(".player .soft") + ".textContent"), `step ${at + 1} of ${written.length}`);
    const line = lineOf(weights, at), [source, target] = await shades(page);
    source.forEach(({ row, value }) => near(value, line.get(row), F32, `step ${at}`));
    assert.equal(target.length, written.length);
    assert.match(await page.evaluate(inView(".legend") + ".textContent"),
      new RegExp(`while “${letter}” was written`));
    compareTable(await panel(page), line, F32);
    await page.evaluate(`[...document.querySelectorAll(".player button")].at(-1).click()`);
  }
  // Back to the first by the slider's keys, then played and paused by keys.
  await page.evaluate(inView(".player input") + ".focus()");
  await page.press("Home");
  assert.equal((await hashOf(page)).row, "1.0");
  await page.evaluate('document.querySelector(".player button[aria-label=Play]").focus()');
  await page.press("Enter", "\r");
  assert.equal(await active(page), "Pause");
  await page.until('location.hash.includes("row=1.2")', 20);
  await page.press("Enter", "\r");
  const { row } = await hashOf(page);
  await new Promise((resolve) => setTimeout(resolve, 1200));
  assert.equal((await hashOf(page)).row, row, "paused");
  // A letter of the source: when it was looked at; the same row in the other views.
  await page.evaluate(`${inView('.tokens [data-row="3"]')}.click()`);
  (await shades(page))[1].forEach(({ row: at, value }) => near(value, lineOf(weights, at).get(3), F32, "column"));
  assert.match((await panel(page)).title, /What looks at “r”/);
  await go(page, "lines");
  assert.match(await page.evaluate("location.hash"), /row=0.3/);
  await done(page);
}

async function testPattern(path, json, name) {
  const started = performance.now(), page = await browser.page();
  await page.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.send("Page.navigate", { url: `file://${resolve(path)}` });
  await page.until('document.getElementById("main")?.dataset.openedAfter !== undefined');
  page.path = path;
  const { metrics } = await page.send("Performance.getMetrics"),
    metric = (key) => metrics.find((each) => each.name === key)?.value ?? NaN;
  const openedAfter = await page.evaluate('document.getElementById("main").dataset.openedAfter');
  console.log(`${name}: ${json.spaces[0].rows} rows open after ${openedAfter} ms by the clock, ` +
    `${(performance.now() - started).toFixed(0)} ms with the driver; ` +
    `${(metric("TaskDuration") * 1000).toFixed(0)} ms of processor time`);
  assert.match(await page.evaluate("location.hash"), /view=pattern/);
  const step = json.steps[0], weights = weightsOf(json, step), rows = json.spaces[0].rows;
  const kept = Object.values(weights).reduce((sum, heads) => sum + heads.reduce((all, line) => all + line.size, 0),
    0) / step.heads.length;
  assert.equal(await page.evaluate(`Number(${inView(".facts")}.dataset.kept)`), kept);
  assert.ok((await page.evaluate(inView(".facts") +
    ".textContent")).includes(`${(100 * kept / rows ** 2).toFixed(2)} %`));
  // By keys: zoom in until single cells are visible, along, to a row, and back.
  await page.evaluate(`${inView(".map")}.focus()`);
  const image = () => page.evaluate(`${inView(".map")}.toDataURL()`), pictures = new Set([await image()]);
  for (let i = 0; i < 9; ++i) await page.press("+", "+");
  pictures.add(await image());
  for (const key of ["ArrowRight", "ArrowDown"]) {
    await page.press(key);
    pictures.add(await image());
  }
  assert.equal(pictures.size, 4, "zoom and pan change the picture");
  for (const [key, times] of [["ArrowDown", 3],
      ["ArrowRight", 2]]) for (let i = 0; i < times; ++i) await page.press(key, undefined, true);
  assert.equal((await hashOf(page)).row, "0.3");
  assert.equal(await page.evaluate(inView(".map-bar .said") + ".textContent"), "word3 → word2: kept");
  if (step.form === "sparse") compareTable(await panel(page),
      new Map(Array.from({ length: rows }, (_, key) => [key, lineOf(weights, 3).get(key) ?? 0])), F16);
  else assert.match((await panel(page)).note, new RegExp(` ${weights[3][0].size} keys kept`));
  await page.press("0", "0");
  // The wheel zooms around the pointer.
  const before = await image(), [x, y] = await page.evaluate(`(() => {
    const b = ${inView(".map")}.getBoundingClientRect();
    return [b.x + 300, b.y + 300];
  })()`);
  await page.send("Input.dispatchMouseEvent", { type: "mouseWheel", x, y, deltaX: 0, deltaY: -240 });
  assert.notEqual(await image(), before);
  await done(page);
}

async function testPicture(path, json) {
  const page = await opened(path, "#step=0"), weights = json.steps.map((step) => weightsOf(json, step));
  assert.equal(page.tabs[0], "picture");
  await page.until(`${inView("img")}.complete && ${inView("img")}.naturalWidth === 64`);
  await page.evaluate(`${inView(".picture canvas")}.focus()`);
  for (const key of ["ArrowRight", "ArrowRight",
      "ArrowDown"]) await page.press(key);  // the first key chooses the first patch
  assert.equal((await hashOf(page)).row, "0.6");
  const line = lineOf(weights[0], 6);
  compareTable(await panel(page), line, F32);
  assert.equal(await page.evaluate(inView(".said") + ".textContent"), `Chosen: patch 2,2: ${line.get(6).toFixed(4)}`);
  // A patch by the pointer, and the colour over it.
  const [x, y, side] = await page.evaluate(`(() => {
    const b = ${inView(".picture canvas")}.getBoundingClientRect();
    return [b.x, b.y, b.width / 4];
  })()`);
  for (const type of ["mouseMoved", "mousePressed", "mouseReleased"]) {
    await page.send("Input.dispatchMouseEvent",
      { type, x: x + 3.5 * side, y: y + 1.5 * side, button: "left", clickCount: 1 });
  }
  assert.equal((await hashOf(page)).row, "0.8");
  await setHash(page, "#view=picture&step=2&row=2.5");
  assert.match(await page.evaluate(inView(".hint") + ".textContent"), /^4 windows/);
  assert.equal(await page.evaluate(`Number(${inView(".picture canvas")}.dataset.edges)`), 8);
  compareTable(await panel(page), lineOf(weights[2], 5), F32);
  await setHash(page, "#view=picture&step=3&row=3.2");
  assert.equal(await page.evaluate(inView(".said") + ".textContent"),
    `Chosen: patch 2,1: ${lineOf(weights[3], 2).get(2).toFixed(4)}`);
  await page.until(`${inView("img")}.naturalWidth === 64`);
  page.view = "picture";
  await compareLines(page, json, F32);
  await done(page);
}

/** Tab and arrow keys from the top: every view is reached, and in each every control, with a visible focus. */
async function walk(path) {
  const page = await opened(path);
  await page.evaluate("document.activeElement.blur()");
  const reached = new Set();
  for (let i = 0; i < 10 && !(await active(page)).startsWith("tab-"); ++i) await page.press("Tab");
  for (let view = 0; view < page.tabs.length; ++view) {
    const tab = await active(page);
    reached.add(tab);
    assert.equal(tab, `tab-${page.tabs[view]}`);
    assert.equal(await page.evaluate('document.querySelector("[role=tab][aria-selected=true]").id'), tab);
    // Elements that must be reached: all that can have the focus, but one of each group that arrow keys move in.
    const wanted = await page.evaluate(`(() => { window.walked = new Set(); return [...document.querySelectorAll(
      "button, select, input, summary, [tabindex]")].filter((node) => node.tabIndex >= 0 && node.checkVisibility() &&
      !(node.type === "radio" && !node.checked)).length; })()`);
    for (let i = 0; i < wanted + 12; ++i) {
      await page.evaluate("walked.add(document.activeElement)");
      const visible = await page.evaluate(`(() => {
        const node = document.activeElement;
        if (node === document.body) return true;
        const style = getComputedStyle(node);
        return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
      })()`);
      assert.ok(visible, `the focus can be seen: ${await active(page)}`);
      await page.press("Tab");
    }
    const missed = await page.evaluate(`[...document.querySelectorAll("button, select, input, summary, [tabindex]")]
      .filter((node) => node.tabIndex >= 0 && node.checkVisibility() && !(node.type === "radio" && !node.checked) &&
      !walked.has(node)).map((node) => node.outerHTML.slice(0, 90))`);
    assert.deepEqual(missed, [], `${tab}: ${wanted} controls`);
    await page.evaluate(`document.getElementById("${tab}").focus()`);
    await page.press("ArrowRight");
  }
  assert.equal(reached.size, page.tabs.length);
  const names = await page.evaluate(`[...document.querySelectorAll(
    "button, select, input, canvas:not([aria-hidden]), [role=listbox]")].filter((node) =>
    !(node.getAttribute("aria-label") || node.textContent.trim() || node.labels?.[0]?.textContent.trim()))
    .map((node) => node.outerHTML.slice(0, 90))`);
  assert.deepEqual(names, [], "everything has a name");
  await done(page);
}

/** A page of a record of which nothing else is known. */
async function testMade(path) {
  const json = JSON.parse(/<script type="application\/json" id="record">([^]*?)<\/script>/.exec(readFileSync(path,
    "utf8"))[1]);
  const page = await opened(path);
  assert.ok(page.tabs.length > 0, await page.evaluate("document.body.innerText"));
  if (json.sounds.length > 0) {
    assert.equal(page.tabs[0], "sound");
    assert.ok(json.sounds[0].bands > 0, "a spectrogram");
    const answer = json.answers[0].entries[0].label;
    const parts = await page.evaluate(`[...document.querySelectorAll(".answers .written")].map((part) =>
      part.textContent)`);
    assert.equal(parts.map((part) => part.replace(/ \u2026$/, "")).join(""), answer);  // one word: folded within it
    assert.ok(statSync(path).size < 5e6, `${path}: ${statSync(path).size} bytes`);
  }
  const long = json.spaces.some(({ rows }) => rows > 2000);  // also with long tables
  for (const view of long ? page.tabs.slice(0, 1) : page.tabs) {
    page.view = view;
    await compareLines(page, json, F32, long ? 1 : 3);
  }
  const openedAfter = await page.evaluate('document.getElementById("main").dataset.openedAfter');
  console.log(`${basename(path)}: open after ${openedAfter} ms; ${page.tabs.join(", ")}`);
  await done(page);
  await look(path, basename(path, ".html"));
}

const VIEWS = { bert: ["text", "heads", "lines"], decoder: ["alignment", "text", "heads", "lines"],
  hierarchy: ["document", "text", "heads", "lines"],
  date: ["alignment", "text", "heads", "lines"], sparse: ["pattern", "text", "heads", "lines"], pattern: ["pattern"],
  picture: ["picture", "heads", "lines"], sound: ["alignment", "heads", "lines"], scores: ["text", "heads"] };
try {
  const page = readFileSync(template, "utf8"), path = (name) => join(folder, `${name}.html`);
  const records = Object.fromEntries(Object.entries(FIXTURES).map(([name, make]) => [name, make()]));
  for (const [name, json] of Object.entries(records)) writeFileSync(path(name), pageOf(page, json));
  const run = async (what, work) => {
    if (process.env.ONLY && !what.startsWith(process.env.ONLY)) return;  // while a test is written
    const before = compared, began = performance.now();
    await work();
    console.log(`${what}: ${compared - before} numbers compared, ${((performance.now() - began) / 1000).toFixed(1)} s`);
  };
  await run("views that have something to show, and the precision", async () => {
    for (const [name, views] of Object.entries(VIEWS)) {
      const tab = await opened(path(name));
      assert.deepEqual(tab.tabs, views, name);
      const words = { decoder: /16-bit floats/, sparse: /16-bit floats/,
        pattern: /without weights/ }[name] ?? /32-bit floats/;
      assert.match(await tab.evaluate('document.getElementById("facts").textContent'), words);
      await done(tab);
    }
  });
  await run("text", () => testText(path("bert"), records.bert));
  await run("heads", () => testHeads(path("bert"), records.bert));
  await run("lines", () => testLines(path("bert"), records.bert));
  await run("document", () => testDocument(path("hierarchy"), records.hierarchy));
  await run("text that was not read", () => {
    const cut = cutDocument();
    writeFileSync(path("cut"), pageOf(page, cut));
    return testUnread(path("cut"), cut);
  });
  for (const form of ["sparse", "pattern"]) await run(`axes: ${form}`, () => testAxes(path(form), 4096));
  await run("axes: 200000 rows", () => {
    writeFileSync(path("200000"), pageOf(page, long("pattern", 200000, 256, 1)));
    return testAxes(path("200000"), 200000);
  });
  await run("alignment", () => testAlignment(path("date"), records.date));
  await run("picture", () => testPicture(path("picture"), records.picture));
  await run("some rows, half precision", async () => {
    const tab = await opened(path("decoder"));
    tab.view = "text";
    await compareLines(tab, records.decoder, F16);
    await done(tab);
  });
  for (const form of ["sparse", "pattern"]) await run(form, () => testPattern(path(form), records[form], form));
  for (const name of ["bert", "hierarchy", "date", "picture", "pattern"]) await run(`keyboard: ${name}`,
      () => walk(path(name)));
  await run("a broken record", async () => {
    const broken = structuredClone(records.bert);
    broken.steps[0].rows = [99];
    writeFileSync(path("broken"), pageOf(page, broken));
    const tab = await opened(path("broken"));
    assert.match(await tab.evaluate("document.body.innerText"),
      /cannot be shown: step "attentions.0": rows are not ascending/);
    await done(tab);
  });
  for (const name of Object.keys(records)) await run(`both widths, light and dark: ${name}`,
      () => look(path(name), name));
  for (const given of made) await run(basename(given), () => testMade(given));
  console.log(`${compared} numbers compared`);
} finally {
  await browser.close();
}
