// Text to token ids and back, with the tokenizer of a blob.
import { constants } from "./declarations.mjs";
import { refuse } from "./errors.mjs";
import { Blocks } from "./library.mjs";
import { optionsOf } from "./options.mjs";
import { counted, quoted, shownAs } from "./shown.mjs";

const encoder = new TextEncoder();
const TRUNCATIONS = ["longest", "first", "second"];
const KINDS = ["", "word_piece", "unigram", "byte_pair"];

/** For each byte of a text its position in the string (UTF-16 units); within a character, the character's begin. */
function placesOf(text, bytes) {
  const places = new Uint32Array(bytes + 1);
  let byte = 0, place = 0;
  for (const character of text) {
    const code = character.codePointAt(0);
    const end = byte + (code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);
    places.fill(place, byte, end);
    byte = end;
    place += character.length;
  }
  places[bytes] = text.length;
  return places;
}

/** Warns on the console if a text spells special tokens. */
export function warnSpelled({ spelled }) {
  if (spelled === 0) return;
  console.warn("fovea: a text spells special tokens, which are read as such; the option literal reads them as text");
}

/** The same, and if it is longer than the model reads. */
function warned(encoding) {
  warnSpelled(encoding);
  const { dropped, droppedSentences } = encoding;
  if (dropped === 0 && droppedSentences === 0) return encoding;
  const sentences = droppedSentences === 0 ? "" : `${droppedSentences} sentences and `;
  console.warn(`fovea: a text is longer than the model reads; left out: ${sentences}${dropped} tokens`);
  return encoding;
}

/** The tokens of a text. Ranges are stored in bytes; `span` converts them to the string. */
export class Encoding {
  constructor(text, pair, bytes, fields) {
    this.text = text;
    this.pair = pair;
    this.bytes = bytes;
    Object.assign(this, fields);
  }

  get length() {
    return this.ids.length;
  }

  /** Tokens of the text that are left out. */
  get dropped() {
    return Math.max(0, this.uncut - this.special.reduce((kept, own) => kept + (own ? 0 : 1), 0));
  }

  /** [begin, end) in the string for bytes [begin, end) of the text: the characters that contain them. */
  span(begin, end) {
    this.places ??= placesOf(this.text, this.bytes.length);
    while (end < this.bytes.length && (this.bytes[end] & 0xc0) === 0x80) ++end;
    return [this.places[begin], this.places[end]];
  }

  /** [begin, end) in the string for each token; [0, 0) for tokens added by the tokenizer. */
  get spans() {
    const { special, ranges } = this;
    if (this.pair !== null) refuse("tokens of a pair have no spans: they belong to two texts");
    return Array.from(special, (own, i) => (own ? [0, 0] : this.span(ranges[2 * i], ranges[2 * i + 1])));
  }
}

export class Tokenizer {
  constructor(model) {
    this.model = model;
    const info = model.library.info("fovea_text_get_info", "fovea_text_info", model.handle);
    this.kind = KINDS[info.kind];
    this.vocabulary = info.vocabulary;
    this.maxLength = info.max_length;
    this.padId = info.pad_id;
    this.maskId = info.mask_id;
  }

  /** Ids of a text; `maxLength`: truncated to this many tokens, 0: to the model's limit; `whole`: no truncation;
   * `literal`: special tokens that the text spells are text. */
  encode(text, given) {
    const { pair = null, truncation = "longest", maxLength = 0, document = false, wrapped = false, whole = false,
      literal = false } = optionsOf("encode", given);
    if (!TRUNCATIONS.includes(truncation)) {
      refuse(`truncation '${truncation}': one of ${TRUNCATIONS.join(", ")} is needed`, constants.FOVEA_E_OPTION);
    }
    for (const one of pair === null ? [text] : [text, pair]) {
      if (typeof one !== "string") refuse(`a text is needed, not ${Array.isArray(one) ? "an array" :
        one === null ? "null" : typeof one}`);
      const alone = one.search(/\p{Surrogate}/u);
      if (alone >= 0) {
        refuse(`the text has half of a surrogate pair at ${alone}: it is not Unicode`, constants.FOVEA_E_UTF8);
      }
    }
    if (pair !== null && document) refuse("encode: a pair is no document", constants.FOVEA_E_OPTION);
    const library = this.model.open(), handle = this.model.handle;
    const bytes = encoder.encode(text), second = encoder.encode(pair ?? "");
    return library.within((blocks) => {
      const size = bytes.length;
      const at = blocks.copy(bytes);
      const pairAt = pair === null ? 0 : blocks.copy(second) || blocks.make(1);  // an empty one has an address also
      const needed = library.number("fovea_text_scratch_size", handle, Math.max(size, second.length));
      const scratch = blocks.make(needed);
      const options = blocks.struct("fovea_text_encode_options",
        { max_length: maxLength, flags: (wrapped ? constants.FOVEA_TEXT_WRAPPED : 0) |
          (whole ? constants.FOVEA_TEXT_UNLIMITED : 0) | (literal ? constants.FOVEA_TEXT_LITERAL : 0),
        truncation: TRUNCATIONS.indexOf(truncation) }).address;
      const lengths = document ? blocks.make(4 * size) : 0, spans = document ? blocks.make(8 * size) : 0;
      const sentences = blocks.struct("fovea_text_sentences",
        { capacity: document ? size : 0, lengths, ranges: spans });
      for (let capacity = size + second.length + 16; ; ) {
        const ids = blocks.make(4 * capacity), types = blocks.make(4 * capacity);
        const special = blocks.make(capacity), ranges = blocks.make(8 * capacity);
        const tokens = blocks.struct("fovea_text_tokens", { capacity, ids, types, special, ranges });
        try {
          if (document) {
            library.call("fovea_text_encode_document", handle, at, size, options, scratch, needed,
              tokens.address, sentences.address);
          } else {
            library.call("fovea_text_encode", handle, at, size, pairAt, second.length, options, scratch, needed,
              tokens.address);
          }
        } catch (error) {
          if (error.status !== constants.FOVEA_E_CAPACITY || tokens.get("count") <= capacity) throw error;
          capacity = tokens.get("count");
          continue;
        }
        const count = tokens.get("count"), found = sentences.get("count");
        const encoding = new Encoding(text, pair, bytes, {
          ids: library.numbers(Int32Array, ids, count),
          types: library.numbers(Int32Array, types, count),
          special: library.numbers(Uint8Array, special, count),
          ranges: library.numbers(Uint32Array, ranges, 2 * count),
          uncut: tokens.get("text_tokens", 0) + tokens.get("text_tokens", 1),
          textTokens: [tokens.get("text_tokens", 0), tokens.get("text_tokens", 1)],
          sentences: document ? library.numbers(Uint32Array, lengths, found) : null,
          sentenceRanges: document ? library.numbers(Uint32Array, spans, 2 * found) : null,
          droppedSentences: document ? sentences.get("dropped") : 0,
          spelled: tokens.get("spelled"),
        });
        return whole ? encoding : warned(encoding);
      }
    });
  }

