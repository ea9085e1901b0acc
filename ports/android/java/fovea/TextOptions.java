package fovea;

/** Options that all calls about texts have. They are read when a call begins, so an object may be used again. */
public abstract class TextOptions<T extends TextOptions<T>> implements Cloneable {
  String program;
  int workers = 1;
  int maxLength;
  boolean wrapped;
  boolean literal;
  Cancel cancel;

  TextOptions() {}

  @SuppressWarnings("unchecked")
  final T self() {
    return (T) this;
  }

  @SuppressWarnings("unchecked")
  final T copy() {
    try {
      return (T) clone();
    } catch (CloneNotSupportedException impossible) {
      throw new AssertionError(impossible);
    }
  }

  /** The program to run; default: the first. */
  public T program(String name) {
    program = name;
    return self();
  }

  /** Threads that share the work of a run, 1 to 64. Results have the same bits for any number. Default: 1. */
  public T workers(int count) {
    workers = checked("workers", count, 1, 64);
    return self();
  }

  /** Texts are truncated to this many tokens, with a warning. Default, 0: to the model's limit. */
  public T maxLength(int tokens) {
    maxLength = checked("maxLength", tokens, 0, Integer.MAX_VALUE);
    return self();
  }

  /** For models of documents: line ends are line wraps, and do not end sentences. */
  public T wrapped(boolean are) {
    wrapped = are;
    return self();
  }

  /** Special tokens that texts spell, such as "&lt;/s&gt;", are text: for texts of strangers. */
  public T literal(boolean are) {
    literal = are;
    return self();
  }

  /** Allows another thread to cancel the call. */
  public T cancel(Cancel by) {
    cancel = by;
    return self();
  }

  static int checked(String name, int value, int least, int most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(name + " is " + value + ": "
          + (most == Integer.MAX_VALUE ? "at least " + least : least + " to " + most) + " is needed");
    }
    return value;
  }

  /** Options that differ from their defaults, for toString. */
  String given() {
    return (program == null ? "" : ", program " + program) + (workers == 1 ? "" : ", workers " + workers)
        + (maxLength == 0 ? "" : ", maxLength " + maxLength) + (wrapped ? ", wrapped" : "")
        + (literal ? ", literal" : "")
        + (cancel == null ? "" : ", cancel");
  }

  @Override
  public String toString() {
    final String given = given();
    return "fovea." + getClass().getSimpleName() + ": " + (given.isEmpty() ? "defaults" : given.substring(2));
  }
}
