package fovea;

/** A class of a text. */
public final class Prediction {
  public final String label;
  public final int index;
  public final float logit;
  /** All classes together have 1. */
  public final double probability;

  Prediction(String label, int index, float logit, double probability) {
    this.label = label;
    this.index = index;
    this.logit = logit;
    this.probability = probability;
  }

  @Override
  public String toString() {
    return label + " " + probability;
  }
}
