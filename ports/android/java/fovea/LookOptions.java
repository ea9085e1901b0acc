package fovea;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Options of Model.look. */
public final class LookOptions extends TextOptions<LookOptions> {
  List<Tap> taps = new ArrayList<>();

  /** The attention maps to keep. Default: of all attention operations, every row and head, dense. */
  public LookOptions taps(Tap... wanted) {
    taps = new ArrayList<>(Arrays.asList(wanted));
    if (taps.contains(null)) throw new NullPointerException("a tap is null");
    return this;
  }

  @Override
  String given() {
    return super.given() + (taps.isEmpty() ? "" : ", taps " + taps);
  }
}
