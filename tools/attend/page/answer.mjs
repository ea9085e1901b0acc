// The answer of the model, and how much of each input it read: the first thing on the page.
import { countText, made, plural, shortText, visible, weightText } from "./elements.mjs";

const SHOWN = 3;  // inputs whose answers are not folded
const CHARACTERS = 400;  // a longer written text is folded

const numberText = weightText;

/** "read 128 of 5,288 tokens", or null if nothing is known. */
export function readText({ tokens, of_tokens: ofTokens, sentences, of_sentences: ofSentences } = {}) {
  if (ofSentences > (sentences ?? 0)) return `read ${countText(sentences)} of ${countText(ofSentences)} sentences`;
  if (ofTokens > tokens) return `read ${countText(tokens)} of ${countText(ofTokens)} tokens`;
  return tokens === undefined ? null : `read all ${plural(tokens, "token")}`;
}

function bars(entries, name) {
  const most = Math.max(...entries.map(({ number }) => Math.abs(number)), 1e-9);
  return made("ol", { className: "bars" }, entries.map((entry) => {
    const bar = made("span", { className: "bar", "aria-hidden": "true" });
    bar.style.setProperty("--share", Math.max(0, Math.min(1, entry.number / most)).toFixed(4));
    return made("li", {}, made("span", { className: "name" }, name(entry)), bar,
      made("span", { className: "number" }, numberText(entry.number)));
  }));
}

/** The texts that a decoder wrote, with the prompt before each: what comes after each segment's first rows. */
function writtenTexts({ generation, spaces, texts }) {
  if (!generation) return [];
  const space = spaces[generation.target_space], { first = 0, shift = 0 } = generation;
  return Array.from({ length: space.segments }, (_, i) => {
    const [begin, end] = space.segment(i), from = begin + (Array.isArray(first) ? first[i] : first);
    const rows = Array.from({ length: end - begin }, (__, k) => begin + k);
    const places = rows.filter((row) => row >= from).map((row) => space.place(row)).filter(Boolean);
    // The last token was written and not read: it has no row, but the text has it.
    if (places.length > 0) {
      const [text, at] = places[0];
      return { prompt: texts[text].slice(0, at).trim(), text: texts[text].slice(at) };
    }
    const names = space.writes ? rows.filter((row) => row >= from - shift).map((row) => space.writes[row])
      : rows.filter((row) => row >= from).map((row) => space.rowName(row));
    return { prompt: "", text: names.join(" ").trim() };
  });
}

/** A written text; the end of a long one is folded. */
function writtenText(text) {
  const all = [...visible(text)];
  const space = all.lastIndexOf(" ", CHARACTERS), first = space > CHARACTERS / 2 ? space : CHARACTERS;
  if (all.length <= 1.25 * CHARACTERS) return [made("p", { className: "written" }, all.join(""))];
  return [made("p", { className: "written" }, `${all.slice(0, first).join("")} \u2026`),
    made("details", {}, made("summary", {}, `the other ${countText(all.length - first)} characters`),
      made("p", { className: "written" }, all.slice(first).join("").trimStart()))];
}

function answerOf({ kind, entries, width }, names) {
  if (kind === "classes") {
    return [made("p", { className: "said-answer" }, made("strong", {}, entries[0].label),
      ` with probability ${numberText(entries[0].number)}`), bars(entries, ({ label }) => label)];
  }
  if (kind === "scores") return [bars(entries, ({ label }) => label)];
  if (kind === "spans") {
    if (entries.length === 0) return [made("p", {}, "No span of the text has a tag.")];
    return [bars(entries, ({ label, of }) => `${of}: ${label}`)];
  }
  if (kind === "words") {
    if (entries.length === 0) return [made("p", {}, "The text has no mask, so no word was predicted.")];
    return [bars(entries, ({ label, of }) => `${visible(label)} at token ${of}`)];
  }
  if (kind === "text") {
    return [...writtenText(entries[0].label),
      made("p", { className: "soft" }, `mean probability of its tokens: ${numberText(entries[0].number)}`)];
  }
  const text = `An embedding of ${plural(width, "number")}.`;
  if (entries.length === 0) return [made("p", {}, `${text} With several inputs, the nearest of them is shown here.`)];
  return [made("p", {}, `${text} Nearest of the other inputs, by cosine:`),
    bars(entries, ({ label }) => names(Number(label) - 1))];
}

/** The panel, or null if the record has neither answers nor a written text nor how much was read. */
export function answerPanel(record) {
  const { texts, sounds, images, reads, answers } = record, written = writtenTexts(record);
  const nameOf = (i) => (reads.length > 0 || texts.length > 0 ? shortText(texts[i] ?? "", 80) :
    sounds[i] ? `sound of ${sounds[i].seconds.toFixed(2)} seconds` :
      `${images.length > 0 ? "image" : "input"} ${i + 1}`);
  const count = Math.max(answers.length, written.length, reads.some((each) => readText(each)) ? reads.length : 0);
  if (count === 0) return null;
  const inputs = Array.from({ length: count }, (_, i) => {
    const read = reads.find(({ text }) => text === i), parts = [];
    if (answers[i]) parts.push(...answerOf(answers[i], nameOf));
    if (written[i] !== undefined) parts.push(...writtenText(written[i].text));
    const cut = read && (read.of_tokens > read.tokens || read.of_sentences > read.sentences);
    return made("section", { className: "answer" },
      made("p", { className: "soft" },
        made("span", { className: "of" }, written[i]?.prompt ? shortText(written[i].prompt, 80) : nameOf(i)),
        read ? made("span", { className: cut ? "read cut" : "read" }, ` \u00b7 ${readText(read)}`) : null), parts);
  });
  const more = inputs.slice(SHOWN);
  return made("section", { className: "answers", "aria-labelledby": "answers-title" },
    made("h2", { id: "answers-title" }, written.length > 0 ? "What the model wrote" : "What the model answered"),
    made("div", { className: "answer-list" }, inputs.slice(0, SHOWN)),
    more.length > 0 ? made("details", {}, made("summary", {}, `${plural(more.length, "more input")}`),
      made("div", { className: "answer-list" }, more)) : null);
}
