package fovea;

import java.util.Arrays;

/** The attention map of an operation: a line of weights for each tapped row and head. A copy, so it does not change. */
public final class AttentionMap {
  public final String operation;
  public final int heads;
  private final int stride;
  private final int[] rows; // tapped rows of the query space
  private final int[] queryOffsets;
  private final int[] keyOffsets;
  private final float[] weights;
  private final long[] offsets; // sparse: entries of each line; null: dense
  private final int[] keys;

  AttentionMap(String operation, int[] info, int[] queryOffsets, int[] keyOffsets, float[] weights, Object[] sparse) {
    this.operation = operation;
    heads = info[2];
    stride = info[3];
    rows = Arrays.copyOfRange(info, 7, info.length);
    this.queryOffsets = queryOffsets;
    this.keyOffsets = keyOffsets;
    this.weights = weights;
    offsets = sparse == null ? null : (long[]) sparse[0];
    keys = sparse == null ? null : (int[]) sparse[1];
  }

  /** The number of segments: texts, or sentences of all documents. */
  public int segments() {
    return keyOffsets.length - 1;
  }

  /** Whether queries are rows of the same segments as keys; else each query row has a segment of keys. */
  boolean own() {
    return queryOffsets.length == keyOffsets.length;
  }

  /** Number of the first tapped row at or after a row of the query space. */
  private int place(int row) {
    final int found = Arrays.binarySearch(rows, row);
    return found < 0 ? -found - 1 : found;
  }

  /** Weights of one segment and head, [tapped rows][keys]; 0 where a row does not see a key. */
  public float[][] segment(int segment, int head) {
    if (segment < 0 || segment >= segments() || head < 0 || head >= heads) {
      throw new IndexOutOfBoundsException("segment " + segment + " of " + segments() + ", head " + head + " of "
          + heads);
    }
    final int from = place(own() ? queryOffsets[segment] : segment);
    final int to = place(own() ? queryOffsets[segment + 1] : segment + 1);
    final int first = keyOffsets[segment];
    final int count = keyOffsets[segment + 1] - first;
    final float[][] found = new float[to - from][];
    for (int row = from; row < to; ++row) {
      final int line = row * heads + head;
      if (offsets == null) {
        found[row - from] = Arrays.copyOfRange(weights, line * stride, line * stride + count);
        continue;
      }
      found[row - from] = new float[count];
      for (long entry = offsets[line]; entry < offsets[line + 1]; ++entry) {
        found[row - from][keys[(int) entry] - first] = weights[(int) entry];
      }
    }
    return found;
  }

  @Override
  public String toString() {
    return "fovea.AttentionMap of " + operation + ", " + (offsets == null ? "dense" : "sparse") + ": " + rows.length
        + " query rows, " + heads + " heads, " + segments() + " segments";
  }
}
