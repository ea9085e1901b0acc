// The page's modules that show nothing, against plain formulas: decoding, spaces, statistics, rollout, colours,
// joining.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { halfValue, numbersOf } from "../../tools/attend/page/arrays.mjs";
import { readText } from "../../tools/attend/page/answer.mjs";
import { csvOf } from "../../tools/attend/page/export.mjs";
import { luminance, scaleOf } from "../../tools/attend/page/colour.mjs";
import { levelsOf, sharesOf } from "../../tools/attend/page/hierarchy.mjs";
import { ends, matrixSource } from "../../tools/attend/page/matrix_source.mjs";
import { Record, recordOf } from "../../tools/attend/page/record.mjs";
import { rolloutFrom, rolloutLayers, rolloutReceived, rolloutTo } from "../../tools/attend/page/rollout.mjs";
import { Selection, mostRows } from "../../tools/attend/page/selection.mjs";
import { matchingRow } from "../../tools/attend/page/spaces.mjs";
import { entropy, headStatistics, meanDistance } from "../../tools/attend/page/statistics.mjs";
import { FIXTURES, base64, halfBits, long } from "./fixtures.mjs";
import { keysOf, lineOf, receivedOf, rolloutOf, segment, weightsOf } from "./plain.mjs";

const F32 = 1e-6;  // sums of a few numbers below one, rounded to f32
const near = (got, expected, tolerance, what) =>
  assert.ok(Math.abs(got - expected) <= tolerance, `${what}: ${got}, expected ${expected}`);
const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

test("a page begins with the last step, and not with that of a few global rows", () => {
  const keys = {}, step = (layer, rows, over = keys) => ({ layer, keys: over, queries: { rows } });
  const local = step(1, 4096), global = step(1, 1), before = step(0, 4096), pool = step(2, 1, {});
  assert.equal(mostRows([before, local, global]), local);
  assert.equal(mostRows([before, local, global, pool]), pool);  // over other keys
  const first = step(1, 8), second = step(1, 8);
  assert.equal(mostRows([first, second]), second);
});

test("half precision: every number is read as it was written", () => {
  for (let bits = 0; bits < 0x7c00; ++bits) {
    assert.equal(halfBits(halfValue(bits)), bits);
    assert.equal(halfValue(bits | 0x8000), -halfValue(bits));
  }
  assert.equal(halfValue(0x3555), 0.333251953125);
  assert.equal(halfValue(0x7c00), Infinity);
  assert.ok(Number.isNaN(halfValue(0x7e00)));
});

test("base64 that is not what it should be is refused by name", () => {
  assert.deepEqual([...numbersOf(base64(Float32Array.of(1.5, -2)), "f32", "x")], [1.5, -2]);
  assert.deepEqual([...numbersOf(base64(Uint16Array.of(0x3c00)), "f16", "x")], [1]);
  assert.throws(() => numbersOf("AAAA", "f32", "the weights"), /the weights: 3 bytes/);
  assert.throws(() => numbersOf("§", "f32", "the weights"), /the weights is not base64/);
  assert.throws(() => numbersOf("", "f64", "the weights"), /"f64" are unknown/);
});

