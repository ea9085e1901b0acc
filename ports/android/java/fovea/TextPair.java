package fovea;

/** Two texts that a model reads together: a question and an answer, a query and a document. */
public final class TextPair {
  public final String first;
  public final String second;

  public TextPair(String first, String second) {
    if (first == null || second == null) throw new NullPointerException("a text of a pair is null");
    this.first = first;
    this.second = second;
  }

  @Override
  public String toString() {
    return "fovea.TextPair: '" + first + "' and '" + second + "'";
  }
}
