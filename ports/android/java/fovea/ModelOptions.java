package fovea;

/** How a model is opened. Its structure is always checked. */
public final class ModelOptions {
  /** Who multiplies matrices. */
  public enum Backend {
    /** XNNPACK where it is built in and able, else Highway. */
    DEFAULT,
    /** Weights are used in place from the blob: less memory, slower. */
    HIGHWAY,
    XNNPACK
  }

  Backend backend = Backend.DEFAULT;
  boolean skipChecksum;

  public ModelOptions backend(Backend chosen) {
    if (chosen == null) throw new NullPointerException("backend is null");
    backend = chosen;
    return this;
  }

  /** Does not read the whole blob to verify its checksum: opening a mapped file is then immediate. */
  public ModelOptions skipChecksum(boolean skip) {
    skipChecksum = skip;
    return this;
  }

  @Override
  public String toString() {
    return "fovea.ModelOptions: backend " + backend + (skipChecksum ? ", checksum skipped" : "");
  }
}