for (const name of Object.keys(FIXTURES)) {
  test(`${name}: lines, columns and means are the record's`, () => {
    const json = name === "sparse" || name === "pattern" ? long(name, 300, 32, 3) : FIXTURES[name](),
      record = new Record(json);
    json.steps.forEach((plainStep, s) => {
      const step = record.steps[s], weights = weightsOf(json, plainStep);
      for (const head of ["mean", ...plainStep.heads.slice(0, 2)]) {
        const place = head === "mean" ? head : plainStep.heads.indexOf(head);
        plainStep.rows.forEach((row, index) => {
          if (index % 7 > 1 && plainStep.rows.length > 40) return;
          const expected = lineOf(weights, row, place), { first, values } = step.values(index, head);
          const [begin, end] = keysOf(json, plainStep, row);
          assert.deepEqual([first, values.length], [begin, end - begin]);
          values.forEach((value, i) => value !== (expected.get(begin + i) ?? 0) &&
            near(value, expected.get(begin + i) ?? 0, F32, `${row} ${i}`));
          if (index > 4) return;
          const beside = plainStep.rows.filter((each) => keysOf(json, plainStep, each)[0] === begin &&
            keysOf(json, plainStep, each)[1] === end);
          const key = begin + ((index * 5) % (end - begin)), column = step.column(key, head);
          assert.deepEqual(step.rows.slice(column.begin, column.begin + column.values.length), beside);
          if (plainStep.scores) return;
          beside.forEach((each, i) => near(column.values[i], lineOf(weights, each, place).get(key) ?? 0, F32,
            `column ${key}`));
          const received = receivedOf(weights, beside, [begin, end], place);
          step.received(row, head).values.forEach((value, i) => near(value, received[i], F32, `received ${begin + i}`));
        });
      }
    });
  });
}

test("sparse keys as ranges are the same keys", () => {
  const json = long("sparse", 300, 32, 2), same = structuredClone(json), step = same.steps[0];
  const pattern = long("pattern", 300, 32, 2).steps[0];
  delete step.keys;
  Object.assign(step, { ranges: pattern.ranges, range_offsets: pattern.line_offsets });
  const [a, b] = [new Record(json).steps[0], new Record(same).steps[0]];
  for (let index = 0; index < 300; ++index) for (const head of [0, 1]) assert.deepEqual(a.line(index, head),
      b.line(index, head));
});

test("statistics: entropy, distance, shares and kinds", () => {
  const json = FIXTURES.bert(), record = new Record(json), kinds = [];
  near(entropy([0.25, 0.25, 0.25, 0.25]), 2, 1e-12, "four evenly");
  near(entropy([1, 0]), 0, 0, "one");
  near(meanDistance({ first: 2, weights: [0.5, 0.5] }, 2), 0.5, 1e-12, "distance");
  near(meanDistance({ keys: [0, 9], weights: [0.5, 0.5] }, 4), 4.5, 1e-12, "distance");
  json.steps.forEach((plainStep, s) => plainStep.heads.forEach((head, h) => {
    for (const [begin, end] of [segment(json.spaces[0], 0), segment(json.spaces[0], json.spaces[0].rows - 1)]) {
      const weights = weightsOf(json, plainStep), got = headStatistics(record.steps[s], h, begin);
      let [bits, distance, self, first] = [0, 0, 0, 0];
      for (let row = begin + 1; row < end; ++row) {
        for (const [key, weight] of weights[row][h]) {
          bits -= (weight * Math.log2(weight)) / (end - begin - 1);
          distance += (weight * Math.abs(key - row)) / (end - begin - 1);
        }
        self += weights[row][h].get(row) / (end - begin - 1);
        first += weights[row][h].get(begin) / (end - begin - 1);
      }
      near(got.entropy, bits, 1e-5, "entropy");
      near(got.distance, distance, 1e-5, "distance");
      near(got.shares.self, self, F32, "self");
      near(got.shares.first, first, F32, "first");
      if (begin === 0) kinds.push(got.kind);
    }
  }));
  assert.deepEqual(kinds, ["previous", "diagonal", "first token", "broad", "broad", "next", "broad", "mixed"]);
});

test("rollout: from a row, to a row and of all, as the product of matrices", () => {
  const json = FIXTURES.bert(), record = new Record(json);
  for (const row of [0, 3, json.spaces[0].rows - 2]) {
    const [begin, end] = segment(json.spaces[0], row), { layers } = rolloutLayers(record, record.steps[1], row);
    const product = rolloutOf(json, json.steps, [begin, end]);
    const compare = (got, expected, what) => {
      assert.equal(got.first, begin);
      assert.equal(got.values.length, end - begin);
      got.values.forEach((value, i) => near(value, expected(i), F32, what));
    };
    compare(rolloutFrom(layers, row), (i) => product[row - begin][i], "from");
    compare(rolloutTo(layers, row), (i) => product[i][row - begin], "to");
    compare(rolloutReceived(layers, row), (i) => product.reduce((sum, line) => sum + line[i], 0) / (end - begin),
      "received");
  }
  const some = new Record(FIXTURES.decoder());
  assert.match(rolloutLayers(some, some.steps[2], 3).why, /only some/);
  const date = new Record(FIXTURES.date());
  assert.match(rolloutLayers(date, date.steps[2], 1).why, /self-attention/);
});

