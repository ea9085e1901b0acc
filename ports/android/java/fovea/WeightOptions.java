package fovea;

/** Options of Model.wordWeights. */
public final class WeightOptions extends BatchOptions<WeightOptions> {
  int top = Integer.MAX_VALUE;
  String prompt;

  /** Only the largest weights. Default: all that are not 0. */
  public WeightOptions top(int tokens) {
    top = checked("top", tokens, 1, Integer.MAX_VALUE);
    return this;
  }

  /** The name of the model's prompt to put in front of each text; "": none. Default: the model's default prompt. */
  public WeightOptions prompt(String name) {
    prompt = name;
    return this;
  }

  @Override
  String given() {
    return super.given() + (top == Integer.MAX_VALUE ? "" : ", top " + top)
        + (prompt == null ? "" : ", prompt '" + prompt + "'");
  }
}
