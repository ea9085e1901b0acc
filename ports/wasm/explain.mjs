// Which sentences and words decided: attention weights of the levels that the model's metadata names, with the
// positions in the text that they belong to.

/** Taps of a program's levels: the tokens and, for documents, the sentences. */
export function levelsOf(model, program, tokens, sentences) {
  const taps = [];
  const add = (space) => {
    const name = space && model.metadata[`explain.${space.name}`];
    if (!name) return { space, tap: null };
    const step = model.attention(program, name);
    const own = model.stepInput(program, step, 0).space === model.stepInput(program, step, 1).space;
    taps.push({ step: name, reduce: "mean", rows: own ? "first" : "all" });
    return { space, tap: taps.length - 1 };
  };
  return { taps, tokens: add(tokens), sentences: add(sentences) };
}

/** The weights of a level's rows in their segments, row by row of the whole space; null if there are none. */
function weightsOf(session, { space, tap }) {
  if (tap === null) return null;
  const weights = session.attentionMap(tap);
  const offsets = session.offsets(space.name), keys = weights.keyOffsets;
  if (offsets.length !== keys.length) return null;  // the operation does not belong to this level
  const all = new Float64Array(offsets[offsets.length - 1]);
  let tapped = 0;
  for (let segment = 0; segment + 1 < offsets.length; ++segment) {
    const length = offsets[segment + 1] - offsets[segment];
    const front = keys[segment + 1] - keys[segment] - length;  // rows in front, if the keys' space extends this one
    if (front < 0) return null;
    // The tapped rows are one per segment, or the first row of each segment that is not empty.
    const query = weights.querySpace === weights.keySpace ? keys[segment] : segment;
    if (tapped < weights.queryRows.length && weights.queryRows[tapped] === query) {
      const row = tapped * weights.heads * weights.stride + front;
      all.set(weights.data.subarray(row, row + length), offsets[segment]);
      ++tapped;
    }
  }
  return all;
}

const isSpace = (byte) => byte === 32 || (byte >= 9 && byte <= 13);
const isWordByte = (byte) => byte >= 0x80 || /[A-Za-z0-9_]/.test(String.fromCharCode(byte));
/** Whether a byte starts a character of a script that is written without spaces. */
const isIdeograph = (byte) => byte >= 0xe3 && byte <= 0xe9;

/** Whether two adjacent tokens belong to one word. */
function touches(bytes, end, begin) {
  return end === begin && begin > 0 && begin < bytes.length && isWordByte(bytes[begin - 1]) &&
    isWordByte(bytes[begin]) && !isIdeograph(bytes[begin]);
}

function piece(encoding, from, to, fields) {
  const [begin, end] = encoding.span(from, to);
  return { text: encoding.text.slice(begin, end), begin, end, ...fields };
}

/** Words of `count` tokens from token `first`, whose weights begin at `at`; `share`: the weight of their sentence. */
function wordsOf(encoding, first, count, weights, at, share) {
  const { bytes, ranges, special } = encoding;
  const words = [];
  let word = null;
  for (let i = 0; i < count; ++i) {
    const token = first + i, end = ranges[2 * token + 1];
    let begin = ranges[2 * token];
    if (special[token]) continue;
    while (begin < end && isSpace(bytes[begin])) ++begin;
    if (begin === end) continue;
    if (word === null || (begin >= word.end && !touches(bytes, word.end, begin))) {
      words.push((word = { begin, end, weight: 0 }));
    }
    word.end = Math.max(word.end, end);
    word.weight += weights[at + i];
  }
  return words.map(({ begin, end, weight }) => piece(encoding, begin, end, { weight, share: weight * share }));
}

/** For each text its sentences with their shares and words, or the words of a text that is read at once. */
export function explanationOf(session, { tokens, sentences }, encodings) {
  const words = weightsOf(session, tokens), shares = weightsOf(session, sentences);
  let row = 0, sentence = 0;
  return encodings.map((encoding) => {
    if (encoding.sentences === null) {
      const found = words && wordsOf(encoding, 0, encoding.length, words, row, 1);
      row += encoding.length;
      return { sentences: null, words: found, droppedSentences: 0 };
    }
    let first = 0;
    const parts = Array.from(encoding.sentences, (count, i) => {
      const share = shares ? shares[sentence] : 1 / encoding.sentences.length;
      const part = piece(encoding, encoding.sentenceRanges[2 * i], encoding.sentenceRanges[2 * i + 1],
        { share: shares && share, words: words && wordsOf(encoding, first, count, words, row, share) });
      first += count;
      row += count;
      ++sentence;
      return part;
    });
    return { sentences: parts, words: null, droppedSentences: encoding.droppedSentences };
  });
}