test("hierarchy: levels, deciding steps, hops", () => {
  const json = FIXTURES.hierarchy(), record = new Record(json), levels = levelsOf(record);
  assert.deepEqual(levels.map(({ space, deciding }) => [space.name, deciding.name]),
    [["paragraphs", "pool paragraphs"], ["sentences", "hop 2"], ["words", "pool words"]]);
  assert.deepEqual(levels.map(({ hops }) => hops.map(({ name }) => name)), [[], ["hop 1", "hop 2"], []]);
  const weights = weightsOf(json, json.steps[3]);
  const shares = sharesOf(levels[1].deciding, 1, "mean");
  assert.deepEqual([shares.begin, shares.end], [3, 5]);
  shares.values.forEach((value, i) => near(value, weights[1][0].get(3 + i), F32, "share"));
  assert.equal(record.spaces[2].dropped(2), true);
});

test("rows of one space have their row in another", () => {
  const [documents, paragraphs, sentences, words] = new Record(FIXTURES.hierarchy()).spaces;
  assert.equal(matchingRow(words, words.rows - 1, sentences), sentences.rows - 1);
  assert.equal(matchingRow(words, words.rows - 1, documents), 0);
  assert.equal(matchingRow(paragraphs, 1, words), words.offsets[3]);
});

test("selection: a choice that a view cannot show is replaced, a choice in an address is checked", () => {
  const record = new Record(FIXTURES.date());
  const all = { id: "all", uses: [], steps: ({ steps }) => steps },
    cross = { id: "cross", uses: [], steps: ({ steps }) => [steps[2]] };
  const selection = new Selection(record, [all, cross]);
  selection.change({ step: record.steps[0], head: 1, space: record.spaces[0], row: 7, chosen: true });
  selection.change({ view: cross });
  assert.equal(selection.step, record.steps[2]);
  assert.deepEqual([selection.head, selection.space.index, selection.row, selection.sideShown], [1, 0, 7, "receives"]);
  const copy = new Selection(record, [all, cross]);
  copy.fromHash(selection.toHash());
  assert.equal(copy.toHash(), selection.toHash());
  for (const hash of ["#view=none&step=99&head=77&row=5.5", "#row=0.99999", "#head=__proto__&heads=9.1&row=-1.0",
      "#%%%", "#step=1e9&row=a"]) {
    copy.fromHash(hash);
    assert.ok(copy.row < copy.space.rows && ["mean", 0, 1].includes(copy.head), hash);
  }
});

test("records that are no records are refused in one line", () => {
  const broken = (change) => { const json = FIXTURES.bert(); change(json); return json; };
  const refused = (change, words) =>
    assert.throws(() => new Record(broken(change)).steps.forEach((step) => step.line(0, 0)), words);
  refused((json) => (json.fovea_attention = 2), /version 1/);
  refused((json) => (json.steps = []), /no attention step/);
  refused((json) => (json.steps[0].query_space = 7), /"attentions.0": there is no such space/);
  refused((json) => (json.steps[0].rows = [3, 2]), /ascending rows/);
  refused((json) => (json.steps[0].rows = [99]), /ascending rows/);
  refused((json) => (json.steps[0].form = "odd"), /form "odd"/);
  refused((json) => json.steps[0].rows.pop(), /weights, \d+ are needed/);
  refused((json) => (json.steps[0].type = "f64"), /"f64"/);
  refused((json) => (json.spaces[0].offsets = [0, 50, 45]), /offsets/);
  refused((json) => (json.spaces[0].labels = []), /labels are not of its rows/);
  refused((json) => (json.spaces[1].parent = 0), /one segment is needed|above itself/);
  assert.throws(() => recordOf("{"), /no JSON/);
  const sparse = (change) => { const json = long("sparse", 64, 8,
    1); change(json.steps[0]); return () => new Record(json).steps[0].line(0, 0); };
  assert.throws(sparse((step) => (step.keys = base64(new Uint32Array(3)))), /3 keys/);
  assert.throws(sparse((step) => (step.line_offsets = base64(new Uint32Array(3)))), /65 line_offsets/);
  assert.throws(sparse((step) => {
    const keys = new Uint32Array(Uint8Array.from(Buffer.from(step.keys, "base64")).buffer);
    keys[5] = 64;
    step.keys = base64(keys);
  }), /a key is no row/);
});

