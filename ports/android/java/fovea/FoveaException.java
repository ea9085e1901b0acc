package fovea;

import static java.nio.charset.StandardCharsets.UTF_8;

/** An error of the library, with its message. */
public final class FoveaException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The library's code, see fovea/status.h; {@code status & 0xff} is its class. */
  public final int status;

  /** Called by native code, whose text may end within a character. */
  FoveaException(byte[] text, int status) {
    super(new String(text, UTF_8));
    this.status = status;
  }
}
