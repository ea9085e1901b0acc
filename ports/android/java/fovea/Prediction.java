package fovea;

/** A class of a text. */
public final class Prediction {
  public final String label;
  public final int index;
  public final float logit;
  /** NaN for models of a number or of numbers (regression). */
  public final double probability;
  /** The probability, or the number as its publisher presents it, for example a relevance from 0 to 1. */
  public final double score;

  Prediction(String label, int index, float logit, double probability, double score) {
    this.label = label;
    this.index = index;
    this.logit = logit;
    this.probability = probability;
    this.score = score;
  }

  @Override
  public String toString() {
    return label + " " + Math.round(score * 1e4) / 1e4;
  }
}