test("matrix of a head: names, ends of the scale, what is kept", () => {
  const record = new Record(long("pattern", 100, 8, 2)), source = matrixSource(record.steps[0], 0, "mean",
    { weightless: true });
  assert.deepEqual([source.rows, source.keys, source.keyName(3), source.weightless], [100, 100, "word3", true]);
  const rows = new Record(FIXTURES.decoder()), matrix = matrixSource(rows.steps[0], 0, 5);
  assert.deepEqual([matrix.rows, matrix.rowNumber(2), matrix.rowIndex(3), matrix.rowIndex(4)], [5, 3, 2, null]);
});

test("a map of a causal head is not washed out by its first row", () => {
  const rows = [[1], [0.3, 0.1], [0.2, 0.2, 0.2], [0.1, 0.1, 0.1, 0.3], [0.2, 0.2, 0.1, 0.1, 0.1], [0.1]];
  const source = { rows: rows.length, line: (i) => ({ values: rows[i] }) };
  assert.deepEqual(ends(source, false), { least: 0, most: 0.3 + (Math.fround(0.3) - 0.3), greatest: 1 });
  assert.deepEqual(ends({ ...source, rows: 1 }, false), { least: 0, most: 1 }, "one row alone is no outlier");
});

test("a threshold and hidden tokens leave holes in a map", () => {
  const record = new Record(FIXTURES.bert()), step = record.steps[0], plain = matrixSource(step, 0, 0);
  const shows = (space, row) => !space.special(row);
  const limited = matrixSource(step, 0, 0, { threshold: 0.1, shows }), specials = [];
  for (let i = 0; i < plain.rows; ++i) {
    const { first, values } = plain.line(i), { values: shown } = limited.line(i);
    values.forEach((value, j) => {
      const hidden = value < 0.1 || step.queries.special(i) || step.keys.special(first + j);
      assert.ok(hidden ? Number.isNaN(shown[j]) : shown[j] === value, `${i} ${j}`);
    });
    if (step.queries.special(i)) specials.push(step.queries.rowName(i));
  }
  assert.deepEqual(specials, ["[CLS]", "[SEP]"]);
});

test("CSV: cells are quoted where they must be, and no text is a formula", () => {
  assert.equal(csvOf([["row", 'a "b"', "c,d"], [0, "=1+1", -0.5], [1, "x\ny", "\u732b"]]),
    'row,"a ""b""","c,d"\r\n0,\'=1+1,-0.5\r\n1,"x\ny",\u732b\r\n');
});

test("how much was read, in words", () => {
  assert.equal(readText({ tokens: 128, of_tokens: 5288 }), "read 128 of 5,288 tokens");
  assert.equal(readText({ tokens: 9, of_tokens: 9 }), "read all 9 tokens");
  assert.equal(readText({ tokens: 90, of_tokens: 95, sentences: 32, of_sentences: 502 }), "read 32 of 502 sentences");
});

