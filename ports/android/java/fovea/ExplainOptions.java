package fovea;

/** Options of Model.explain. */
public final class ExplainOptions extends TextOptions<ExplainOptions> {
  int top = Integer.MAX_VALUE;

  /** Only the most probable classes. Default: all. */
  public ExplainOptions top(int classes) {
    top = checked("top", classes, 1, Integer.MAX_VALUE);
    return this;
  }

  @Override
  String given() {
    return super.given() + (top == Integer.MAX_VALUE ? "" : ", top " + top);
  }
}
