package fovea;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;

/**
 * Any number of texts, in windows of 16 batches: a window is encoded, sorted by length and run in batches, so memory
 * does not grow with the number of texts.
 */
final class Batches {
  private static final int TOKENS = 4096; // in a run, unless one text has more: memory grows with them, speed does not
  private static final int WINDOW = 16;

  /** Reads what a batch wrote for text `row` of it, which is text `place` of the window. */
  interface Reader {
    void read(Session session, int row, int place);
  }

  private final Model model;
  private final Program program;
  private final BatchOptions<?> options;
  private final Encoder encoder;
  private final Iterator<?> items;
  private final long total;
  private long first; // number of the window's first text

  Batches(Model model, Program program, BatchOptions<?> options, String prompt, Iterable<?> items) {
    if (items == null) throw new NullPointerException("texts is null");
    this.model = model;
    this.program = program;
    this.options = options;
    encoder = new Encoder(model, program, options, prompt);
    this.items = items.iterator();
    total = items instanceof java.util.Collection ? ((java.util.Collection<?>) items).size() : -1;
  }

  /** Encodes the next window. Empty: there are no more texts. */
  List<Encoding> next() {
    final List<Encoding> window = new ArrayList<>();
    while (window.size() < WINDOW * options.batchSize && items.hasNext()) {
      Cancel.check(options.cancel);
      window.add(encoder.encode(items.next(), "texts[" + (first + window.size()) + "]"));
    }
    TextWarnings.of(model, window.toArray(new Encoding[0]), first);
    return window;
  }

  /** Runs a window and passes each result. */
  void run(List<Encoding> window, Reader reader) {
    final Integer[] order = new Integer[window.size()];
    for (int i = 0; i < order.length; ++i) order[i] = i;
    // The longest first: the first batch needs the most memory.
    Arrays.sort(order, (a, b) -> Integer.compare(window.get(b).ids.length, window.get(a).ids.length));
    long done = first;
    for (int from = 0, to; from < order.length; from = to) {
      int tokens = window.get(order[from]).ids.length;
      for (to = from + 1; to < order.length && to - from < options.batchSize; ++to) {
        tokens += window.get(order[to]).ids.length;
        if (tokens > TOKENS) break;
      }
      runBatch(window, order, from, to, reader);
      done += to - from;
      if (options.progress != null) options.progress.done(done, total);
    }
    first += window.size();
  }

  private void runBatch(List<Encoding> window, Integer[] order, int from, int to, Reader reader) {
    final List<Encoding> texts = new ArrayList<>();
    for (int i = from; i < to; ++i) texts.add(window.get(order[i]));
    final Session session = model.idle.take(program, options.workers, encoder.limits(texts));
    try {
      encoder.bind(session, texts);
      session.run(options.cancel);
      for (int i = from; i < to; ++i) reader.read(session, i - from, order[i]);
    } finally {
      model.idle.put(session);
    }
  }
}
