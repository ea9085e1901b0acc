// The package of ports/wasm as npm installed it: against PyTorch's results for the same weights and against the
// command, and its refusals. FOVEA_SOURCE is the repository, FOVEA_COMMAND the command, FOVEA_BLOBS a folder with its
// blobs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { FoveaError, Model, constants } from "fovea";
import { assertNear, readSafetensors } from "./support.mjs";

const { FOVEA_SOURCE: source, FOVEA_COMMAND: command, FOVEA_BLOBS: blobs } = process.env;
const train = `${source}/tools/train`;
const GOLDEN = 2e-4;  // f32 weights on both sides: logits reach 8, hidden states 4
// Probabilities and shares against the command on another processor: f32 weights, and int8 ones, where the last bit of
// an activation decides how it is rounded (40 documents of eval.tsv differ by 0.0027 at most).
const COMMAND = { f32: 2e-5, int8: 5e-3 };

const section = await Model.open(readFileSync(`${blobs}/package-section.fovea`));
const golden = readSafetensors(`${train}/package-section/golden.safetensors`);
const { texts } = JSON.parse(readFileSync(`${train}/package-section/golden.json`));
const single = Object.keys(texts).filter((name) => name !== "pad");

function refuses(what, status, text) {
  const check = (error) => {
    assert.ok(error instanceof FoveaError, String(error));
    assert.equal(error.statusName, status);
    assert.equal(error.status, constants[status]);
    assert.match(error.message, text);
    return true;
  };
  return typeof what === "function" ? assert.throws(what, check) : assert.rejects(what, check);
}

test("token ids and logits of one text at a time and of a batch are PyTorch's", () => {
  const batch = section.classify(single.map((name) => texts[name]));
  single.forEach((name, i) => {
    const { encodings, outputs } = section.run(texts[name]);
    assert.deepEqual([...encodings[0].ids], Array.from(golden[`${name}.in.input_ids`].data, Number), name);
    assertNear(outputs.logits.data, golden[`${name}.out.logits`].data, GOLDEN, `${name} logits`);
    const ordered = [...batch[i]].sort((a, b) => a.index - b.index);
    assert.deepEqual(ordered.map((entry) => entry.logit), [...outputs.logits.data], "the same bits in a batch");
    assert.deepEqual(ordered.map((entry) => entry.label), section.labels);
    const sum = batch[i].reduce((all, entry) => all + entry.probability, 0);
    assert.ok(Math.abs(sum - 1) < 1e-6 && batch[i][0].probability === Math.max(...batch[i].map((e) => e.probability)));
  });
});

test("weights packed for WebAssembly are read in place, with the same bits", async () => {
  const packed = await Model.open(readFileSync(`${blobs}/packed.fovea`));
  assert.deepEqual(packed.classify(single.map((name) => texts[name])),
    section.classify(single.map((name) => texts[name])));
  assert.ok(packed.memory.model < 50e3, `${packed.memory.model} bytes`);
  if (section.backend === "xnnpack") assert.ok(section.memory.model > 1e6, "packed when it was opened");
});

test("hidden states and attention weights are PyTorch's, dense, sparse and reduced", () => {
  const layers = [0, 1, 2], names = layers.map((layer) => `attentions.${layer}`);
  const keep = ["hidden_states.0", "hidden_states.1", "hidden_states.2"];
  for (const form of ["dense", "sparse"]) {
    const result = section.run([texts.a, texts.b], { keep, taps: names.map((step) => ({ step, form })) });
    ["a", "b"].forEach((name, text) => {
      for (const value of keep) {
        const { data, width, offsets } = result.outputs[value];
        assertNear(data.subarray(offsets[text] * width, offsets[text + 1] * width),
          golden[`${name}.out.${value}`].data, GOLDEN, `${name} ${value}`);
      }
      for (const step of names) {
        const weights = result.attentionMaps[step].segment(text).flatMap((rows) => rows.map((row) => [...row])).flat();
        assertNear(weights, golden[`${name}.out.${step}`].data, 2e-5, `${form} ${name} ${step}`);
      }
    });
  }
  const tapped = (tap) => section.run(
    texts.a, { taps: [{ step: "attentions.1", ...tap }] }).attentionMaps["attentions.1"];
  const one = tapped({ heads: [2], rows: "first" });
  const [, , tokens] = golden["a.out.attentions.1"].shape;
  const row = golden["a.out.attentions.1"].data.subarray(2 * tokens * tokens, 2 * tokens * tokens + tokens);
  assertNear(one.segment(0)[0][0], row, 2e-5, "first row of head 2");
  const all = tapped({}).segment(0), mean = tapped({ reduce: "mean" }).segment(0);
  assert.equal(mean.length, 1);
  mean[0].forEach((line, query) => assertNear(line, line.map((_, key) =>
    all.reduce((sum, head) => sum + head[query][key], 0) / all.length), 1e-6, "mean of heads"));
});

