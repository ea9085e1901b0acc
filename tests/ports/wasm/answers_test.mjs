// Answers to questions and weights of words, of the package as npm installed it, against the command. FOVEA_COMMAND is
// the command, FOVEA_BLOBS a folder with its blobs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { FoveaError, Model } from "fovea";
import { assertNear } from "./support.mjs";

const { FOVEA_COMMAND: command, FOVEA_BLOBS: blobs } = process.env;
const QUESTION = "Which formats?";
const CONTEXT = "A library to read compressed audio files. \u00c4ltere und neuere Formate: it supports FLAC, Ogg " +
  "Vorbis and \u4e2d\u6587 tags \u{1f600}; a text editor for programmers is not part of it, nor are games or fonts.";
const TEXTS = ["a text editor for programmers", "x"];

const open = (name) => Model.open(readFileSync(`${blobs}/${name}.fovea`));
const question = await open("question"), weights = await open("weights"), section = await open("package-section");

function told(...words) {
  const stdio = ["ignore", "pipe", "ignore"];
  return JSON.parse(execFileSync(command, words.map(String), { encoding: "utf8", stdio }));
}

function refuses(what, text) {
  assert.throws(what, (error) => error instanceof FoveaError && text.test(error.message));
}

test("answers are the command's, with places in the string", () => {
  for (const [options, words] of [
    [{ top: 4, allowNone: true }, ["--top", 4, "--allow-no-answer"]],
    [{ top: 3, maxLength: 30, stride: 8, maxTokens: 5 },
      ["--top", 3, "--max-length", 30, "--stride", 8, "--max-answer", 5]],
    [{ maxLength: 20 }, ["--max-length", 20]],
  ]) {
    const found = question.answer(QUESTION, CONTEXT, options);
    const [{ answers }] = told("run", `${blobs}/question.fovea`, "--question", QUESTION, "--context", CONTEXT, "--json",
      ...words);
    assert.deepEqual(found.map(({ text }) => text), answers.map(({ text }) => text));
    assertNear(found.map(({ score }) => score), answers.map(({ score }) => score), 2e-5, "score");
    for (const { text, begin, end } of found) assert.equal(CONTEXT.slice(begin, end), text);
  }
  assert.deepEqual(question.answer(QUESTION, ""), []);
});

test("weights of words are the command's, and the numbers of embeddings", () => {
  for (const [options, words] of [[{}, []], [{ prompt: "document" }, ["--prompt-name", "document"]]]) {
    const found = weights.wordWeights(TEXTS, { top: 6, ...options });
    const entries = told("run", `${blobs}/weights.fovea`, ...TEXTS.flatMap((text) => ["--text", text]), "--top", 6,
      "--json", ...words);
    entries.forEach(({ sparse }, i) => {
      assert.deepEqual(found[i].map(({ id, token }) => ({ id, token })),
        sparse.words.map(({ id, token }) => ({ id, token })));
      assertNear(found[i].map(({ weight }) => weight), sparse.words.map(({ weight }) => weight), 2e-5, "weight");
    });
    const rows = weights.embed(TEXTS, options), all = weights.wordWeights(TEXTS, options);
    rows.forEach((row, i) => {
      assert.equal(row.reduce((count, weight) => count + (weight === 0 ? 0 : 1), 0), all[i].length);
      for (const { id, weight } of all[i]) assert.equal(row[id], weight);
    });
  }
});

test("what a model has not is refused", () => {
  refuses(() => section.answer("a", "b"), /does not answer questions, its task is sequence-classification/);
  refuses(() => section.wordWeights("a"), /not a masked language model/);
  refuses(() => question.embed("a"), /answers questions/);
  const short = { maxLength: 6, stride: 3 };
  refuses(() => question.answer(QUESTION, CONTEXT, short), /no more than the 3 tokens.*shorten it/);
  refuses(() => question.answer(QUESTION, CONTEXT, { top: 0 }), /top is 0/);
  refuses(() => question.answer(QUESTION, CONTEXT, { tpo: 1 }), /did you mean 'top'/);
  refuses(() => weights.embed("a", { prompt: "other" }), /there are: document, query/);
});
