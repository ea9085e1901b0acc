package fovea;

import java.util.Arrays;

/** The tokens of a text, of a pair of texts, or of a document. */
public final class Encoding {
  final int[] ids;
  final int[] types;
  final boolean[] special;
  final int[] begins; // bytes of the text
  final int[] ends;
  final int[] sentences; // null: not a document
  final int[] sentenceBegins;
  final int[] sentenceEnds;
  /** Tokens that truncation removed. */
  public final int dropped;
  /** Sentences at the end of a document that are left out. */
  public final int droppedSentences;
  /** Special tokens that the texts spell, except mask and unknown tokens. */
  public final int spelled;
  final String text;
  final String second;
  final long[] textTokens; // for each text before truncation, without special tokens

  Encoding(int[] packed, long[] counts, String text, String second, boolean document) {
    final int n = (int) counts[0];
    final int s = (int) counts[3];
    ids = Arrays.copyOf(packed, n);
    types = Arrays.copyOfRange(packed, n, 2 * n);
    special = new boolean[n];
    int plain = 0;
    for (int i = 0; i < n; ++i) {
      special[i] = packed[2 * n + i] != 0;
      plain += special[i] ? 0 : 1;
    }
    begins = Arrays.copyOfRange(packed, 3 * n, 4 * n);
    ends = Arrays.copyOfRange(packed, 4 * n, 5 * n);
    sentences = document ? Arrays.copyOfRange(packed, 5 * n, 5 * n + s) : null;
    sentenceBegins = document ? Arrays.copyOfRange(packed, 5 * n + s, 5 * n + 2 * s) : null;
    sentenceEnds = document ? Arrays.copyOfRange(packed, 5 * n + 2 * s, 5 * n + 3 * s) : null;
    dropped = (int) Math.max(0, counts[1] + counts[2] - plain);
    droppedSentences = (int) counts[4];
    spelled = (int) counts[5];
    textTokens = new long[] {counts[1], counts[2]};
    this.text = text;
    this.second = second;
  }

  /** This encoding with padding, for models whose texts have one length. */
  Encoding(Encoding from, int length, int pad) {
    final int n = from.ids.length;
    ids = Arrays.copyOf(from.ids, length);
    Arrays.fill(ids, n, length, pad);
    types = Arrays.copyOf(from.types, length);
    special = Arrays.copyOf(from.special, length);
    Arrays.fill(special, n, length, true);
    begins = Arrays.copyOf(from.begins, length);
    ends = Arrays.copyOf(from.ends, length);
    sentences = from.sentences;
    sentenceBegins = from.sentenceBegins;
    sentenceEnds = from.sentenceEnds;
    dropped = from.dropped;
    droppedSentences = from.droppedSentences;
    spelled = from.spelled;
    text = from.text;
    second = from.second;
    textTokens = from.textTokens;
  }

  /** Tokens of a pair by their positions. */
  Encoding(Encoding from, int[] positions, int first) {
    final int n = positions.length - first;
    ids = new int[n];
    types = new int[n];
    special = new boolean[n];
    begins = new int[n];
    ends = new int[n];
    for (int i = 0; i < n; ++i) {
      final int at = positions[first + i];
      ids[i] = from.ids[at];
      types[i] = from.types[at];
      special[i] = from.special[at];
      begins[i] = from.begins[at];
      ends[i] = from.ends[at];
    }
    sentences = null;
    sentenceBegins = null;
    sentenceEnds = null;
    dropped = 0;
    droppedSentences = 0;
    spelled = 0;
    text = from.text;
    second = from.second;
    textTokens = from.textTokens;
  }

  /** The token ids. */
  public int[] ids() {
    return ids.clone();
  }

  /** The type of each token, for models that read pairs. */
  public int[] types() {
    return types.clone();
  }

  public int size() {
    return ids.length;
  }

  /** Whether the tokenizer added the token. */
  public boolean isSpecial(int token) {
    return special[token];
  }

  /** The number of tokens of each sentence of a document; null for other texts. */
  public int[] sentences() {
    return sentences == null ? null : sentences.clone();
  }

  /** The text of each token: 0 the first, 1 the second, -1 none. */
  private int part(int token) {
    if (special[token]) return -1;
    if (second == null) return 0;
    boolean plain = false;
    boolean gap = text.isEmpty();
    for (int i = 0; i <= token; ++i) { // special tokens are between the texts
      if (special[i]) {
        gap = gap || plain;
      } else {
        plain = true;
      }
    }
    return gap ? 1 : 0;
  }

  /** Begin and end of a token in its text: text.substring(begin, end). {0, 0} for special tokens. */
  public int[] span(int token) {
    final int part = part(token);
    if (part < 0) return new int[] {0, 0};
    final CharSpans spans = new CharSpans(part == 0 ? text : second);
    return new int[] {spans.begin(begins[token]), spans.end(ends[token])};
  }

  @Override
  public String toString() {
    return "fovea.Encoding: " + ids.length + " tokens"
        + (sentences == null ? "" : " in " + sentences.length + " sentences")
        + (dropped == 0 ? "" : ", " + dropped + " left out")
        + (droppedSentences == 0 ? "" : ", " + droppedSentences + " sentences left out");
  }
}
