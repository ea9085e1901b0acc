package fovea;

/**
 * Options of Model.answer. `maxLength`: tokens of question and context that are read at once; default: 384, or the
 * model's limit if that is less. A longer context is read in parts.
 */
public final class AnswerOptions extends TextOptions<AnswerOptions> {
  int top = 1;
  int maxTokens = 15;
  int stride = -1;
  boolean allowNone;

  /** The most answers. Default: 1. */
  public AnswerOptions top(int answers) {
    top = checked("top", answers, 1, 1 << 20);
    return this;
  }

  /** The most tokens of an answer. Default: 15. */
  public AnswerOptions maxTokens(int tokens) {
    maxTokens = checked("maxTokens", tokens, 1, Integer.MAX_VALUE);
    return this;
  }

  /** Tokens that neighbouring parts of the context share. Default: 128, or half of maxLength. */
  public AnswerOptions stride(int tokens) {
    stride = checked("stride", tokens, 0, Integer.MAX_VALUE);
    return this;
  }

  /** Whether "no answer", an empty text, is one of the answers. */
  public AnswerOptions allowNone(boolean is) {
    allowNone = is;
    return this;
  }

  @Override
  String given() {
    return super.given() + (top == 1 ? "" : ", top " + top) + (maxTokens == 15 ? "" : ", maxTokens " + maxTokens)
        + (stride < 0 ? "" : ", stride " + stride) + (allowNone ? ", allowNone" : "");
  }
}
