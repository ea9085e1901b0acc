package fovea;

/** The weight of a token of the vocabulary. */
public final class Weight {
  /** As the vocabulary spells it. */
  public final String token;
  public final int id;
  public final float weight;

  Weight(String token, int id, float weight) {
    this.token = token;
    this.id = id;
    this.weight = weight;
  }

  @Override
  public String toString() {
    return token + " " + Math.round(weight * 1e4) / 1e4;
  }
}
