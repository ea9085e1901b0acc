package fovea;

import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/** Embeddings of texts, in the forms that Model returns. */
final class Embedder {
  private final Model model;
  private final EmbedOptions options;
  private final Program program;
  private final int[] info; // how embeddings are read
  private final int width;
  private final String prompt;

  Embedder(Model model, EmbedOptions given, boolean compares) {
    this.model = model;
    options = given.copy();
    if (options.measure != null && !compares) {
      throw new IllegalArgumentException("measure is for similarity: embed does not use it");
    }
    model.enter();
    model.leave();
    program = model.program(options.program);
    info = Results.embedding(model, program, options);
    width = info[Results.WIDTH];
    prompt = Results.prompt(model, options.prompt);
  }

  private Batches batches(Iterable<String> texts) {
    return new Batches(model, program, options, prompt, texts);
  }

  private float[][] window(Batches batches, List<Encoding> window) {
    final float[][] found = new float[window.size()][];
    batches.run(window, (session, row, place) -> session.readResult(info, row, found[place] = new float[width], 0));
    return found;
  }

  float[][] rows(Iterable<String> texts) {
    final Batches batches = batches(texts);
    final List<float[]> found = new ArrayList<>();
    for (List<Encoding> window = batches.next(); !window.isEmpty(); window = batches.next()) {
      Collections.addAll(found, window(batches, window));
    }
    return found.toArray(new float[0][]);
  }

  Embeddings flat(Iterable<String> texts) {
    final Batches batches = batches(texts);
    float[] all = new float[0];
    int count = 0;
    for (List<Encoding> window = batches.next(); !window.isEmpty(); window = batches.next()) {
      final long needed = (long) (count + window.size()) * width;
      if (needed > Integer.MAX_VALUE - 8) {
        throw new OutOfMemoryError("fovea: embeddings of all these texts do not fit into one array: use embedIterator");
      }
      if (needed > all.length) {
        final long known = texts instanceof java.util.Collection
            ? (long) ((java.util.Collection<?>) texts).size() * width
            : 2 * needed;
        all = Arrays.copyOf(all, (int) Math.max(needed, Math.min(known, Integer.MAX_VALUE - 8)));
      }
      final float[] to = all;
      final int first = count;
      batches.run(window, (session, row, place) -> session.readResult(info, row, to, (first + place) * width));
      count += window.size();
    }
    return new Embeddings(all.length == count * width ? all : Arrays.copyOf(all, count * width), count, width);
  }

  int into(Iterable<String> texts, FloatBuffer to) {
    if (!to.isDirect() || to.isReadOnly() || to.order() != ByteOrder.nativeOrder()) {
      throw new IllegalArgumentException("a direct buffer of native byte order that is not read-only is needed: "
          + "ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder()).asFloatBuffer()");
    }
    final Batches batches = batches(texts);
    int count = 0;
    for (List<Encoding> window = batches.next(); !window.isEmpty(); window = batches.next()) {
      final int first = to.position();
      if ((long) window.size() * width > to.remaining()) {
        throw new java.nio.BufferOverflowException();
      }
      batches.run(window, (session, row, place) -> session.call(address -> {
        Native.readResultTo(address, info, row, to, 4L * (first + place * width));
        return null;
      }));
      to.position(first + window.size() * width);
      count += window.size();
    }
    return count;
  }

  Iterator<float[]> iterator(Iterable<String> texts) {
    final Batches batches = batches(texts);
    return new Iterator<float[]>() {
      private float[][] read = {};
      private int next;

      @Override
      public boolean hasNext() {
        if (next < read.length) return true;
        final List<Encoding> window = batches.next();
        if (window.isEmpty()) return false;
        read = window(batches, window);
        next = 0;
        return true;
      }

      @Override
      public float[] next() {
        if (!hasNext()) throw new NoSuchElementException();
        final float[] found = read[next];
        read[next++] = null;
        return found;
      }
    };
  }
}
