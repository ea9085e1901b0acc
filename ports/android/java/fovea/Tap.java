package fovea;

/** A request to keep the attention map of an operation. */
public final class Tap {
  /** The wanted heads as one. */
  public enum Reduce { NONE, MEAN, MAX }

  final String operation;
  boolean sparse;
  boolean lastRow;
  boolean scores;
  Reduce reduce = Reduce.NONE;
  int[] heads = {};
  boolean firstRow; // only the first row of each segment; for explanations

  /** `operation`: its name, or a name that the model's metadata gives it (alias.NAME). */
  public Tap(String operation) {
    if (operation == null) throw new NullPointerException("operation is null");
    this.operation = operation;
  }

  /** Keeps only the keys that a row sees: memory follows the pattern. */
  public Tap sparse() {
    sparse = true;
    return this;
  }

  /** Only the last row of each segment. */
  public Tap lastRow() {
    lastRow = true;
    return this;
  }

  /** The scores before the softmax instead of the weights. */
  public Tap scores() {
    scores = true;
    return this;
  }

  public Tap reduce(Reduce how) {
    if (how == null) throw new NullPointerException("reduce is null");
    reduce = how;
    return this;
  }

  /** Only these heads. */
  public Tap heads(int... wanted) {
    heads = wanted.clone();
    return this;
  }

  /** The seven numbers of jni/session.c. */
  long[] numbers(Model model, Program program) {
    final int step = model.attention(program, operation);
    final int count = program.operations.get(step).heads;
    long bits = 0;
    for (int head : heads) {
      if (head < 0 || head >= count || head >= 64) {
        throw new FoveaException("tap of '" + operation + "': there is no head " + head + " (it has " + count
            + "; single heads can be chosen up to 63)", FoveaException.OPTION);
      }
      bits |= 1L << head;
    }
    final int rows = lastRow ? 1 : firstRow ? 2 : 0;
    return new long[] {step, sparse ? 1 : 0, rows, reduce.ordinal(), bits, scores ? 1 : 0, firstRow ? 0xffffffffL : 0};
  }

  @Override
  public String toString() {
    return "fovea.Tap of " + operation + (sparse ? ", sparse" : "") + (lastRow ? ", last row" : "")
        + (scores ? ", scores" : "") + (reduce == Reduce.NONE ? "" : ", " + reduce)
        + (heads.length == 0 ? "" : ", " + heads.length + " heads");
  }
}
