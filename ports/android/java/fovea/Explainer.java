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
    if (space < 0) return null;
    final long handle = model.enter();
    final int[] found;
    try {
      found = Native.explainingTap(handle, program.index, space);
    } finally {
      model.leave();
    }
    if (found == null) return null;
    final Tap made = new Tap(program.operations.get(found[0]).name).reduce(Tap.Reduce.MEAN);
    made.firstRow = found[1] != 0;
    return made;
  }

  Explanation explain(String text) {
    final int[] info = Results.classes(model, program);
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
      final List<Prediction> classes = Results.predictions(model, session, info, 0, options.top);
      final float[] weights = session.call(address -> Native.readWeights(address, 0, tokens));
      if (weights == null) {
        throw new FoveaException(model.name() + ": the attention of metadata explain."
            + model.spaces().get(tokens).name + " does not read the tokens", FoveaException.NAME);
      }
      final int count = encoding.sentences == null ? 1 : encoding.sentences.length;
      final float[] shares = ofSentences == null ? null
          : session.call(address -> Native.readWeights(address, 1, sentences));
      final double[] share = new double[count];
      for (int i = 0; i < count; ++i) share[i] = shares == null ? 1.0 / count : shares[i];
      final List<List<Explanation.Word>> words = words(encoding, weights, share);
      final List<Explanation.Sentence> parts = new ArrayList<>();
      final CharSpans spans = new CharSpans(text);
      for (int i = 0; encoding.sentences != null && i < count; ++i) {
        final int from = spans.begin(encoding.sentenceBegins[i]);
        final int to = spans.end(encoding.sentenceEnds[i]);
        parts.add(new Explanation.Sentence(text.substring(from, to), from, to, share[i], words.get(i)));
      }
      final List<Explanation.Word> all = new ArrayList<>();
      for (List<Explanation.Word> part : words) all.addAll(part);
      return new Explanation(text, classes, all, parts);
    }
  }

  /** The words of each sentence, or of a text that is read at once. `shares`: the weight of each sentence. */
  private static List<List<Explanation.Word>> words(Encoding encoding, float[] weights, double[] shares) {
    final int tokens = encoding.size();
    final int[] ranges = new int[2 * tokens];
    for (int i = 0; i < tokens; ++i) {
      ranges[2 * i] = encoding.begins[i];
      ranges[2 * i + 1] = encoding.ends[i];
    }
    final int[] lengths = encoding.sentences == null ? new int[] {tokens} : encoding.sentences;
    final int[] places = new int[2 * tokens];
    final float[] merged = new float[tokens];
    final int[] counts = Native.words(Native.bytes(encoding.text, "text"), encoding.special, ranges, lengths, weights,
        places, merged);
    final List<List<Explanation.Word>> found = new ArrayList<>();
    final CharSpans spans = new CharSpans(encoding.text);
    for (int part = 0, at = 0; part < counts.length; ++part) {
      final List<Explanation.Word> words = new ArrayList<>();
      for (int i = 0; i < counts[part]; ++i, ++at) {
        final int begin = spans.begin(places[2 * at]);
        final int end = spans.end(places[2 * at + 1]);
        words.add(new Explanation.Word(encoding.text.substring(begin, end), begin, end, merged[at],
            merged[at] * shares[part]));
      }
      found.add(words);
    }
    return found;
  }
}
