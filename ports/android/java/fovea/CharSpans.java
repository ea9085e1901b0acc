package fovea;

/** Positions of bytes of UTF-8 as positions in a String. A part of a character counts as all of it. */
final class CharSpans {
  private final String text;
  private int bytes;
  private int chars;

  CharSpans(String text) {
    this.text = text;
  }

  private static int sizeOf(int codePoint) {
    return codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
  }

  /** Moves to the last character that begins at `at` or before. Positions usually ascend. */
  private int before(int at) {
    if (at < bytes) bytes = chars = 0;
    while (chars < text.length()) {
      final int point = text.codePointAt(chars);
      if (bytes + sizeOf(point) > at) break;
      bytes += sizeOf(point);
      chars += Character.charCount(point);
    }
    return chars;
  }

  int begin(int at) {
    return before(at);
  }

  int end(int at) {
    final int begin = before(at);
    return bytes == at ? begin : begin + Character.charCount(text.codePointAt(begin));
  }
}
