package fovea;

/** A call that failed, with the library's message, its status, and where the fault is (fovea/status.h). */
public final class FoveaException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Classes of statuses, their low 8 bits: how a caller should react. */
  public static final int ARGUMENT = 1, ORDER = 2, BLOB = 3, UNSUPPORTED = 4, MEMORY = 5, LIMIT = 6, INPUT = 7,
      CANCELLED = 8, INTERNAL = 9;

  static final int NAME = 0x301, INDEX = 0x401, OPTION = 0x601, BUILD = 0x304, LENGTH = 0x306, UTF8 = 0x207;

  private final String text;
  private final int status;
  private final String name;
  private final long[] numbers;

  /** Called by the native half: `numbers` are section, step, tensor, index, expected and found. */
  FoveaException(byte[] text, int status, byte[] name, long[] numbers) {
    this(Native.text(text), status, Native.text(name), numbers);
  }

  FoveaException(String text, int status) {
    this(text, status, named(status), new long[] {-1, -1, -1, 0, 0, 0});
  }

  private FoveaException(String text, int status, String name, long[] numbers) {
    super(text + (name.isEmpty() ? "" : " (" + name + ")"));
    this.text = text;
    this.status = status;
    this.name = name;
    this.numbers = numbers;
  }

  private static String named(int status) {
    switch (status) {
      case NAME: return "FOVEA_E_NAME";
      case INDEX: return "FOVEA_E_INDEX";
      case OPTION: return "FOVEA_E_OPTION";
      case BUILD: return "FOVEA_E_BUILD";
      case LENGTH: return "FOVEA_E_LENGTH";
      case UTF8: return "FOVEA_E_UTF8";
      default: return "";
    }
  }

  /** The same fault, with the name of what it is about in front. */
  FoveaException about(String what) {
    final FoveaException made = new FoveaException(what + ": " + text, status, name, numbers);
    made.setStackTrace(getStackTrace());
    return made;
  }

  boolean isCancelled() {
    return statusClass() == CANCELLED;
  }

  /** The status as the library returned it: the class in the low 8 bits, the detail above. */
  public int status() {
    return status;
  }

  /** One of the constants of this class. */
  public int statusClass() {
    return status & 0xff;
  }

  /** For example "FOVEA_E_TOO_SMALL". */
  public String statusName() {
    return name;
  }

  /** The operation of the program, by its position; -1: none. */
  public long step() {
    return numbers[1];
  }

  /** Position of the fault, of a byte or of an entry of an array. */
  public long index() {
    return numbers[3];
  }

  /** The number that is needed. */
  public long expected() {
    return numbers[4];
  }

  /** The number that was given instead. */
  public long found() {
    return numbers[5];
  }
}
