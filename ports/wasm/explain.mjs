// Which sentences and words decided: attention weights of the levels that the model's metadata names, with the
// positions in the text that they belong to.
import { constants as C } from "./declarations.mjs";

/** `use`'s result; null if the library refuses with this status. */
function unless(status, use) {
  try {
    return use();
  } catch (error) {
    if (error.status !== status) throw error;
    return null;
  }
}

/** Taps of a program's levels: the tokens and, for documents, the sentences. */
export function levelsOf(model, program, tokens, sentences) {
  const taps = [];
  const add = (space) => {
    const found = space && unless(C.FOVEA_E_NAME, () => model.library.info("fovea_result_get_explaining_tap",
      "fovea_tap", model.handle, program.index, space.index));
    if (!found) return { space, tap: null };
    const rows = found.rows === C.FOVEA_TAP_ROWS_STRIDE ? "first" : "all";
    taps.push({ step: program.steps[found.step].name, reduce: "mean", rows });
    return { space, tap: taps.length - 1 };
  };
  return { taps, tokens: add(tokens), sentences: add(sentences) };
}

/** The weights of a level's rows, all segments one after the other; null if there are none. */
function weightsOf(session, { space, tap }) {
  if (tap === null) return null;
  const { library } = session, rows = session.offsets(space.name).at(-1);
  return library.within((blocks) => {
    const weights = blocks.make(4 * rows);
    return unless(C.FOVEA_E_OPTION, () => {  // the attention does not belong to this level
      library.call("fovea_result_read_weights", session.handle, tap, space.index, weights, rows);
      return library.numbers(Float32Array, weights, rows);
    });
  });
}

function piece(encoding, from, to, fields) {
  const [begin, end] = encoding.span(from, to);
  return { text: encoding.text.slice(begin, end), begin, end, ...fields };
}

/** Calls `use` with a function that returns the words of tokens from `first` on, one for each of their weights;
 * `share`: the weight of their sentence. */
function withWords(library, encoding, use) {
  const { bytes, special, ranges, length } = encoding;
  return library.within((blocks) => {
    const text = blocks.copy(bytes), count = blocks.make(8), words = blocks.make(library.sizeOf("fovea_word") * length);
    const weights = blocks.make(4 * length);
    const tokens = blocks.struct("fovea_text_tokens",
      { capacity: length, count: length, special: blocks.copy(special), ranges: blocks.copy(ranges) });
    return use((first, numbers, share) => {
      library.bytes(weights, 4 * numbers.length).set(
        new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength));
      library.call("fovea_result_get_words", text, bytes.length, tokens.address, first, numbers.length, weights, words,
        length, count);
      return library.list("fovea_word", words, Number(library.view.getBigUint64(count, true))).map(
        ({ begin, end, weight }) => piece(encoding, begin, end, { weight, share: weight * share }));
    });
  });
}

/** For each text its sentences with their shares and words, or the words of a text that is read at once. */
export function explanationOf(session, { tokens, sentences }, encodings) {
  const weights = weightsOf(session, tokens), shares = weightsOf(session, sentences);
  let row = 0, sentence = 0;
  const next = (count) => weights && weights.subarray(row, (row += count));
  return encodings.map((encoding) => withWords(session.library, encoding, (words) => {
    if (encoding.sentences === null) {
      const own = next(encoding.length);
      return { sentences: null, words: own && words(0, own, 1), droppedSentences: 0 };
    }
    let first = 0;
    const parts = Array.from(encoding.sentences, (count, i) => {
      const share = shares ? shares[sentence++] : 1 / encoding.sentences.length, own = next(count);
      const part = piece(encoding, encoding.sentenceRanges[2 * i], encoding.sentenceRanges[2 * i + 1],
        { share: shares && share, words: own && words(first, own, share) });
      first += count;
      return part;
    });
    return { sentences: parts, words: null, droppedSentences: encoding.droppedSentences };
  }));
}
