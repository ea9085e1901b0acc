// Tasks of the package of ports/wasm, as npm installed it: against PyTorch's results and the command's.
// FOVEA_SOURCE is the repository, FOVEA_COMMAND the command, FOVEA_BLOBS a folder with its blobs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { FoveaError, Model, Tensor, TextStreamer, pipeline } from "fovea";
import { assertNear, readSafetensors, samplesOf } from "./support.mjs";

const { FOVEA_SOURCE: source, FOVEA_COMMAND: command, FOVEA_BLOBS: blobs } = process.env;
const train = `${source}/tools/train`, GOLDEN = 2e-4, COMMAND = 2e-5;  // as in package_test.mjs
const run = (...options) => JSON.parse(execFileSync(command, ["run", ...options, "--json"]));
const { texts } = JSON.parse(readFileSync(`${train}/package-section/golden.json`));

const refused = (what, status, text) => assert.rejects(what, (error) => {
  assert.ok(error instanceof FoveaError, String(error.stack));
  assert.equal(error.statusName, status);
  assert.match(error.message, text);
  return true;
});

test("text-classification", async () => {
  const events = [], path = `${blobs}/package-section.fovea`;
  const classify = await pipeline("text-classification", path, { progress_callback: (event) => events.push(event) });
  assert.deepEqual([events[0].status, events.at(-2).status, events.at(-1).status], ["initiate", "done", "ready"]);
  for (const event of events.filter(({ status }) => status === "progress")) {
    assert.ok(event.progress > 0 && event.progress < 100 && event.file === path);
  }
  const said = [texts.a, texts.b].map((text) => run(path, "--text", text, "--top", "31")[0].classes);
  const same = (got, expected) => {
    assert.deepEqual(got.map((one) => one.label), expected.map((one) => one.label));
    assertNear(got.map((one) => one.score), expected.map((one) => one.probability), COMMAND, "scores");
    for (const one of got) assert.deepEqual(Object.keys(one), ["label", "score"]);
  };
  same(await classify(texts.a), said[0].slice(0, 1));
  same(await classify([texts.a, texts.b]), [said[0][0], said[1][0]]);
  same(await classify(texts.a, { top_k: 3 }), said[0].slice(0, 3));
  const all = await classify([texts.a, texts.b], { top_k: null });
  all.forEach((one, i) => same(one, said[i]));
  await refused(classify([]), "FOVEA_E_ARGUMENT", /a text or a list/);
  await refused(classify(7), "FOVEA_E_ARGUMENT", /a text or a list/);
  await refused(classify("a", { top_k: 0 }), "FOVEA_E_OPTION", /top_k is 0/);
  await refused(classify("a", {}, 3), "FOVEA_E_ARGUMENT", /too many arguments/);
  await refused(pipeline("text-classification", classify.model, { workers: 2 }), "FOVEA_E_OPTION",
    /workers of a Model/);
  await refused(pipeline("text-classification"), "FOVEA_E_ARGUMENT", /a model's address/);
  await classify.dispose();
  assert.ok(classify.model.closed);
});

test("feature-extraction", async () => {
  const extract = await pipeline("feature-extraction", `${blobs}/writer-encoder.fovea`);
  const golden = readSafetensors(`${train}/package-writer/golden.safetensors`);
  const { data: states, shape } = golden["a.out.hidden_states.5"];
  const { a: { text } } = JSON.parse(readFileSync(`${train}/package-writer/golden.json`));
  const [, rows, width] = shape;
  const all = await extract(text);
  assert.ok(all instanceof Tensor);
  assert.deepEqual([all.type, all.dims, all.size], ["float32", shape, states.length]);
  assertNear(all.data, states, GOLDEN, "states");
  const list = all.tolist();
  assert.deepEqual([list.length, list[0].length, list[0][1]], [1, rows, [...all.data.subarray(width, 2 * width)]]);
  const mean = Array.from({ length: width }, (_, j) =>
    states.reduce((sum, x, i) => (i % width === j ? sum + x / rows : sum), 0));
  const length = Math.hypot(...mean);
  const expected = { mean, cls: [...states.subarray(0, width)], last_token: [...states.subarray(-width)] };
  for (const [pooling, row] of Object.entries(expected)) {
    const pooled = await extract(["libs", text], { pooling });
    assert.deepEqual(pooled.dims, [2, width]);
    assertNear(pooled.at(1).data, row, GOLDEN, pooling);
    assert.deepEqual([...pooled][1].dims, [width]);
    const unit = await extract([text], { pooling, normalize: true });
    assertNear(unit.data, row.map((x) => x / Math.hypot(...row)), GOLDEN, `${pooling} of length 1`);
  }
  assert.ok(length > 0);
  const two = await extract([text, "libs"]);
  assert.deepEqual(two.dims, [2, rows, width]);
  assertNear(two.at(0).data, states, GOLDEN, "in a batch");
  assert.ok(two.at(-1).data.subarray(-width).every((x) => x === 0), "zeros behind a shorter text");
  const pooled = await pipeline("feature-extraction", `${blobs}/package-encoder.fovea`);
  assert.deepEqual([...(await pooled(texts.a, { pooling: "model" })).data], [...pooled.model.embed(texts.a)]);
  await refused(extract("a", { pooling: "max" }), "FOVEA_E_OPTION", /pooling 'max'.*one of none, mean/);
  await refused(extract("a", { quantize: true }), "FOVEA_E_OPTION", /no option 'quantize'/);
  assert.throws(() => two.at(2), /no part 2 of 2/);
});

test("zero-shot-classification", async () => {
  const path = `${blobs}/inference.fovea`, labels = ["games", "fonts", "a library for audio"];
  const classify = await pipeline("zero-shot-classification", path);
  for (const many of [false, true]) {
    for (const template of ["This example is {}.", "{} is what this is"]) {
      const expected = ["a", "b"].map((name) => run(path, "--text", texts[name], "--labels", labels.join(","),
        "--hypothesis", template, ...(many ? ["--multi-label"] : []))[0]);
      const got = await classify([texts.a, texts.b], labels, { hypothesis_template: template, multi_label: many });
      got.forEach((one, i) => {
        assert.deepEqual(Object.keys(one), ["sequence", "labels", "scores"]);
        assert.equal(one.sequence, expected[i].text);
        assert.deepEqual(one.labels, expected[i].labels.map(({ label }) => label));
        assertNear(one.scores, expected[i].labels.map(({ score }) => score), COMMAND, "scores");
      });
      assert.deepEqual(await classify(texts.a, labels, { hypothesis_template: template, multi_label: many }), got[0]);
    }
  }
  const [long] = run(path, "--text", "word ".repeat(300), "--labels", "games,fonts");
  const cut = await classify("word ".repeat(300), ["games", "fonts"]);
  assertNear(cut.scores, long.labels.map(({ score }) => score), COMMAND, "a truncated premise");
  await refused(classify("a"), "FOVEA_E_ARGUMENT", /labels: a text or a list/);
  await refused(classify("a", "b", { hypothesis_template: "none" }), "FOVEA_E_OPTION", /exactly one \{\}/);
});

test("text-generation, as a whole, by a streamer and by an iterator", async () => {
  const path = `${blobs}/package-writer.fovea`, write = await pipeline("text-generation", path);
  const { gen_a: a, gen_b: b } = JSON.parse(readFileSync(`${train}/package-writer/golden.json`));
  const options = { max_new_tokens: 24 };
  assert.deepEqual(await write(a.text, options), [{ generated_text: a.text + a.continuation }]);
  assert.deepEqual(await write([a.text, b.text], { ...options, return_full_text: false }),
    [[{ generated_text: a.continuation }], [{ generated_text: b.continuation }]]);
  const pieces = [], ids = [];
  const streamer = new TextStreamer(write.tokenizer, { skip_prompt: true,
    callback_function: (text) => pieces.push(text), token_callback_function: (tokens) => ids.push(...tokens) });
  await write(a.text, { ...options, streamer });
  assert.equal(pieces.join(""), a.continuation);
  assert.ok(pieces.length > 1);
  assert.equal(write.tokenizer.decode(ids.map(Number)), a.continuation);
  const shown = [];
  await write(a.text, { ...options, streamer: new TextStreamer(write.tokenizer,
    { callback_function: (text) => shown.push(text) }) });
  assert.equal(shown.join(""), a.text + a.continuation);
  let text = "", tokens = 0, events = 0;
  const timer = setInterval(() => ++events, 0);
  for await (const step of write.stream(a.text, options)) {
    text += step.text;
    assert.equal(step.ended, ++tokens === 24);
  }
  clearInterval(timer);
  assert.equal(text, a.continuation);
  assert.ok(events > 0, "other events happen between tokens");
  const drawn = await write(a.text, { max_new_tokens: 20, do_sample: true, temperature: 0.8, top_k: 40, seed: 7,
    return_full_text: false });
  const said = execFileSync(command, ["generate", path, "--prompt", a.text, "--max-tokens", "20", "--temperature",
    "0.8", "--top-k", "40", "--seed", "7", "--no-display-prompt"], { encoding: "utf8" });
  assert.equal(drawn[0].generated_text, said.replace(/\n$/, ""));
  const stop = new AbortController();
  await assert.rejects(write(a.text, { ...options, signal: stop.signal, streamer: new TextStreamer(write.tokenizer,
    { skip_prompt: true, callback_function: () => stop.abort() }) }), { name: "AbortError" });
  await refused(write(a.text, { temperature: 0.8 }), "FOVEA_E_OPTION", /temperature needs do_sample: true/);
  await refused(write(a.text, { num_beams: 4 }), "FOVEA_E_OPTION", /no option 'num_beams'/);
  await refused(write([{ role: "user", content: "a" }]), "FOVEA_E_BUILD", /chat template/);
  await refused(write(a.text, { streamer: () => 0 }), "FOVEA_E_OPTION", /streamer/);
  const dates = await pipeline("text-generation", await Model.open(`${blobs}/dates.fovea`));
  assert.deepEqual(await dates("3rd of March 2014"), [{ generated_text: "2014-03-03" }]);
});

test("automatic-speech-recognition", async () => {
  const path = `${blobs}/speech.fovea`, recognise = await pipeline("automatic-speech-recognition", path);
  const files = ["sound-1.wav", "sound-2.wav"].map((name) => `${blobs}/${name}`), sounds = files.map(samplesOf);
  const said = files.map((file) => execFileSync(command, ["transcribe", path, "--wav", file], { encoding: "utf8" })
    .replace(/\n$/, ""));
  assert.ok(said.every((text) => text.length > 3), said.join());
  assert.deepEqual(await recognise(sounds), said.map((text) => ({ text })));
  assert.deepEqual(await recognise(sounds[1], { sampling_rate: 16000 }), { text: said[1] });
  await refused(recognise(sounds[0], { sampling_rate: 8000 }), "FOVEA_E_OPTION", /reads 16000 samples .*not 8000/);
  await refused(recognise(sounds[0], { return_timestamps: true }), "FOVEA_E_OPTION", /not supported/);
  await refused(recognise("a.wav"), "FOVEA_E_ARGUMENT", /a Float32Array of samples/);
  await refused((await pipeline("automatic-speech-recognition", `${blobs}/dates.fovea`))(sounds[0]), "FOVEA_E_BUILD",
    /only CTC models/);
});
