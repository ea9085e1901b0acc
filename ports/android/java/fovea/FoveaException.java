package fovea;

/** What the library refuses, in its own words. */
public final class FoveaException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The library's code, see fovea/status.h; {@code status & 0xff} is its class. */
  public final int status;

  FoveaException(String text, int status) {
    super(text);
    this.status = status;
  }
}
