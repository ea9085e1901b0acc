package fovea;

/**
 * The address of a native object, with the calls that are using it. It is freed by `close`, or after the last of the
 * calls during which it was closed: closing waits for nothing, may be repeated, and is allowed in callbacks. A call
 * after it throws an IllegalStateException.
 */
abstract class Handle implements AutoCloseable {
  private final String name;
  private long address;
  private int users;
  private boolean closed;
  private Thread owner;

  Handle(String name, long address) {
    this.name = name;
    this.address = address;
  }

  /** Frees the object; called once. */
  abstract void free(long address);

  /** For a call that other threads may make at the same time. Each needs a `leave`. */
  final synchronized long enter() {
    if (closed) throw new IllegalStateException(name + " is closed");
    ++users;
    return address;
  }

  /** For a call that is alone with the object, `enter` aside. It needs a `disown`. */
  final synchronized long own() {
    if (closed) throw new IllegalStateException(name + " is closed");
    if (owner != null) {
      throw new IllegalStateException(name + " is in use by " + (owner == Thread.currentThread()
          ? "this thread: a call within a call of it"
          : "thread '" + owner.getName() + "': only one at a time can use it"));
    }
    ++users;
    owner = Thread.currentThread();
    return address;
  }

  final void disown() {
    synchronized (this) {
      owner = null;
    }
    leave();
  }

  final void leave() {
    final long freed;
    synchronized (this) {
      freed = --users == 0 && closed ? taken() : 0;
    }
    if (freed != 0) free(freed);
  }

  private long taken() {
    final long found = address;
    address = 0;
    return found;
  }

  final synchronized boolean isClosed() {
    return closed;
  }

  @Override
  public final void close() {
    final long freed;
    synchronized (this) {
      closed = true;
      freed = users == 0 ? taken() : 0;
    }
    if (freed != 0) free(freed);
  }
}
