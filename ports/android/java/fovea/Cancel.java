package fovea;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CancellationException;

/**
 * Cancels calls from any thread: the calls that have it in their options, now and later, until it is cleared. They
 * throw a {@link CancellationException} within a tile of rows; the model can be used again. An interrupt of the calling
 * thread does the same, between the phases of a run (with several workers: between runs; of a generation: between
 * steps), and leaves the thread interrupted.
 */
public final class Cancel {
  private final Set<Session> running = new HashSet<>();
  private boolean cancelled;

  /** Cancels the calls with this object. */
  public synchronized void cancel() {
    cancelled = true;
    for (Session session : running) session.cancel();
  }

  /** Allows calls again. */
  public synchronized void clear() {
    cancelled = false;
  }

  public synchronized boolean isCancelled() {
    return cancelled;
  }

  synchronized void enter(Session session) {
    check();
    running.add(session);
  }

  synchronized void leave(Session session) {
    running.remove(session);
    session.clearCancel(); // a request that came after the run
  }

  synchronized void check() {
    if (cancelled) throw new CancellationException("the call was cancelled");
  }

  /** Throws if the call with this object (null: none) is to end. */
  static void check(Cancel cancel) {
    if (cancel != null) cancel.check();
    if (Thread.currentThread().isInterrupted()) throw new CancellationException("the thread was interrupted");
  }

  @Override
  public String toString() {
    return "fovea.Cancel" + (isCancelled() ? ", cancelled" : "");
  }
}
