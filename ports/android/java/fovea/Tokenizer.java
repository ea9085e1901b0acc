package fovea;

/** The tokenizer of a model; it lives as long as the model. */
public final class Tokenizer {
  static final int PLAIN = 1, UNLIMITED = 4, WRAPPED = 8, LITERAL = 16;
  private final Model model;
  /** The number of ids. */
  public final int vocabulary;
  /** The most tokens of a text; 0: the model states no limit. */
  public final int maxLength;
  /** Ids of tokens for unknown text, padding and masks; -1: there is none. */
  public final int unknownId;
  public final int padId;
  public final int maskId;
  private final String kind;

  Tokenizer(Model model, int[] info) {
    this.model = model;
    kind = info[0] == 1 ? "word pieces" : info[0] == 2 ? "unigrams" : "byte pairs";
    vocabulary = info[1];
    maxLength = info[2];
    unknownId = info[5];
    padId = info[6];
    maskId = info[7];
  }

  /** Tokens of a text, truncated at the model's limit, with a warning. */
  public Encoding encode(String text) {
    final Encoding made = encode(text, null, 0, 0, false, "text");
    TextWarnings.of(model, new Encoding[] {made}, 0);
    return made;
  }

  /** Tokens of two texts together. */
  public Encoding encode(TextPair pair) {
    final Encoding made = encode(pair.first, pair.second, 0, 0, false, "text");
    TextWarnings.of(model, new Encoding[] {made}, 0);
    return made;
  }

  /** The same; special tokens that the text spells, such as "&lt;/s&gt;", are text: for texts of strangers. */
  public Encoding encodeLiteral(String text) {
    final Encoding made = encode(text, null, LITERAL, 0, false, "text");
    TextWarnings.of(model, new Encoding[] {made}, 0);
    return made;
  }

  /** All tokens of a text of any length. */
  public Encoding encodeWhole(String text) {
    return encode(text, null, UNLIMITED, 0, false, "text");
  }

  Encoding encode(String text, String second, int flags, int maxLength, boolean document, String which) {
    final byte[] first = Native.bytes(text, which);
    final byte[] other = second == null ? null : Native.bytes(second, which);
    final long[] counts = new long[6];
    final long handle = model.enter();
    try {
      final int[] packed = Native.encode(handle, first, other, flags, maxLength, document, counts);
      return new Encoding(packed, counts, text, second, document);
    } catch (FoveaException error) {
      throw error.about(which);
    } finally {
      model.leave();
    }
  }

  /** The text of ids; incomplete characters become U+FFFD. */
  public String decode(int... ids) {
    final long handle = model.enter();
    try {
      return Native.text(Native.decode(handle, ids.clone(), 0));
    } finally {
      model.leave();
    }
  }

  /** The piece of an id, as in the vocabulary. */
  public String piece(int id) {
    final long handle = model.enter();
    try {
      return Native.text(Native.piece(handle, id));
    } catch (FoveaException error) {
      throw error.about("id " + id);
    } finally {
      model.leave();
    }
  }

  /** The id of a piece. */
  public int find(String piece) {
    final byte[] bytes = Native.bytes(piece, "piece");
    final long handle = model.enter();
    try {
      return Native.findPiece(handle, bytes);
    } catch (FoveaException error) {
      throw error.about("'" + piece + "'");
    } finally {
      model.leave();
    }
  }

  @Override
  public String toString() {
    return "fovea.Tokenizer of " + model.name() + ": " + kind + ", " + vocabulary + " tokens, "
        + (maxLength == 0 ? "texts of any length" : "at most " + maxLength + " tokens");
  }
}
