package fovea;

import java.util.List;

/** Where a model looked. */
public final class Looked {
  /** The tokens of each text. */
  public final List<Encoding> encodings;
  /** An attention map for each tap, in its order. */
  public final List<AttentionMap> maps;
  /** All maps as the bytes of a safetensors file, which `fovea attend --from` shows as a page. */
  public final byte[] file;

  Looked(List<Encoding> encodings, List<AttentionMap> maps, byte[] file) {
    this.encodings = encodings;
    this.maps = maps;
    this.file = file;
  }

  @Override
  public String toString() {
    return "fovea.Looked: " + encodings.size() + " texts, " + maps.size() + " attention maps";
  }
}
