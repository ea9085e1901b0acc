package fovea;

import java.util.function.Predicate;
import java.util.stream.IntStream;

/** Warnings about texts that are not read as they were given. */
final class TextWarnings {
  private TextWarnings() {}

  private static String which(Encoding[] encodings, long first, int at) {
    return encodings.length == 1 && first == 0 ? "a text" : "texts[" + (first + at) + "]";
  }

  /** The numbers of the encodings that hold what `is` asks for. */
  private static int[] found(Encoding[] encodings, Predicate<Encoding> is) {
    return IntStream.range(0, encodings.length).filter(i -> is.test(encodings[i])).toArray();
  }

  /** Warns of truncated texts and of texts that spell special tokens. `first`: the number of the first text. */
  static void of(Model model, Encoding[] encodings, long first) {
    spelled(model, encodings, first);
    final int[] cut = found(encodings, one -> one.dropped != 0 || one.droppedSentences != 0);
    if (cut.length == 0) return;
    final Encoding one = encodings[cut[0]];
    model.warn(which(encodings, first, cut[0]) + " is longer than the model reads: left out are "
        + (one.droppedSentences == 0 ? "" : one.droppedSentences + " sentences and ") + one.dropped + " of "
        + (one.size() + one.dropped) + " tokens" + (cut.length == 1 ? ""
            : "; " + (cut.length - 1) + " more of " + encodings.length + " texts are truncated"));
  }

  static void spelled(Model model, Encoding[] encodings, long first) {
    final int[] spelling = found(encodings, one -> one.spelled != 0);
    if (spelling.length == 0) return;
    model.warn(which(encodings, first, spelling[0]) + " spells special tokens, which are read as such"
        + (spelling.length == 1 ? "" : "; so do " + (spelling.length - 1) + " more of " + encodings.length + " texts")
        + "; the option literal reads them as text");
  }
}
