package fovea;

import java.util.Arrays;

/** Embeddings of several texts in one array, row after row. */
public final class Embeddings {
  public final float[] data;
  public final int rows;
  public final int width;

  Embeddings(float[] data, int rows, int width) {
    this.data = data;
    this.rows = rows;
    this.width = width;
  }

  /** A copy of a row. */
  public float[] row(int row) {
    if (row < 0 || row >= rows) throw new IndexOutOfBoundsException("row " + row + " of " + rows);
    return Arrays.copyOfRange(data, row * width, (row + 1) * width);
  }

  @Override
  public String toString() {
    return "fovea.Embeddings: " + rows + " texts, " + width + " numbers each";
  }
}
