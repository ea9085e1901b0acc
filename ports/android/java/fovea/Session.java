package fovea;

import java.util.concurrent.CancellationException;

/** A program of a model with memory for a limited number of rows. One thread at a time uses it; any may cancel. */
final class Session implements AutoCloseable {
  final Model model;
  final Program program;
  final int workers;
  final int[][] limits; // for each space: rows, rows of a segment; null: none
  private final Handle handle;

  Session(Model model, Program program, int workers, int[][] limits, long[] taps, int[] linked) {
    this.model = model;
    this.program = program;
    this.workers = workers;
    this.limits = limits;
    int count = 0;
    for (int[] limit : limits) count += limit == null ? 0 : 1;
    final int[] numbers = new int[3 * count];
    for (int space = 0, at = 0; space < limits.length; ++space) {
      if (limits[space] == null) continue;
      numbers[at++] = space;
      numbers[at++] = limits[space][0];
      numbers[at++] = limits[space][1];
    }
    final long of = model.enter(); // until the session is freed
    long made = 0;
    try {
      made = Native.newSession(of, program.index, workers, numbers, null, taps, linked);
      handle = new Handle("this session", made) {
        @Override
        void free(long address) {
          Native.closeSession(address);
          model.leave();
        }
      };
      made = 0;
    } catch (FoveaException error) {
      model.leave();
      throw error.about(model.name());
    } catch (Error error) {
      if (made != 0) Native.closeSession(made);
      model.leave();
      throw error;
    }
  }

  @Override
  public void close() {
    handle.close();
  }

  boolean fits(int[][] needed) {
    for (int space = 0; space < needed.length; ++space) {
      if (needed[space] == null) continue;
      if (limits[space] == null || needed[space][0] > limits[space][0]) return false;
      final int most = limits[space][1] == 0 ? Integer.MAX_VALUE : limits[space][1];
      if (needed[space][1] == 0 ? limits[space][1] != 0 : needed[space][1] > most) return false;
    }
    return true;
  }

  /** A call of the library with the session's address. */
  interface Call<T> {
    T with(long address);
  }

  <T> T call(Call<T> made) {
    final long address = handle.enter();
    try {
      return made.with(address);
    } catch (FoveaException error) {
      if (!error.isCancelled()) throw error.about(model.name());
      final CancellationException cancelled = new CancellationException(
          Thread.currentThread().isInterrupted() ? "the thread was interrupted" : "the call was cancelled");
      cancelled.initCause(error);
      throw cancelled;
    } finally {
      handle.leave();
    }
  }

  void bind(int[] ids, int[] types, int[] lengths, int[] documents) {
    call(address -> {
      Native.bind(address, ids, types, lengths, documents);
      return null;
    });
  }

  void setSegments(int space, int[] lengths) {
    call(address -> {
      Native.setSegments(address, space, lengths);
      return null;
    });
  }

  void write(int value, int[] rows, int number) {
    call(address -> {
      Native.writeInput(address, value, rows, number);
      return null;
    });
  }

  void run(Cancel cancel) {
    Cancel.check(cancel);
    if (cancel != null) cancel.enter(this);
    try {
      call(address -> {
        Native.run(address);
        return null;
      });
    } finally {
      if (cancel != null) cancel.leave(this);
    }
  }

  /** Any thread. */
  void cancel() {
    final long address;
    try {
      address = handle.enter();
    } catch (IllegalStateException closed) {
      return;
    }
    Native.cancel(address);
    handle.leave();
  }

  void clearCancel() {
    if (handle.isClosed()) return;
    call(address -> {
      Native.clearCancel(address);
      return null;
    });
  }

  /** {type, rows, width} */
  int[] shape(int value) {
    return call(address -> Native.outputShape(address, value));
  }

  /** Result `index` of the last run. `info`: of Results. */
  void readResult(int[] info, int index, float[] to, int offset) {
    call(address -> {
      Native.readResult(address, info, index, to, offset);
      return null;
    });
  }

  int[] segments(int space) {
    return call(address -> Native.segments(address, space));
  }

  AttentionMap map(int tap, String operation) {
    return call(address -> {
      final int[] info = Native.mapInfo(address, tap);
      final int[] queries = Native.segments(address, info[4]);
      final int[] keys = Native.segments(address, info[5]);
      if (info[0] == 0) return new AttentionMap(operation, info, queries, keys, Native.denseMap(address, tap), null);
      final Object[] arrays = new Object[2];
      return new AttentionMap(operation, info, queries, keys, Native.sparseMap(address, tap, arrays), arrays);
    });
  }
}