test("colours: even steps of lightness that colour-blind eyes also see", () => {
  // Lightness as CIELAB has it, of colours as they are and as deuteranopes and protanopes see them (Viénot 1999).
  const lightness = (y) => (y > 0.008856 ? 116 * Math.cbrt(y) - 16 : 903.3 * y);
  const linear = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const seen = [(r, g, b) => 0.2126 * r + 0.7152 * g + 0.0722 * b, (r, g, b) => 0.2126 * (0.11238 * r + 0.88762 * g) +
    0.7152 * (0.11238 * r + 0.88762 * g) + 0.0722 * (0.00401 * r - 0.00401 * g + b),
      (r, g, b) => 0.2126 * (0.29275 * r + 0.70725 * g) +
    0.7152 * (0.29275 * r + 0.70725 * g) + 0.0722 * (-0.02234 * r + 0.02234 * g + b)];
  for (const dark of [false, true]) {
    const scale = scaleOf(dark);
    assert.equal(scale.length, 256);
    for (const eye of seen) {
      const levels = scale.map((rgb) => lightness(eye(...rgb.map(linear)))), whole = levels.at(-1) - levels[0];
      assert.ok(Math.abs(whole) > 60, `${whole} from end to end`);
      for (let i = 16; i < 256; i += 16) {
        const step = (levels[i] - levels[i - 16]) / whole;
        assert.ok(step > 0.03 && step < 0.1, `${dark} ${i}: ${step} of all`);  // 0.0625 each would be even
      }
    }
    assert.equal(luminance(scale[0]) > luminance(scale[255]), !dark);
  }
});

test("joining: one page, one script and one style that its policy allows; what cannot be joined is refused", () => {
  const folder = mkdtempSync(join(tmpdir(), "fovea-page-"));
  try {
    const join_ = (source) => spawnSync("python3",
      [join(root, "cmake/join_page.py"), source, join(folder, "out.html"), join(folder, "out.cc")]);
    assert.equal(join_(join(root, "tools/attend/page")).status, 0);
    const page = readFileSync(join(folder, "out.html"), "utf8");
    assert.ok(page.length < 200 * 1024, `${page.length} bytes`);
    assert.equal(page.split("@RECORD@").length, 2);
    assert.doesNotMatch(page, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(/);
    assert.doesNotMatch(page, /https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
    assert.match(page, /default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; img-src data:/);
    // C++ has the same bytes.
    writeFileSync(join(folder, "main.cc"),
      `#include <cstdio>\nnamespace fovea::tools { extern const char kAttentionPage[];\n` +
      `extern const unsigned long kAttentionPageSize; }\n` +
      `int main() { std::fwrite(fovea::tools::kAttentionPage, 1, fovea::tools::kAttentionPageSize, stdout); }\n`);
    const source = readFileSync(join(folder, "out.cc"), "utf8").replace(/#include.*\n/, "").replace("const char",
      "extern const char")
      .replace("const unsigned", "extern const unsigned");
    writeFileSync(join(folder, "page.cc"), source);
    execFileSync("c++", ["-std=c++17", "main.cc", "page.cc", "-o", "print"], { cwd: folder });
    assert.equal(execFileSync(join(folder, "print"), { maxBuffer: 1 << 20 }).toString(), page);
    for (const [file, text, words] of [["legend.mjs", "\nexport const made = 1;\n", /'made' is declared in/],
      ["legend.mjs", '\nimport * as x from "./page.mjs";\n', /can be joined/],
        ["legend.mjs", "\nconst x = '</script>';\n", /has <\/script/],
      ["page.mjs", 'import { nothing } from "./tooltip.mjs";\n', /exports no 'nothing'/],
          ["tooltip.mjs", 'import { x } from "./page.mjs";\n', /imports itself/]]) {
      const copy = join(folder, "copy");
      rmSync(copy, { recursive: true, force: true });
      cpSync(join(root, "tools/attend/page"), copy, { recursive: true });
      const old = readFileSync(join(copy, file), "utf8");
      writeFileSync(join(copy, file), text.startsWith("import") ? text + old : old + text);
      const { status, stderr } = join_(copy);
      assert.equal(status, 1);
      assert.match(stderr.toString(), words);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