test("an encoder's rows are PyTorch's, and embeddings what the model pools or else their mean", async () => {
  const encoder = await Model.open(readFileSync(`${blobs}/writer-encoder.fovea`));
  const states = readSafetensors(`${train}/package-writer/golden.safetensors`)["a.out.hidden_states.5"];
  const { a: { text } } = JSON.parse(readFileSync(`${train}/package-writer/golden.json`));
  assertNear(encoder.run(text).outputs.last_hidden_state.data, states.data, GOLDEN, "last hidden state");
  const [, rows, width] = states.shape;
  const mean = Array.from({ length: width }, (_, j) =>
    states.data.reduce((sum, x, i) => (i % width === j ? sum + x / rows : sum), 0));
  assertNear(encoder.embed(["libs", text])[1], mean, GOLDEN, "mean");
  const length = Math.hypot(...mean);
  assertNear(encoder.embed(text, { normalise: true }), mean.map((x) => x / length), GOLDEN, "of length 1");
  const pooled = await Model.open(readFileSync(`${blobs}/package-encoder.fovea`));
  const { outputs } = pooled.run(texts.a);
  assertNear(outputs.last_hidden_state.data, golden["a.out.hidden_states.3"].data, GOLDEN, "last hidden state");
  assert.deepEqual(pooled.embed(texts.a), outputs.pooler_output.data);
  const { data } = outputs.last_hidden_state, wide = pooled.embed(texts.a, { output: "last_hidden_state" });
  assertNear(wide, wide.map((_, j) => data.reduce((sum, x, i) => (i % wide.length === j ? sum + x : sum), 0) /
    (data.length / wide.length)), GOLDEN, "the output that was asked for");
  const [one, two] = pooled.embed(["a", "b"]), both = [one, two].map((row) => row.map((x) => x * x));
  const dot = one.reduce((sum, x, i) => sum + x * two[i], 0);
  const norms = both.map((row) => Math.sqrt(row.reduce((sum, x) => sum + x, 0)));
  const cosine = pooled.similarity("a", "b");
  const measured = [cosine, pooled.similarity(one, two, { measure: "dot" })];
  assertNear(measured, [dot / norms[0] / norms[1], dot], 1e-4, "alike");
  assert.deepEqual(pooled.similarity(["a", "c"], ["b"])[0], Float64Array.of(cosine));
  assert.deepEqual(pooled.similarity([one], [two, one])[0][0], cosine);
  refuses(() => pooled.similarity("a", "b", { measure: "cos" }), "FOVEA_E_OPTION", /measure "cos".*one of cosine, dot/);
  refuses(() => pooled.similarity([one], [one.slice(1)]), "FOVEA_E_ARGUMENT", /of 96 and 95 numbers/);
  refuses(() => pooled.embed("a", { output: "input_ids" }), "FOVEA_E_NAME", /is not an output; there are: /);
  refuses(() => pooled.embed("a", { prompt: "query" }), "FOVEA_E_NAME", /no prompt 'query'; there are: none/);
});

/** Warnings on the console. */
function warnings(use) {
  const { warn } = console, lines = [];
  console.warn = (line) => lines.push(line);
  try {
    use();
  } finally {
    console.warn = warn;
  }
  return lines;
}

test("what was chosen for the caller is reported once, and what was cut each time", async () => {
  const encoder = await Model.open(readFileSync(`${blobs}/writer-encoder.fovea`));
  const embed = (options) => warnings(() => encoder.embed("a", options)).join();
  assert.equal(embed({ output: "last_hidden_state" }), "");
  assert.match(embed(), /the mean of the rows of 'last_hidden_state' is used; output: "last_hidden_state" chooses/);
  assert.equal(embed(), "");
  assert.match(warnings(() => section.explain("a")).join(), /names no attention that explains.*explain\.tokens/);
  const long = "word ".repeat(500);
  for (let i = 0; i < 2; ++i) assert.match(warnings(() => section.classify(long)).join(), /left out: \d+ tokens/);
  const writer = await Model.open(`${blobs}/package-writer.fovea`);
  const dates = await Model.open(`${blobs}/dates.fovea`);
  const ended = (text, options, model = writer) => {
    const generation = model.generate(text, options);
    const lines = warnings(() => generation.finish()).join();
    return [generation.end, lines, generation.tokens.length];
  };
  assert.deepEqual(ended("libs / x\n", { maxTokens: 2 }), ["limit", "", 2]);
  assert.deepEqual(ended("3rd of March 2014", {}, dates).slice(0, 2), ["stop", ""]);
  const { spans } = writer.tokenizer.encode(long, { whole: true }), most = writer.tokenizer.maxLength;
  const [end, line, made] = ended(long.slice(0, spans[most - 4][1]));
  assert.ok(made < 10, `${made}`);
  assert.equal(end, "full");
  assert.match(line, /ends for lack of room after \d tokens/);
  assert.match(warnings(() => writer.generate("libs / x\n", { topK: 3, seed: 7 }).close()).join(),
    /best token is taken; ignored: topK, seed/);
  assert.equal(writer.generate("libs / x\n").end, null);
});

