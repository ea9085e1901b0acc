package fovea;

/** Options of calls that read any number of texts, in batches. */
public abstract class BatchOptions<T extends BatchOptions<T>> extends TextOptions<T> {
  /** Called after each batch, on the calling thread. */
  public interface Progress {
    /** `total` is -1 if it is not known. */
    void done(long texts, long total);
  }

  int batchSize = 64;
  Progress progress;

  BatchOptions() {}

  /**
   * The most texts of a run, which has at most 4096 tokens unless one text alone has more. Results do not depend on it.
   * 16 batches of texts are read ahead and sorted by length. Default: 64.
   */
  public T batchSize(int texts) {
    batchSize = checked("batchSize", texts, 1, 1 << 20);
    return self();
  }

  public T progress(Progress called) {
    progress = called;
    return self();
  }

  @Override
  String given() {
    return super.given() + (batchSize == 64 ? "" : ", batchSize " + batchSize) + (progress == null ? "" : ", progress");
  }
}