  /** The text of ids. */
  decode(ids, options) {
    const { keepSpecial = false } = optionsOf("decode", options);
    const library = this.model.open();
    const flags = keepSpecial ? constants.FOVEA_TEXT_KEEP_SPECIAL : 0;
    return library.within((blocks) => {
      const numbers = Int32Array.from(ids);
      const at = blocks.copy(numbers);
      const capacity = 16 * numbers.length + 16;
      return written(library, capacity, "fovea_text_decode", this.model.handle, at, numbers.length, flags);
    });
  }

  /** The piece of an id, as the vocabulary spells it. */
  piece(id) {
    const library = this.model.open();
    return library.within((blocks) => {
      const at = blocks.make(4), size = blocks.make(4);
      library.call("fovea_text_get_token", this.model.handle, id, at, size, 0);
      const { view } = library, address = view.getUint32(at, true);
      return new TextDecoder().decode(library.bytes(address, view.getUint32(size, true)).slice());
    });
  }

  /** A text that is decoded incrementally. `after`: the tokens that it continues, which are not shown. */
  stream(after = []) {
    return new TextStream(this.model, this.vocabulary).follow(after);
  }
}

class TextStream {
  constructor(model, vocabulary) {
    this.model = model;
    this.vocabulary = vocabulary;
    this.rest = "";
    this.blocks = new Blocks(model.open());
    this.state = this.blocks.struct("fovea_text_stream").address;
    this.id = this.blocks.make(4);
  }

  /** The space before the first word is kept; text of `tokens` that the decoder holds back is not shown either. */
  follow(tokens) {
    if (tokens.length === 0) return this;
    const ended = new TextStream(this.model, this.vocabulary);
    let rest = "";
    try {
      for (const token of tokens) {
        this.add(token);
        ended.add(token);
      }
      rest = ended.end();
    } finally {
      ended.close();
    }
    this.rest = rest;
    return this;
  }

  add(token) {
    if (token < 0 || token >= this.vocabulary) return "";  // tables are often larger than vocabularies
    this.model.open().view.setInt32(this.id, token, true);
    return this.#withoutRest(
      written(this.model.library, 256, "fovea_text_decode_next", this.model.handle, this.state, this.id, 1));
  }

  end() {
    return this.#withoutRest(written(this.model.open(), 256, "fovea_text_decode_end", this.model.handle, this.state));
  }

  #withoutRest(text) {
    if (this.rest === "" || text === "") return text;
    const { rest } = this;
    this.rest = "";
    return text.startsWith(rest) ? text.slice(rest.length) : text;
  }

  close() {
    if (!this.model.closed) this.blocks.free();
  }
}

/** The output of a function whose last parameters are a buffer, its size and the number of bytes written. */
function written(library, capacity, name, ...given) {
  return library.within((blocks) => {
    const size = blocks.make(8);
    for (let turn = 0; ; ++turn) {
      const output = blocks.make(capacity);
      try {
        library.call(name, ...given, output, capacity, size);
      } catch (error) {
        if (error.status !== constants.FOVEA_E_CAPACITY || turn === 1) throw error;
        capacity = error.expected;
        continue;
      }
      const count = Number(library.view.getBigUint64(size, true));
      return library.text(output, count);
    }
  });
}

shownAs(Encoding, (encoding) => `Encoding(${counted(encoding.length, "token")} of ${quoted(encoding.text)}` +
  `${encoding.pair === null ? "" : ` and ${quoted(encoding.pair)}`}` +
  `${encoding.dropped ? `, ${encoding.dropped} left out` : ""})`);
shownAs(Tokenizer, ({ kind, vocabulary, maxLength }) => `Tokenizer(${kind} of ${vocabulary}` +
  `${maxLength ? `, ${maxLength} tokens at most` : ""})`);
