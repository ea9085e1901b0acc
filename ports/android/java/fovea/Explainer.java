package fovea;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Which sentences and words decided: attention weights of the levels that a model's metadata names. */
final class Explainer {
  private final Model model;
  private final ExplainOptions options;
  private final Program program;
  private final int tokens; // spaces
  private final int sentences;

  Explainer(Model model, ExplainOptions options) {
    this.model = model;
    this.options = options;
    program = model.program(options.program);
    tokens = Encoder.idInput(model, program).space;
    sentences = Encoder.sentenceSpace(model, tokens);
  }

  /** The attention that explains the rows of a space; null: none. */
  private Tap tap(int space) {
    final String operation = space < 0 ? null : model.metadata("explain." + model.spaces().get(space).name);
    if (operation == null || operation.isEmpty()) return null;
    final Program.Operation found = program.operations.get(model.attention(program, operation));
    final Tap made = new Tap(operation).reduce(Tap.Reduce.MEAN);
    if (found.first >= 0 && found.second >= 0) {
      made.firstRow = program.values.get(found.first).space == program.values.get(found.second).space;
    }
    return made;
  }

  Explanation explain(String text) {
    final Program.Value logits = Results.logits(model, program);
    final Tap ofTokens = tap(tokens);
    final Tap ofSentences = tap(sentences);
    if (ofTokens == null) {
      throw new FoveaException(model.name() + ": its metadata names no attention that explains its classes (explain."
          + model.spaces().get(tokens).name + "); look() keeps any attention map", FoveaException.NAME);
    }
    final List<Tap> taps = new ArrayList<>();
    taps.add(ofTokens);
    if (ofSentences != null) taps.add(ofSentences);
    final List<Encoding> encodings = new ArrayList<>();
    try (Session session = model.tapped(program, Collections.singletonList(text), options, taps, encodings)) {
      final Encoding encoding = encodings.get(0);
      final List<Prediction> classes = Results.predictions(model, program, session.row(logits.index, 0), options.top);
      final double[] weights = weights(session, tokens, 0, ofTokens);
      if (weights == null) {
        throw new FoveaException(model.name() + ": the attention of metadata explain."
            + model.spaces().get(tokens).name + " does not read the tokens", FoveaException.NAME);
      }
      final List<Explanation.Word> words = new ArrayList<>();
      final List<Explanation.Sentence> parts = new ArrayList<>();
      final byte[] raw = Native.bytes(text, "text");
      if (sentences < 0) {
        words.addAll(words(text, raw, encoding, 0, weights.length, weights, 1));
      } else {
        final double[] shares = ofSentences == null ? null : weights(session, sentences, 1, ofSentences);
        final CharSpans spans = new CharSpans(text);
        int first = 0;
        for (int i = 0; i < encoding.sentences.length; ++i) {
          final double share = shares == null ? 1.0 / encoding.sentences.length : shares[i];
          final int end = first + encoding.sentences[i];
          final List<Explanation.Word> listed = words(text, raw, encoding, first, end, weights, share);
          final int from = spans.begin(encoding.sentenceBegins[i]);
          final int to = spans.end(encoding.sentenceEnds[i]);
          parts.add(new Explanation.Sentence(text.substring(from, to), from, to, share, listed));
          words.addAll(listed);
          first = end;
        }
      }
      return new Explanation(text, classes, words, parts);
    }
  }

  /** The weights of the rows of a space, through all its segments; null: the attention does not belong to it. */
  private double[] weights(Session session, int space, int index, Tap tap) {
    final AttentionMap map = session.map(index, tap.operation);
    final int[] offsets = session.segments(space);
    if (map.segments() != offsets.length - 1) return null;
    final double[] found = new double[offsets[offsets.length - 1]];
    for (int i = 0; i + 1 < offsets.length; ++i) {
      final float[][] rows = map.segment(i, 0);
      final int length = offsets[i + 1] - offsets[i];
      if (rows.length == 0 || length == 0) continue;
      final int front = rows[0].length - length; // rows in front, if the keys' space extends this one
      if (front < 0) return null;
      for (int k = 0; k < length; ++k) found[offsets[i] + k] = rows[0][front + k];
    }
    return found;
  }

  private static boolean isWord(int one) {
    return one >= 0x80 || one == '_' || one >= '0' && one <= '9' || (one | 32) >= 'a' && (one | 32) <= 'z';
  }

  /**
   * Whether two adjacent tokens belong to one word. Scripts that are written without spaces (from E3 on in UTF-8) have
   * no
   * words of several tokens here.
   */
  private static boolean touches(byte[] raw, int end, int begin) {
    if (end != begin || begin <= 0 || begin >= raw.length) return false;
    final int after = raw[begin] & 0xff;
    return isWord(raw[begin - 1] & 0xff) && isWord(after) && !(after >= 0xe3 && after <= 0xe9);
  }

  private static boolean isSpace(byte one) {
    return one == ' ' || one >= 9 && one <= 13;
  }

  /** Words of the tokens from `first` to `last`. */
  private static List<Explanation.Word> words(String text, byte[] raw, Encoding encoding, int first, int last,
      double[] weights, double share) {
    final List<Explanation.Word> found = new ArrayList<>();
    final CharSpans spans = new CharSpans(text);
    int from = 0;
    int to = -1;
    double weight = 0;
    for (int i = first; i <= last; ++i) {
      int begin = raw.length;
      int end = raw.length;
      if (i < last) {
        if (encoding.special[i]) continue;
        begin = encoding.begins[i];
        end = encoding.ends[i];
        while (begin < end && isSpace(raw[begin])) ++begin;
        if (begin >= end) continue;
      }
      if (i == last || to < 0 || begin >= to && !touches(raw, to, begin)) {
        if (to >= 0) {
          final int at = spans.begin(from);
          final int until = spans.end(to);
          found.add(new Explanation.Word(text.substring(at, until), at, until, weight, weight * share));
        }
        from = begin;
        to = begin;
        weight = 0;
      }
      if (i < last) {
        to = Math.max(to, end);
        weight += weights[i];
      }
    }
    return found;
  }
}
