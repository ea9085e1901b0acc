package fovea;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A converted model: texts to tokens, to classes, to more text.
 *
 * <pre>{@code
 * try (Model model = Model.open("/path/model.fovea", 2)) {
 *   System.out.println(model.classify("a text editor").get(0).label);
 * }
 * }</pre>
 *
 * Calls on one model are serialised. Close it: the garbage collector does not free its memory. Errors of the library
 * are {@link FoveaException}s; a closed model throws an {@link IllegalStateException}.
 */
public final class Model implements AutoCloseable {
  static {
    System.loadLibrary("fovea_jni");
  }

  private long handle;
  private final Object blob; // native code may read it in place, so it lives as long as the model

  private Model(long handle, Object blob) {
    this.handle = handle;
    this.blob = blob;
  }

  /** Maps a file. {@code threads}: number of threads that runs use, the calling one included. */
  public static Model open(String path, int threads) {
    return new Model(openFile(zeroEnded(path), threads), null);
  }

  /**
   * A model from a blob that fills a buffer. A direct buffer that begins at a multiple of 64 bytes, such as a mapped
   * file, is used in place and must not change; any other buffer is copied.
   */
  public static Model of(ByteBuffer blob, int threads) {
    if (blob.isDirect()) return new Model(openBuffer(blob, threads), blob);
    ByteBuffer direct = ByteBuffer.allocateDirect(blob.capacity());
    ByteBuffer all = blob.duplicate();
    all.clear();
    direct.put(all);
    return new Model(openBuffer(direct, threads), direct);
  }

  /** The value of a metadata key, or null. */
  public synchronized String metadata(String key) {
    byte[] value = metadata(handle(), zeroEnded(key));
    return value == null ? null : new String(value, UTF_8);
  }

  /** Token ids of a text, with special tokens, truncated to the length that the model reads. */
  public synchronized int[] encode(String text) {
    return encode(handle(), text.getBytes(UTF_8));
  }

  /** The text of token ids, without special tokens. */
  public synchronized String decode(int[] ids) {
    return new String(decode(handle(), ids.clone()), UTF_8);
  }

  /** All classes of a text, the most probable first. */
  public synchronized List<Prediction> classify(String text) {
    float[] logits = logits(handle(), text.getBytes(UTF_8));
    double most = Double.NEGATIVE_INFINITY;
    for (float logit : logits) most = Math.max(most, logit);
    double sum = 0;
    for (float logit : logits) sum += Math.exp(logit - most);
    List<Prediction> predictions = new ArrayList<>(logits.length);
    for (int i = 0; i < logits.length; ++i) {
      String name = metadata("label." + i);
      double probability = Math.exp(logits[i] - most) / sum;
      predictions.add(new Prediction(name == null ? "class " + i : name, i, logits[i], probability));
    }
    Collections.sort(predictions, (a, b) -> Double.compare(b.probability, a.probability));
    return predictions;
  }

  /**
   * The continuation of a text, part by part. {@code temperature} 0: greedy. The model stays open, and is not closed,
   * as long as the generation is used.
   */
  public synchronized Generation generate(String text, int maxTokens, float temperature, long seed) {
    return new Generation(startText(handle(), text.getBytes(UTF_8), maxTokens, temperature, seed));
  }

  /** A text that is being generated. */
  public final class Generation implements AutoCloseable {
    private long text;

    private Generation(long text) {
      this.text = text;
    }

    /** The text of the next token, in whole characters and possibly empty; null when the text has ended. */
    public String next() {
      synchronized (Model.this) {
        handle();
        if (text == 0) throw new IllegalStateException("this generation is closed");
        byte[] part = nextPart(text);
        return part == null ? null : new String(part, UTF_8);
      }
    }

    @Override
    public void close() {
      synchronized (Model.this) {
        if (text != 0) closeText(text);
        text = 0;
      }
    }
  }

  /** Generations that are still open can then only be closed. */
  @Override
  public synchronized void close() {
    if (handle != 0) closeModel(handle);
    handle = 0;
  }

  private long handle() {
    if (handle == 0) throw new IllegalStateException("this model is closed");
    return handle;
  }

  private static byte[] zeroEnded(String text) {
    return (text + "\0").getBytes(UTF_8);
  }

  // Native methods, see jni.c. Texts are UTF-8.
  private static native long openFile(byte[] path, int threads);
  private static native long openBuffer(ByteBuffer blob, int threads);
  private static native void closeModel(long model);
  private static native byte[] metadata(long model, byte[] key);
  private static native int[] encode(long model, byte[] text);
  private static native byte[] decode(long model, int[] ids);
  private static native float[] logits(long model, byte[] text);
  private static native long startText(long model, byte[] text, int maxTokens, float temperature, long seed);
  private static native byte[] nextPart(long text);
  private static native void closeText(long text);
}
