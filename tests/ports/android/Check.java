import java.util.Objects;

/** Assertions of the tests. */
final class Check {
  private Check() {}

  interface Call {
    void run() throws Exception;
  }

  static void holds(boolean holds, String what) {
    if (!holds) throw new AssertionError(what);
  }

  static void equal(Object found, Object expected, String what) {
    if (!Objects.deepEquals(found, expected)) throw new AssertionError(what + ": " + found + ", not " + expected);
  }

  /** The call throws exactly this class, with these words in the message. */
  static void refused(Class<? extends Throwable> kind, String words, Call call) {
    try {
      call.run();
    } catch (Throwable thrown) {
      final boolean right = thrown.getClass() == kind && String.valueOf(thrown.getMessage()).contains(words);
      if (!right) throw new AssertionError("refused otherwise than by " + kind + " '" + words + "'", thrown);
      return;
    }
    throw new AssertionError("not refused: " + words);
  }
}
