package fovea;

/** Options of Model.classify. */
public final class ClassifyOptions extends BatchOptions<ClassifyOptions> {
  int top = Integer.MAX_VALUE;

  /** Only the most probable classes; numbers that are no probabilities (regression) are all returned. Default: all. */
  public ClassifyOptions top(int classes) {
    top = checked("top", classes, 1, Integer.MAX_VALUE);
    return this;
  }

  @Override
  String given() {
    return super.given() + (top == Integer.MAX_VALUE ? "" : ", top " + top);
  }
}
