package fovea;

/** A span of a context that answers a question. No answer: the text is empty. */
public final class Answer {
  public final String text;
  /** The probability of its start times that of its end; of an answer found in several parts their sum. */
  public final double score;
  /** Its place: context.substring(begin, end). */
  public final int begin;
  public final int end;

  Answer(String text, double score, int begin, int end) {
    this.text = text;
    this.score = score;
    this.begin = begin;
    this.end = end;
  }

  @Override
  public String toString() {
    return (text.isEmpty() ? "(no answer)" : text) + " " + Math.round(score * 1e4) / 1e4;
  }
}