function comparesWithCommand(text, { classes, sentences }, path, tolerance) {
  const said = JSON.parse(execFileSync(command, ["run", path, "--text", text, "--top", "3", "--json"]))[0];
  assert.deepEqual(classes.map((c) => c.label), said.classes.map((c) => c.label), text);
  assertNear(classes.map((c) => c.probability), said.classes.map((c) => c.probability), tolerance, "probabilities");
  assert.deepEqual(sentences.map((s) => s.text), said.sentences.map((s) => s.text));
  assertNear(sentences.map((s) => s.share), said.sentences.map((s) => s.share), tolerance, "sentences");
  sentences.forEach((sentence, s) => {
    const words = said.sentences[s].words;
    assert.deepEqual(sentence.words.map((w) => w.text), words.map((w) => w.text));
    assertNear(sentence.words.map((w) => w.weight), words.map((w) => w.weight), tolerance, "words");
    for (const word of [sentence, ...sentence.words]) assert.equal(text.slice(word.begin, word.end), word.text);
  });
}

test("a document's class and what decided are the command's", async () => {
  const cases = ["A library to read compressed audio files. It supports FLAC and Ogg Vorbis.", texts.g,
    "Ein 🎮 Spiel für 漢字. Ça marche? Naïve café-culture!", ...JSON.parse(
      readFileSync(`${train}/package-section-hierarchical/golden.json`)).batch.map(({ text }) => text)];
  const paths = { f32: `${blobs}/documents.fovea`, int8: `${train}/package-section-hierarchical.fovea` };
  for (const [kind, path] of Object.entries(paths)) {
    const model = await Model.open(readFileSync(path));
    const explained = model.explain(cases, { top: 3 });
    cases.forEach((text, i) => comparesWithCommand(text, explained[i], path, COMMAND[kind]));
    assert.deepEqual(model.explain(cases[2], { top: 3 }), explained[2], "alone as in a batch");
    assert.equal(model.explain("").sentences.length, 0, "an empty document");
  }
});

test("places of tokens count as strings do", () => {
  const text = "Ça va? 🎮 漢字 café";
  const { spans, special, length } = section.tokenizer.encode(text);
  assert.equal(spans.length, length);
  assert.deepEqual([special[0], special[length - 1]], [1, 1]);
  assert.deepEqual(spans.slice(1, 3).map(([begin, end]) => text.slice(begin, end)).join("").slice(0, 2), "Ça");
  assert.ok(spans.some(([begin, end]) => text.slice(begin, end) === "🎮" || text.slice(begin, end) === "漢"));
});

test("special tokens of texts are text on request", () => {
  const text = "a [SEP] b", literal = true;
  assert.equal(section.tokenizer.encode(text).length, 5);
  assert.ok(section.tokenizer.encode(text, { literal }).length > 5);
  const warned = [], { warn } = console;
  console.warn = (line) => warned.push(line);
  try {
    assert.notDeepEqual(section.classify(text, { literal }), section.classify(text));
    section.classify("a [MASK] b");
    assert.equal(section.tokenizer.encode(text, { whole: true }).spelled, 1);
  } finally {
    console.warn = warn;
  }
  assert.equal(warned.length, 1);
  assert.match(warned[0], /a text spells special tokens, which are read as such; the option literal/);
});

