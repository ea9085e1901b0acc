package fovea;

import java.util.ArrayList;
import java.util.List;

/** Answers to a question about a context of any length. */
final class Answerer {
  private static final int LENGTH = 384, STRIDE = 128; // as in the original
  private static final int WINDOWS = 16; // most in a run

  private final Model model;
  private final AnswerOptions options;
  private final Program program;
  private final int[] info;
  private final Encoder encoder;

  Answerer(Model model, AnswerOptions given) {
    this.model = model;
    options = given.copy();
    if (options.wrapped) {
      throw new IllegalArgumentException("wrapped is for models of documents: answer does not use it");
    }
    program = model.program(options.program);
    info = Results.answers(model, program);
    if (options.maxLength == 0) options.maxLength = LENGTH;
    encoder = new Encoder(model, program, options, "");
    if (encoder.readsDocuments()) {
      throw new FoveaException(model.name() + ": reads documents, not a question and a context", FoveaException.NAME);
    }
  }

  /** The context in parts, each with the question. */
  private List<Encoding> windows(Encoding pair) {
    final int limit = encoder.limit();
    final int stride = options.stride < 0 ? Math.min(limit / 2, STRIDE) : options.stride;
    final List<Encoding> found = new ArrayList<>();
    int count = 1;
    while (found.size() < count) {
      final int[] positions;
      try {
        positions = Native.window(pair.special, pair.textTokens, limit, stride, found.size());
      } catch (FoveaException error) {
        if (error.status() != FoveaException.LENGTH) throw error;
        throw new FoveaException("the question leaves no more than the " + stride + " tokens that neighbouring "
            + "parts of the context share of the " + limit + " that are read at once: shorten it, or give a smaller "
            + "stride or a larger maxLength", FoveaException.LENGTH);
      }
      count = positions[1];
      found.add(encoder.filled(new Encoding(pair, positions, 2)));
    }
    return found;
  }

  private void read(List<Encoding> windows, float[] scores, int from) {
    final Session session = model.idle.take(program, options.workers, encoder.limits(windows));
    try {
      encoder.bind(session, windows);
      session.run(options.cancel);
      int rows = 0;
      for (Encoding one : windows) rows += one.ids.length;
      for (int row = 0; row < rows; ++row) session.readResult(info, row, scores, from + 2 * row);
    } finally {
      model.idle.put(session);
    }
  }

  List<Answer> answers(String question, String context) {
    if (question == null || context == null) throw new NullPointerException("question or context is null");
    final Encoding pair = model.tokenizer().encode(question, context,
        Tokenizer.UNLIMITED | (options.literal ? Tokenizer.LITERAL : 0), 0, false, "question and context");
    TextWarnings.spelled(model, new Encoding[] {pair}, 0);
    final List<Encoding> windows = windows(pair);
    int all = 0;
    final int[] lengths = new int[windows.size()];
    for (int i = 0; i < lengths.length; ++i) all += lengths[i] = windows.get(i).ids.length;
    final int[] ids = new int[all];
    final boolean[] special = new boolean[all];
    final int[] begins = new int[all];
    final int[] ends = new int[all];
    final float[] scores = new float[2 * all];
    int at = 0;
    for (int i = 0; i < lengths.length; ++i) {
      final Encoding one = windows.get(i);
      if (i % WINDOWS == 0) read(windows.subList(i, Math.min(i + WINDOWS, lengths.length)), scores, 2 * at);
      System.arraycopy(one.ids, 0, ids, at, lengths[i]);
      System.arraycopy(one.special, 0, special, at, lengths[i]);
      System.arraycopy(one.begins, 0, begins, at, lengths[i]);
      System.arraycopy(one.ends, 0, ends, at, lengths[i]);
      at += lengths[i];
    }
    final double[] found;
    final long handle = model.enter();
    try {
      found = Native.answers(handle, ids, special, begins, ends, lengths, pair.textTokens, scores,
          Native.bytes(context, "context"), options.top, options.maxTokens, options.allowNone);
    } finally {
      model.leave();
    }
    final CharSpans spans = new CharSpans(context);
    final List<Answer> answers = new ArrayList<>();
    for (int i = 0; i < found.length; i += 3) {
      final int begin = found[i + 2] == 0 ? 0 : spans.begin((int) found[i + 1]);
      final int end = found[i + 2] == 0 ? 0 : spans.end((int) found[i + 2]);
      answers.add(new Answer(context.substring(begin, end), found[i], begin, end));
    }
    return answers;
  }
}
