package fovea;

/** Warnings about texts that are not read as they were given. */
final class TextWarnings {
  private TextWarnings() {}

  private static String which(Encoding[] encodings, long first, int at) {
    return encodings.length == 1 && first == 0 ? "a text" : "texts[" + (first + at) + "]";
  }

  /** Warns of truncated texts and of texts that spell special tokens. `first`: the number of the first text. */
  static void of(Model model, Encoding[] encodings, long first) {
    spelled(model, encodings, first);
    int count = 0;
    int at = 0;
    for (int i = encodings.length - 1; i >= 0; --i) {
      if (encodings[i].dropped == 0 && encodings[i].droppedSentences == 0) continue;
      ++count;
      at = i;
    }
    if (count == 0) return;
    final Encoding one = encodings[at];
    model.warn(which(encodings, first, at) + " is longer than the model reads: left out are "
        + (one.droppedSentences == 0 ? "" : one.droppedSentences + " sentences and ") + one.dropped + " of "
        + (one.size() + one.dropped) + " tokens"
        + (count == 1 ? "" : "; " + (count - 1) + " more of " + encodings.length + " texts are truncated"));
  }

  static void spelled(Model model, Encoding[] encodings, long first) {
    int count = 0;
    int at = 0;
    for (int i = encodings.length - 1; i >= 0; --i) {
      if (encodings[i].spelled == 0) continue;
      ++count;
      at = i;
    }
    if (count == 0) return;
    model.warn(which(encodings, first, at) + " spells special tokens, which are read as such"
        + (count == 1 ? "" : "; so do " + (count - 1) + " more of " + encodings.length + " texts")
        + "; the option literal reads them as text");
  }
}
