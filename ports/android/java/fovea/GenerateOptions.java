package fovea;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Options of Model.generate. They are read when it is called. Defaults: the best token of each step. */
public final class GenerateOptions implements Cloneable {
  int workers = 1;
  int maxTokens;
  float temperature;
  float topP;
  float minP;
  int topK;
  float repetitionPenalty;
  float presencePenalty;
  long seed;
  boolean literal;
  boolean logprobs;
  int[] stopIds;
  String[] stop = {};

  /** Options that are given and have no effect: they are about tokens that are drawn. */
  List<String> idle() {
    final List<String> found = new ArrayList<>();
    if (temperature != 0) return found;
    if (topK != 0) found.add("topK");
    if (topP != 0) found.add("topP");
    if (minP != 0) found.add("minP");
    if (seed != 0) found.add("seed");
    return found;
  }

  GenerateOptions copy() {
    try {
      return (GenerateOptions) clone();
    } catch (CloneNotSupportedException impossible) {
      throw new AssertionError(impossible);
    }
  }

  /** Threads that share the work of a step, 1 to 64. Default: 1. */
  public GenerateOptions workers(int count) {
    workers = TextOptions.checked("workers", count, 1, 64);
    return this;
  }

  /** Special tokens that texts spell, such as "&lt;/s&gt;", are text: for texts of strangers. */
  public GenerateOptions literal(boolean are) {
    literal = are;
    return this;
  }

  /** The most tokens of a text. Default: the model's number, else 512. */
  public GenerateOptions maxTokens(int count) {
    maxTokens = TextOptions.checked("maxTokens", count, 1, Integer.MAX_VALUE);
    return this;
  }

  private static float checked(String name, float value, float most) {
    if (value >= 0 && value <= most) return value;
    throw new IllegalArgumentException(name + " is " + value + ": a number from 0 "
        + (most == Float.MAX_VALUE ? "on" : "to " + most) + " is needed");
  }

  /** 0: the best token. Else scores are divided by it, and a token is drawn. */
  public GenerateOptions temperature(double value) {
    temperature = checked("temperature", (float) value, Float.MAX_VALUE);
    return this;
  }

  /** Only the best tokens. 0: any number. */
  public GenerateOptions topK(int count) {
    topK = TextOptions.checked("topK", count, 0, Integer.MAX_VALUE);
    return this;
  }

  /** Only the fewest likeliest tokens whose probabilities sum up to it. 0 or 1: all. */
  public GenerateOptions topP(double share) {
    topP = checked("topP", (float) share, 1);
    return this;
  }

  /** Only tokens at least this times as likely as the likeliest. 0: all. */
  public GenerateOptions minP(double share) {
    minP = checked("minP", (float) share, 1);
    return this;
  }

  /** Scores of tokens that the text has are divided by it. 1: they are not. */
  public GenerateOptions repetitionPenalty(double factor) {
    repetitionPenalty = checked("repetitionPenalty", (float) factor, Float.MAX_VALUE);
    return this;
  }

  /** Subtracted from the scores of tokens that the text has. */
  public GenerateOptions presencePenalty(double number) {
    if (Double.isNaN(number) || Double.isInfinite(number)) {
      throw new IllegalArgumentException("presencePenalty is " + number);
    }
    presencePenalty = (float) number;
    return this;
  }

  public GenerateOptions seed(long number) {
    seed = number;
    return this;
  }

  /** Also returns the logarithm of each token's probability. */
  public GenerateOptions logprobs(boolean wanted) {
    logprobs = wanted;
    return this;
  }

  /** Tokens that end a text. Default: the model's. */
  public GenerateOptions stopIds(int... ids) {
    stopIds = ids.clone();
    return this;
  }

  /** Strings that end a text, and are not part of it. */
  public GenerateOptions stop(String... strings) {
    for (String string : strings) {
      if (string.isEmpty()) throw new IllegalArgumentException("a stop string is empty");
    }
    stop = strings.clone();
    return this;
  }

  @Override
  public String toString() {
    return "fovea.GenerateOptions: " + (maxTokens == 0 ? "" : "maxTokens " + maxTokens + ", ")
        + (temperature == 0 ? "the best token of each step" : "temperature " + temperature + ", seed " + seed)
        + (topK == 0 ? "" : ", topK " + topK) + (topP == 0 ? "" : ", topP " + topP) + (minP == 0 ? "" : ", minP "
            + minP)
        + (repetitionPenalty == 0 ? "" : ", repetitionPenalty " + repetitionPenalty)
        + (presencePenalty == 0 ? "" : ", presencePenalty " + presencePenalty) + (logprobs ? ", logprobs" : "")
        + (stopIds == null ? "" : ", stopIds " + Arrays.toString(stopIds))
        + (stop.length == 0 ? "" : ", stop " + Arrays.toString(stop)) + (workers == 1 ? "" : ", workers " + workers);
  }
}
