package fovea;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.FloatBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/**
 * The native functions (ports/android/jni). Handles are addresses: callers check that they are open, and that one
 * thread at a time uses a session, a generator or a text.
 */
final class Native {
  private static Throwable failure;
  private static boolean loaded;

  private Native() {}

  /** Loads the library once. Every later call repeats the first failure, with its reason. */
  static synchronized void load() {
    if (loaded) return;
    if (failure == null) {
      try {
        final String path = System.getProperty("fovea.library");
        if (path == null) {
          System.loadLibrary("fovea_jni");
        } else {
          System.load(new File(path).getAbsolutePath());
        }
        loaded = true;
        return;
      } catch (LinkageError | SecurityException thrown) {
        failure = thrown;
      }
    }
    final UnsatisfiedLinkError error = new UnsatisfiedLinkError("fovea: libfovea_jni cannot be loaded ("
        + failure.getMessage() + "); its folder must be in java.library.path, or -Dfovea.library=FILE name it; library "
        + "and classes must be of one version");
    error.initCause(failure);
    throw error;
  }

  /** Called by running sessions: a request to stop that is not cleared. */
  static boolean interrupted() {
    return Thread.currentThread().isInterrupted();
  }

  // ---- Texts ----

  static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  static String[] texts(byte[][] names) {
    final String[] found = new String[names.length];
    for (int i = 0; i < names.length; ++i) found[i] = text(names[i]);
    return found;
  }

  /** UTF-8 of a text; half of a surrogate pair is refused, which String.getBytes would replace. */
  static byte[] bytes(CharSequence text, String which) {
    if (text == null) throw new NullPointerException(which + " is null");
    try {
      final ByteBuffer made = StandardCharsets.UTF_8.newEncoder().onMalformedInput(CodingErrorAction.REPORT)
          .onUnmappableCharacter(CodingErrorAction.REPORT).encode(CharBuffer.wrap(text));
      final byte[] bytes = new byte[made.remaining()];
      made.get(bytes);
      return bytes;
    } catch (CharacterCodingException malformed) {
      int at = 0;
      while (at < text.length() && !alone(text, at)) at += Character.isHighSurrogate(text.charAt(at)) ? 2 : 1;
      throw new FoveaException(which + ": the char at " + at + " is half of a surrogate pair: not a Unicode text",
          FoveaException.UTF8);
    }
  }

  private static boolean alone(CharSequence text, int at) {
    if (!Character.isSurrogate(text.charAt(at))) return false;
    return Character.isLowSurrogate(text.charAt(at)) || at + 1 == text.length()
        || !Character.isLowSurrogate(text.charAt(at + 1));
  }

  // ---- Models: jni/model.c ----

  static native byte[][] versions();

  static native long openFile(byte[] path, int backend, boolean skipChecksum) throws IOException;

  static native long openDescriptor(int descriptor, long offset, long size, int backend, boolean skipChecksum)
      throws IOException;

  static native long openBuffer(ByteBuffer direct, long offset, long size, int backend, boolean skipChecksum);

  static native long openBytes(byte[] bytes, int offset, int size, int backend, boolean skipChecksum);

  static native void closeModel(long model);

  static native long[] modelInfo(long model);

  static native byte[][] modelNames(long model, int what, int program);

  static native int[] modelSpaces(long model);

  static native int[] programValues(long model, int program);

  static native int[] programSteps(long model, int program);

  // ---- Text: jni/text.c ----

  static native int[] textInfo(long model);

  static native int[] encode(long model, byte[] text, byte[] second, int flags, int maxLength, boolean document,
      long[] counts);

  static native byte[] decode(long model, int[] ids, int flags);

  static native byte[] piece(long model, int id);

  static native int findPiece(long model, byte[] piece);

  static native long newText(long model, int vocabulary, int[] after, byte[] stops, int[] stopSizes);

  static native void closeText(long text);

  static native byte[] addToken(long text, int token, boolean ended);

  // ---- Sessions: jni/session.c ----

  static native long newSession(long model, int program, int workers, int[] limits, int[] keep, long[] taps,
      int[] linked);

  static native void closeSession(long session);

  static native void bind(long session, int[] ids, int[] types, int[] lengths, int[] documents);

  static native void setSegments(long session, int space, int[] lengths);

  static native void writeInput(long session, int value, int[] rows, int number);

  static native void run(long session);

  static native void cancel(long session);

  static native void clearCancel(long session);

  // ---- Results: jni/result.c ----

  static native int[] outputShape(long session, int value);

  /** `info`: what resultInfo returns. */
  static native void readResult(long session, int[] info, int index, float[] to, int offset);

  static native void readResultTo(long session, int[] info, int index, FloatBuffer to, long offset);

  static native int[] segments(long session, int space);

  /** `output`: ended by 0; null: as the model states. */
  static native int[] resultInfo(long model, int program, byte[] output);

  static native int[] present(int activation, float[] scores, int top);

  static native double similarity(int measure, float[] a, float[] b);

  static native int[] explainingTap(long model, int program, int space);

  static native float[] readWeights(long session, int tap, int space);

  static native int[] words(byte[] text, boolean[] special, int[] ranges, int[] lengths, float[] weights, int[] places,
      float[] found);

  static native int[] mapInfo(long session, int tap);

  static native float[] denseMap(long session, int tap);

  static native float[] sparseMap(long session, int tap, Object[] arrays);

  static native byte[] tapsFile(long session);

  // ---- Answers and prompts: jni/answers.c ----

  static native int[] window(boolean[] special, long[] textTokens, int limit, int stride, int index);

  static native double[] answers(long model, int[] ids, boolean[] special, int[] begins, int[] ends, int[] lengths,
      long[] textTokens, float[] scores, byte[] context, int top, int maxTokens, boolean allowNone);

  /** `name`: ended by 0; null: the default prompt. Returns null if there is no such prompt. */
  static native byte[] prompt(long model, byte[] name);

  // ---- Generation: jni/generate.c ----

  static native int[] generatePrograms(long model);

  static native int[] linked(long model, int program);

  static native long newGenerator(long decode, long encode, int[] numbers, float[] rules, long seed, int[] stopIds,
      int[] prompts, int[] lengths);

  static native void closeGenerator(long generator);

  static native void step(long generator, int[] tokens, float[] logprobs);
}
