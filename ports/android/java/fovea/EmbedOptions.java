package fovea;

/** Options of Model.embed and what is made of it. */
public final class EmbedOptions extends BatchOptions<EmbedOptions> {
  boolean normalise;
  String prompt;
  String output;
  Measure measure;

  /** How embeddings are compared. More is more similar: distances are negative. */
  public enum Measure { COSINE, DOT, EUCLIDEAN, MANHATTAN }

  /** Scales embeddings to length 1. */
  public EmbedOptions normalise(boolean wanted) {
    normalise = wanted;
    return this;
  }

  /** The name of the model's prompt to put in front of each text; "": none. Default: the model's default prompt. */
  public EmbedOptions prompt(String name) {
    prompt = name;
    return this;
  }

  /** The output to use; if its rows are tokens, their mean. */
  public EmbedOptions output(String name) {
    output = name;
    return this;
  }

  /** For similarity and search only; embed refuses it. Default: the model's, else the cosine. */
  public EmbedOptions measure(Measure chosen) {
    measure = chosen;
    return this;
  }

  @Override
  String given() {
    return super.given() + (normalise ? ", normalise" : "") + (prompt == null ? "" : ", prompt '" + prompt + "'")
        + (output == null ? "" : ", output " + output) + (measure == null ? "" : ", measure " + measure);
  }
}