test("a decoder continues texts as PyTorch does, and samples as the command does", async () => {
  const path = `${blobs}/package-writer.fovea`;
  const writer = await Model.open(readFileSync(path));
  const cases = JSON.parse(readFileSync(`${train}/package-writer/golden.json`));
  for (const name of ["gen_a", "gen_b"]) {
    const { ids, text, continuation } = cases[name];
    const steps = [...writer.generate(text, { maxTokens: 24 })];
    assert.equal(steps.map((step) => step.text).join(""), continuation);
    assert.equal(steps.length, 24);
    assert.ok(steps[23].ended && !steps[22].ended);
    assert.equal(writer.tokenizer.decode(steps.map((step) => step.token)), continuation);
    assert.deepEqual([...writer.tokenizer.encode(text).ids], ids);
  }
  const prompt = "fonts / fonts-ubà\n";
  const drawn = writer.generate(prompt, { maxTokens: 20, temperature: 0.8, topK: 40, seed: 7 }).finish();
  const said = execFileSync(command, ["generate", path, "--prompt", prompt, "--max-tokens", "20",
    "--temperature", "0.8", "--top-k", "40", "--seed", "7", "--no-display-prompt"], { encoding: "utf8" });
  assert.equal(drawn, said.replace(/\n$/, ""));
  writer.generate("libs / x\n", { maxTokens: 3 }).finish();
  const { total } = writer.memory;
  for (let i = 0; i < 50; ++i) for (const { token } of writer.generate("libs / x\n")) if (token >= 0) break;
  assert.ok(writer.memory.total - total <= 2 ** 23, "texts that are left give their memory back");
});

test("an encoder and a decoder rewrite dates in the standard form", async () => {
  const dates = await Model.open(readFileSync(`${blobs}/dates.fovea`));
  assert.deepEqual(Object.values(dates.generatePrograms).map(({ name }) => name), ["decode", "encode"]);
  const rows = readFileSync(`${train}/date-normaliser/eval.tsv`, "utf8").trim().split("\n").slice(0, 60);
  for (const row of rows) {
    const [date, text] = row.split("\t");
    assert.equal(dates.generate(text).finish(), date, text);
  }
});

test("a session runs again and again in the same memory", () => {
  const session = section.session({ limits: { tokens: [32, 16], texts: 4 } });
  for (const name of ["a", "c", "f"]) {
    const ids = Int32Array.from(golden[`${name}.in.input_ids`].data, Number);
    session.setSegments("tokens", [ids.length, ids.length]);
    session.write("input_ids", [...ids, ...ids]);
    session.run();
    const { data, width, rows } = session.output("logits");
    assert.equal(rows, 2);
    for (const text of [0, 1]) {
      assertNear(data.subarray(text * width, (text + 1) * width), golden[`${name}.out.logits`].data, GOLDEN, name);
    }
  }
  session.setSegments("tokens", [2]);
  session.write("input_ids", [1, 99999]);
  refuses(() => session.run(), "FOVEA_E_ID", /expected 5600, found 99999/);
  refuses(() => session.write("input_ids", [1]), "FOVEA_E_ROWS", /2 rows of 1, 1 numbers/);
  refuses(() => session.setSegments("tokens", [17]), "FOVEA_E_LENGTH", /expected 16, found 17/);
  refuses(() => session.attentionMap(), "FOVEA_E_INDEX", /tap/);
  session.close();
  refuses(() => session.run(), "FOVEA_E_HANDLE", /session is closed/);
});

test("an input of shorter numbers becomes what the program would have stored that it comes from", async () => {
  const open = (type) => Model.open(readFileSync(`${blobs}/dates-${type}.fovea`));
  const session = (model, program, linked = []) => {
    const made = model.session({ program, rows: 9, linked });
    made.setSegments("characters", [9]);
    return made;
  };
  const encode = (model) => {
    const encoder = session(model, "encode");
    encoder.write("input_ids", [7, 3, 12, 30, 5, 9, 21, 2, 14]);
    return encoder.run();
  };
  const inputs = ["annotations", "keys"];
  const exact = encode(await open("f32"));
  for (const type of ["f16", "bf16", "int8"]) {
    const model = await open(type), encoder = encode(model);
    const linked = session(model, "decode", inputs), written = session(model, "decode");
    inputs.forEach((name) => linked.link(name, encoder, name));
    inputs.forEach((name) => written.write(name, exact.output(name).data));
    const scores = [linked, written].map((one) => one.run().output("scores").data);
    assert.deepEqual(scores[1], scores[0], type);
    assert.ok(scores[0].some((score) => score !== scores[0][0]));
  }
});

