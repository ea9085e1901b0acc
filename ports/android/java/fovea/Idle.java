package fovea;

/**
 * Keeps the session of the last batch, so that the next call of any thread need not make one: at most one at a time.
 */
final class Idle {
  private final Model model;
  private Session kept;
  private boolean closed;

  Idle(Model model) {
    this.model = model;
  }

  private synchronized Session swap(Session session) {
    final Session found = kept;
    if (closed) return session;
    kept = session;
    return found;
  }

  /** A session for these limits, the kept one if it fits. */
  Session take(Program program, int workers, int[][] needed) {
    final Session found = swap(null);
    if (found != null && found.program == program && found.workers == workers) {
      if (found.fits(needed)) return found;
      grow(needed, found.limits);
    }
    if (found != null) found.close(); // before the next is made: one at a time
    return new Session(model, program, workers, needed, null, null);
  }

  /** Raises limits to the limits of the session before, so that sizes that alternate make few sessions. */
  private static void grow(int[][] needed, int[][] known) {
    for (int space = 0; space < needed.length; ++space) {
      if (needed[space] == null || known[space] == null) continue;
      needed[space][0] = Math.max(needed[space][0], known[space][0]);
      final boolean any = needed[space][1] == 0 || known[space][1] == 0;
      needed[space][1] = any ? 0 : Math.max(needed[space][1], known[space][1]);
    }
  }

  void put(Session session) {
    final Session other = swap(session);
    if (other != null) other.close();
  }

  void trim() {
    put(null);
  }

  void close() {
    final Session found;
    synchronized (this) {
      closed = true;
      found = kept;
      kept = null;
    }
    if (found != null) found.close();
  }
}