test("what is wrong is refused with the library's text", async () => {
  const blob = readFileSync(`${blobs}/package-section.fovea`);
  const changed = Uint8Array.from(blob);
  changed[blob.length - 100] ^= 1;
  await refuses(Model.open(changed), "FOVEA_E_CHECKSUM",
    /^checksum differs: .*, expected \d+, found \d+ \(FOVEA_E_CHECKSUM\)$/);
  assert.ok(await Model.open(changed, { verify: false }));
  await refuses(Model.open(blob.subarray(0, 1000)), "FOVEA_E_TRUNCATED", /truncated, expected \d+, found 1000/);
  await refuses(Model.open(new ArrayBuffer(0)), "FOVEA_E_NULL", /./);
  await refuses(Model.open(new Uint8Array(4096)), "FOVEA_E_MAGIC", /./);
  await refuses(Model.open("none.fovea"), "FOVEA_E_ARGUMENT", /cannot read .*none\.fovea: no such file/);
  refuses(() => section.classify(7), "FOVEA_E_ARGUMENT", /a text is needed, not number/);
  refuses(() => section.classify([]), "FOVEA_E_ARGUMENT", /a text or a list/);
  refuses(() => section.classify("a", { program: "none" }), "FOVEA_E_NAME", /no program 'none'; there are: /);
  refuses(() => section.classify("a", { maxLength: -1 }), "FOVEA_E_OPTION", /max_length is -1/);
  refuses(() => section.run("a", { taps: ["none"] }), "FOVEA_E_NAME", /no attention 'none'/);
  refuses(() => section.run("a", { taps: [{ step: "attentions.0", heads: [3] }] }), "FOVEA_E_OPTION", /no head 3/);
  refuses(() => section.run("a", { taps: [{ step: "attentions.0", form: "x" }] }), "FOVEA_E_OPTION", /form 'x'/);
  refuses(() => section.run("a", { keep: ["none"] }), "FOVEA_E_NAME", /no value 'none'/);
  refuses(() => section.classify(["a", ["b"]]), "FOVEA_E_ARGUMENT", /a text is needed, not an array/);
  refuses(() => section.classify("😀\ud800b"), "FOVEA_E_UTF8", /half of a surrogate pair at 2: it is not Unicode/);
  refuses(() => section.run("a", { taps: ["attentions.0"] }).attentionMaps["attentions.0"].segment(1), "FOVEA_E_INDEX",
    /no segment 1 of 1/);
  refuses(() => section.classify("a", { top: "2" }), "FOVEA_E_OPTION", /top is "2": a whole/);
  refuses(() => section.classify("a", { top: 0 }), "FOVEA_E_OPTION", /top is 0: a whole number above 0/);
  refuses(() => section.generate("a"), "FOVEA_E_NAME", /the model generates no text/);
  assert.equal(section.generatePrograms, null);
  const writer = await Model.open(readFileSync(`${blobs}/package-writer.fovea`));
  refuses(() => writer.generate("a", { temperature: -1 }), "FOVEA_E_OPTION", /temperature/);
  refuses(() => writer.generate("a", { heat: 1 }), "FOVEA_E_OPTION", /no option 'heat'/);
  refuses(() => writer.generate("word ".repeat(5000)), "FOVEA_E_LENGTH", /a prompt has \d+ tokens, texts have \d+ at/);
  refuses(() => writer.generate("a", { maxTokens: 1.5 }), "FOVEA_E_OPTION", /maxTokens is 1.5: a whole number is/);
  refuses(() => writer.classify("a"), "FOVEA_E_NAME", /has no output for a text as a whole/);
  const encoder = await Model.open(`${blobs}/writer-encoder.fovea`);
  refuses(() => encoder.classify("a"), "FOVEA_E_NAME", /has no output 'logits'.*its outputs are: last_hidden_state/);
  refuses(() => writer.embed("a"), "FOVEA_E_NAME", /generates text.*--task embedding/);
  refuses(() => writer.tokenizer.decode([70000]), "FOVEA_E_ID", /./);
  const generation = writer.generate("a", { maxTokens: 5 });
  generation.next();
  writer.close();
  assert.ok(writer.closed);
  refuses(() => writer.classify("a"), "FOVEA_E_HANDLE", /this model is closed/);
  refuses(() => generation.next(), "FOVEA_E_HANDLE", /this model is closed/);
});

test("memory grows to what is needed, and no further", () => {
  for (let i = 0; i < 3; ++i) section.classify(single.map((name) => texts[name]));
  const { total, blob, model } = section.memory;
  const large = (tokens) => () => section.session({ limits: { tokens: [tokens, 128], texts: tokens / 100 } });
  refuses(large(2e6), "FOVEA_E_MEMORY", /cannot get \d+ bytes/);
  refuses(large(2e7), "FOVEA_E_OPTION", /address space/);
  for (let i = 0; i < 30; ++i) section.classify(single.map((name) => texts[name]));
  assert.equal(section.memory.total, total);
  assert.ok(blob > 2 ** 20 && model > 0 && total > blob + model);
});
